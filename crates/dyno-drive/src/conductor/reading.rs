//! Reading the counters of all targets, for bounded times.

use std::time::Duration;

use dyno_record::Counters;

use super::Conductor;
use super::beat::BEAT;
use crate::crew::Crew;
use crate::job::Outcome;
use crate::metrics;
use crate::observe::{Asked, Taken};

/// The longest wait for a snapshot. Reading takes milliseconds of processor time, but where sessions keep more server
/// processes busy than there are processors, the one that reads has been seen to stand in the run queue for seconds
/// without running once (Linux 6.18, load 70 on 2 processors), while sessions, which sleep often, went on.
const SNAPSHOT_S_MAX: f64 = 30.0;
/// The same once the user has asked to stop.
const SNAPSHOT_STOPPED_S_MAX: f64 = 2.0;
/// How long machines elsewhere may take to answer at an edge of the window, where nothing else waits for them.
pub(super) const FAR_EDGE: Duration = Duration::from_secs(5);
/// The same inside it: a part of the interval, and never longer than this.
const FAR_SHARE: u32 = 4;
const FAR_MAX: Duration = Duration::from_secs(2);
/// How long counters may take to settle after the last session has gone, and the pause between two looks.
const SETTLE_S: (f64, f64) = (5.0, 0.1);
/// Looks one after the other in which nothing moved, after which the counters stand still.
const STILL: u32 = 3;

impl Conductor<'_> {
    /// Reads all counters of all targets, or fails with the first that cannot be read. `edge_of` each target, whose snapshot
    /// it is; machines elsewhere, which have `far` to answer, fail nothing.
    pub(super) fn all_snapshots(
        &mut self,
        crew: &mut dyn Crew,
        edge_of: &dyn Fn(usize) -> Option<usize>,
        far: Duration,
    ) -> Result<Vec<Taken>, Outcome> {
        let cancel = &self.job.cancel;
        let outcome =
            |reason| if cancel.is_cancelled() { Outcome::Interrupted } else { Outcome::Failed(reason) };
        self.snapshots(Some(crew), edge_of, Some(far)).into_iter().collect::<Result<_, _>>().map_err(outcome)
    }

    /// Reads the counters of all targets inside the window. Nothing where a database is lost whose outage is measured.
    pub(super) fn inner_snapshots(&mut self, crew: &mut dyn Crew) -> Result<Option<Vec<Taken>>, Outcome> {
        let far = self.far_patience();
        let snapshots = match self.job.reconnects() {
            true => self.snapshots(Some(crew), &|_| None, Some(far)),
            false => self.all_snapshots(crew, &|_| None, far)?.into_iter().map(Ok).collect(),
        };
        let origin_ns = self.measured.origin_ns.unwrap_or_default();
        let at_s = self.now_ns().saturating_sub(origin_ns) as f64 / 1e9;
        for (target, taken) in self.measured.targets.iter_mut().zip(&snapshots) {
            match taken {
                Ok(taken) => target.vigil.see(taken),
                Err(reason) => target.note_unread(at_s, reason),
            }
        }
        Ok(snapshots.into_iter().collect::<Result<_, _>>().ok())
    }

    /// Reads the counters of all targets at the same time, or says why that cannot be. Never waits longer than
    /// [`SNAPSHOT_S_MAX`].
    pub(super) fn snapshots(
        &mut self,
        mut crew: Option<&mut dyn Crew>,
        edge_of: &dyn Fn(usize) -> Option<usize>,
        far: Option<Duration>,
    ) -> Vec<Result<Taken, String>> {
        if let Some(crew) = crew.as_deref_mut() {
            tell_looking(crew, self.watchers.len(), edge_of);
        }
        let asked = |at| Asked { edge: edge_of(at), far, number: 0 };
        self.watchers.iter_mut().enumerate().for_each(|(at, watcher)| watcher.request(asked(at)));
        let is_inside = crew.is_some() && (0..self.watchers.len()).all(|at| edge_of(at).is_none());
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
                    break Err(self.watchers[at].lose(&format!(
                        "the database did not answer the observer within {within} s: its server process waits for a processor or \
                         for a lock"
                    )));
                }
                if let Some(crew) = crew.as_deref_mut() {
                    crew.listen(Duration::ZERO);
                }
            };
            if let (Some(edge), Some(crew)) = (edge_of(at), crew.as_deref_mut()) {
                // One that is lost is as good as answered: nobody reads any more.
                let answered_ns = match &answer {
                    Ok(_) => self.watchers[at].looks().answered_ns(edge),
                    Err(_) => self.now_ns(),
                };
                crew.looked(edge, at, answered_ns);
            }
            all.push(answer);
        }
        all
    }

    /// How long machines elsewhere may take to answer at the end of an interval.
    pub(super) fn far_patience(&self) -> Duration {
        (self.job.plan.observe.interval.0 / FAR_SHARE).min(FAR_MAX)
    }

    /// Notes that time has passed as it should, or how long it did not.
    pub(super) fn beat(&mut self) {
        if self.stalls.is_measuring() {
            self.stalls.look(self.now_ns(), BEAT.as_nanos() as u64);
        }
    }

    /// Reads the counters until they stand still, and hold what is `owed` of each target: servers book what a session did a moment
    /// after it has gone. Nothing of a target that cannot be read.
    pub(super) fn settle(&mut self, owed: &dyn Fn(usize, &Taken) -> bool) -> Vec<Option<Taken>> {
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
            let still = |(last, next): (&Result<Taken, String>, &Result<Taken, String>)| match (last, next) {
                (Ok(last), Ok(next)) => {
                    metrics::stands_still(&Counters::between(&last.database, &next.database))
                }
                _ => true,
            };
            // A process that waits for a processor while it ends has booked nothing between two looks, and will yet.
            still_for = if last.iter().zip(&next).all(still) { still_for + 1 } else { 0 };
            let lacks =
                |(at, next): (usize, &Result<Taken, String>)| next.as_ref().is_ok_and(|next| owed(at, next));
            let is_settled = still_for >= STILL && !next.iter().enumerate().any(lacks);
            if is_settled || self.now_s() >= until_s {
                return next.into_iter().map(Result::ok).collect();
            }
            last = next;
        }
    }
}

/// Tells the crew of which targets' counters at an edge are read next.
fn tell_looking(crew: &mut dyn Crew, targets: usize, edge_of: &dyn Fn(usize) -> Option<usize>) {
    for edge in [0, 1] {
        let those: Vec<usize> = (0..targets).filter(|&at| edge_of(at) == Some(edge)).collect();
        if !those.is_empty() {
            crew.looking(edge, &those);
        }
    }
}
