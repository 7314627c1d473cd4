//! Reads the counters of all targets within time limits.

use std::time::Duration;

use dyno_observe::TargetSnapshot;
use dyno_observe::metrics;
use dyno_record::Counters;

use super::Conductor;
use super::timing::BEAT;
use crate::job::DriveOutcome;
use crate::observe::SnapshotRequest;
use crate::worker_pool::WorkerPool;

/// The longest wait for a snapshot. Reading takes milliseconds of processor time. Where sessions keep more
/// server processes busy than there are processors, the observer's process can wait in the run queue for
/// seconds. This was seen on Linux 6.18 with load 70 on 2 processors; sessions, which sleep often, ran
/// meanwhile.
const SNAPSHOT_S_MAX: f64 = 30.0;
/// The longest wait after the user asked to stop.
const SNAPSHOT_STOPPED_S_MAX: f64 = 2.0;
/// How long other machines may take to answer at a window boundary, where nothing else waits for them.
pub(super) const FAR_EDGE: Duration = Duration::from_secs(5);
/// Inside the window: one part in this many of the interval, and never longer than the limit below.
const FAR_SHARE: u32 = 4;
const FAR_MAX: Duration = Duration::from_secs(2);
/// How long counters may take to settle after the last session has closed, and the pause between two
/// readings, s.
const SETTLE_S: (f64, f64) = (5.0, 0.1);
/// Consecutive readings without a change after which the counters are settled.
const STILL: u32 = 3;

impl Conductor<'_> {
    /// Reads all counters of all targets, or fails with the first that cannot be read. `edge_of` gives the
    /// boundary whose snapshot each target takes. Other machines have `patience` to answer; they never cause
    /// a failure.
    pub(super) fn all_snapshots(
        &mut self,
        pool: &mut dyn WorkerPool,
        edge_of: &dyn Fn(usize) -> Option<usize>,
        patience: Duration,
    ) -> Result<Vec<TargetSnapshot>, DriveOutcome> {
        let cancel = &self.job.cancel;
        let outcome = |reason| {
            if cancel.is_cancelled() { DriveOutcome::Interrupted } else { DriveOutcome::Failed(reason) }
        };
        self.snapshots(Some(pool), edge_of, Some(patience))
            .into_iter()
            .collect::<Result<_, _>>()
            .map_err(outcome)
    }

    /// Reads the counters of all targets inside the window. `None` while a database is lost and the run
    /// measures outages.
    pub(super) fn inner_snapshots(
        &mut self,
        pool: &mut dyn WorkerPool,
    ) -> Result<Option<Vec<TargetSnapshot>>, DriveOutcome> {
        let patience = self.remote_patience();
        let snapshots = match self.job.reconnects() {
            true => self.snapshots(Some(pool), &|_| None, Some(patience)),
            false => self.all_snapshots(pool, &|_| None, patience)?.into_iter().map(Ok).collect(),
        };
        let origin_ns = self.measured.origin_ns.unwrap_or_default();
        let at_s = self.now_ns().saturating_sub(origin_ns) as f64 / 1e9;
        for (target, taken) in self.measured.targets.iter_mut().zip(&snapshots) {
            match taken {
                Ok(taken) => target.watchdog.check(taken),
                Err(reason) => target.note_unread(at_s, reason),
            }
        }
        Ok(snapshots.into_iter().collect::<Result<_, _>>().ok())
    }

    /// Reads the counters of all targets in parallel, or returns the reason why not. Never waits longer than
    /// [`SNAPSHOT_S_MAX`].
    pub(super) fn snapshots(
        &mut self,
        mut pool: Option<&mut dyn WorkerPool>,
        edge_of: &dyn Fn(usize) -> Option<usize>,
        patience: Option<Duration>,
    ) -> Vec<Result<TargetSnapshot, String>> {
        if let Some(active_pool) = pool.as_deref_mut() {
            announce_snapshots(active_pool, self.watchers.len(), edge_of);
        }
        let request_for = |at| SnapshotRequest { edge: edge_of(at), remote_patience: patience, number: 0 };
        self.watchers.iter_mut().enumerate().for_each(|(at, watcher)| watcher.request(request_for(at)));
        let is_inside = pool.is_some() && (0..self.watchers.len()).all(|at| edge_of(at).is_none());
        // An interval without counters is better than a window that ends too late.
        let patience_s = match is_inside && self.job.reconnects() {
            true => self.job.plan.observe.interval.0.as_secs_f64().min(SNAPSHOT_S_MAX),
            false => SNAPSHOT_S_MAX,
        };
        let mut until_s = self.now_s() + patience_s;
        let mut all = Vec::with_capacity(self.watchers.len());
        for at in 0..self.watchers.len() {
            let answer = loop {
                let answer = self.watchers[at].answer(BEAT);
                self.beat();
                if let Some(answer) = answer {
                    break answer;
                }
                let stopped = self.job.cancel.is_cancelled();
                if stopped {
                    until_s = until_s.min(self.now_s() + SNAPSHOT_STOPPED_S_MAX);
                }
                if self.now_s() >= until_s {
                    let within = if stopped { SNAPSHOT_STOPPED_S_MAX } else { patience_s };
                    break Err(self.watchers[at].mark_lost(&format!(
                        "the database did not answer the observer within {within} s: its server process waits for a processor or \
                         for a lock"
                    )));
                }
                if let Some(present_pool) = pool.as_deref_mut() {
                    present_pool.listen(Duration::ZERO);
                }
            };
            if let (Some(edge), Some(looked_pool)) = (edge_of(at), pool.as_deref_mut()) {
                // A lost observer counts as answered, because it reads nothing any more.
                let answered_ns = match &answer {
                    Ok(_) => self.watchers[at].snapshot_status().answered_ns(edge),
                    Err(_) => self.now_ns(),
                };
                looked_pool.snapshot_taken(edge, at, answered_ns);
            }
            all.push(answer);
        }
        all
    }

    /// How long other machines may take to answer at the end of an interval.
    pub(super) fn remote_patience(&self) -> Duration {
        (self.job.plan.observe.interval.0 / FAR_SHARE).min(FAR_MAX)
    }

    /// Checks that time passed without a stall, and records the stall otherwise.
    pub(super) fn beat(&mut self) {
        if self.stalls.is_measuring() {
            self.stalls.look(self.now_ns(), BEAT.as_nanos() as u64);
        }
    }

    /// Reads the counters until they are settled, and until `owed` is false for every target: servers count a
    /// session's work a moment after it closes. `None` for a target that cannot be read.
    pub(super) fn read_until_settled(
        &mut self,
        owed: &dyn Fn(usize, &TargetSnapshot) -> bool,
    ) -> Vec<Option<TargetSnapshot>> {
        let until_s = self.now_s() + SETTLE_S.0;
        let mut last = self.snapshots(None, &|_| None, None);
        let mut still_for = 0;
        loop {
            if last.iter().all(Result::is_err) {
                return last.iter().map(|_| None).collect();
            }
            let pause_until_s = self.now_s() + SETTLE_S.1;
            while self.now_s() < pause_until_s {
                std::thread::park_timeout(Duration::from_secs_f64(SETTLE_S.1));
            }
            let next = self.snapshots(None, &|_| None, None);
            let still =
                |(last, next): (&Result<TargetSnapshot, String>, &Result<TargetSnapshot, String>)| match (
                    last, next,
                ) {
                    (Ok(last), Ok(next)) => {
                        metrics::is_unchanged(&Counters::between(&last.database, &next.database))
                    }
                    _ => true,
                };
            // A server process that waits for a processor while it ends counts nothing between two readings,
            // but will later.
            still_for = if last.iter().zip(&next).all(still) { still_for + 1 } else { 0 };
            let lacks = |(at, next): (usize, &Result<TargetSnapshot, String>)| {
                next.as_ref().is_ok_and(|next| owed(at, next))
            };
            let is_settled = still_for >= STILL && !next.iter().enumerate().any(lacks);
            if is_settled || self.now_s() >= until_s {
                return next.into_iter().map(Result::ok).collect();
            }
            last = next;
        }
    }
}

/// Announces to the pool which targets' counters are read next at a boundary.
fn announce_snapshots(pool: &mut dyn WorkerPool, targets: usize, edge_of: &dyn Fn(usize) -> Option<usize>) {
    for edge in [0, 1] {
        let those: Vec<usize> = (0..targets).filter(|&at| edge_of(at) == Some(edge)).collect();
        if !those.is_empty() {
            pool.announce_snapshot(edge, &those);
        }
    }
}
