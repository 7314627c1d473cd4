//! Handles the two boundaries of the window: announces them to the sessions, waits for the sessions, and
//! reads the counters.

use std::time::Duration;

use dyno_observe::TargetSnapshot;
use dyno_record::now_rfc3339;

use super::Conductor;
use super::reading::FAR_EDGE;
use super::timing::BEAT;
use super::window::with_overhead;
use crate::collector::{self, IntervalCollector};
use crate::job::DriveOutcome;
use crate::snapshot_status::SnapshotStage;
use crate::watch::RunEvent;
use crate::watcher::Watcher;
use crate::worker_pool::WorkerPool;

/// The usual longest time until all sessions reach a window boundary, s; within it, one snapshot serves all.
const EDGE_SHARP_S: f64 = 0.03;
/// The same for counters that show work at once. Sessions' own shares are requested there too, and a snapshot
/// without them cannot separate others' work from the run's.
const EDGE_LIVE_COUNTERS_S: f64 = 0.1;
/// How long a run that ends early waits for its sessions at the window's end, s.
const EDGE_BROKEN_S: f64 = 0.5;
/// How often it checks while it waits for something that takes less than a millisecond.
const LOOK: Duration = Duration::from_micros(200);
/// The longest wait for a wait-event sample in progress when the window ends.
const SAMPLE_MAX: Duration = Duration::from_millis(200);

impl Conductor<'_> {
    /// Begins the window at one moment for all sessions: at `due_ns`, or as soon as it can be announced.
    pub(super) fn begin_window(
        &mut self,
        pool: &mut dyn WorkerPool,
        due_ns: u64,
    ) -> Result<(), DriveOutcome> {
        let origin_ns = due_ns.max(self.now_ns() + pool.lead_time_ns());
        self.measured.origin_ns = Some(origin_ns);
        let late_ns = pool.open_window(origin_ns, self.planned_end_ns(origin_ns));
        self.stalls.delayed(late_ns);
        while self.now_ns() < origin_ns {
            self.check_run(pool)?;
            std::thread::park_timeout(LOOK);
        }
        let all_publish = self.job.targets.iter().all(|context| context.identity.counting.at_edges);
        let patience_s = if all_publish { EDGE_SHARP_S } else { EDGE_LIVE_COUNTERS_S };
        self.wait_for_boundary(pool, 0, patience_s);
        self.stalls.begin(self.now_ns());
        self.opening = !self.all_at_boundary(pool, 0);
        self.blind = self.opening;
        // Counters that show work at once are read now, even while sessions are in an operation.
        let (job, opening) = (self.job, self.opening);
        let now = |at: usize| (!opening || !job.targets[at].identity.counting.at_edges).then_some(0);
        let snapshots = self.all_snapshots(pool, &now, FAR_EDGE)?;
        self.previous = (with_overhead(pool, snapshots.clone()), self.counted_until(pool, 0, origin_ns));
        self.measured.begin_at = snapshots.first().map_or_else(now_rfc3339, |taken| taken.at.clone());
        for (target, taken) in self.measured.targets.iter_mut().zip(snapshots) {
            target.watchdog.begin(&taken);
            target.begin = Some(taken);
        }
        self.measured.processors.begin(self.job, &pool.local_clients());
        self.watchers.iter().for_each(Watcher::resume_sampler);
        if !self.opening {
            pool.enter_window();
        }
        self.watch.event(&RunEvent::Window { at_ns: origin_ns, late_ns });
        Ok(())
    }

    /// Reads the counters again that show work only after sessions publish it, once all sessions have done
    /// so.
    pub(super) fn reread_begin_counters(&mut self, pool: &mut dyn WorkerPool) -> Result<(), DriveOutcome> {
        if !self.opening || !self.all_at_boundary(pool, 0) {
            return Ok(());
        }
        let statuses = self.snapshot_statuses();
        let due: Vec<usize> =
            (0..statuses.len()).filter(|&at| statuses[at].stage(0) == SnapshotStage::Before).collect();
        // A sampler's transaction that ends now might be counted before it is known.
        self.watchers.iter().for_each(|watcher| watcher.pause_sampler(SAMPLE_MAX));
        let patience = self.remote_patience();
        let snapshots = self.all_snapshots(pool, &|at| due.contains(&at).then_some(0), patience);
        self.watchers.iter().for_each(Watcher::resume_sampler);
        let new_snapshots = match snapshots {
            // The run measures outages and a database is lost: it is read when it is back.
            Err(DriveOutcome::Failed(_)) if self.job.reconnects() => return Ok(()),
            taken => taken?,
        };
        for at in due {
            self.measured.targets[at].watchdog.check(&new_snapshots[at]);
            if let Some(begin) = &mut self.measured.targets[at].begin {
                // The machine's counters and the time stay those of the window's begin.
                begin.database = new_snapshots[at].database.clone();
                self.previous.0[at].database = new_snapshots[at].database.clone();
                self.measured.targets[at].begin_counts_ns = Some(new_snapshots[at].at_ns());
            }
        }
        self.opening = false;
        pool.enter_window();
        Ok(())
    }

    /// Whether all remaining sessions have reached a window boundary.
    fn all_at_boundary(&self, pool: &dyn WorkerPool, edge: usize) -> bool {
        pool.at_boundary(edge) + pool.ended() >= pool.size().sessions
    }

    /// Until when, on average, the counters of a boundary that is due at `edge_ns` include the sessions'
    /// work: sessions work on until the counters are read.
    fn counted_until(&self, pool: &dyn WorkerPool, edge: usize, edge_ns: u64) -> u64 {
        let all_publish = self.job.targets.iter().all(|context| context.identity.counting.at_edges);
        let answered_ns =
            self.snapshot_statuses().iter().map(|looks| looks.answered_ns(edge)).max().unwrap_or(0);
        let until_ns = if all_publish { answered_ns.min(pool.mean_visible_ns()) } else { answered_ns };
        until_ns.max(edge_ns)
    }

    /// Waits for all sessions to reach a boundary: a limited time, plus the time to announce it.
    fn wait_for_boundary(&mut self, pool: &mut dyn WorkerPool, edge: usize, patience_s: f64) {
        let until_s = self.now_s() + patience_s + pool.lead_time_ns() as f64 / 1e9;
        // Sessions need microseconds: check often at first, without reading their reports.
        while !self.all_at_boundary(pool, edge) && self.now_s() < until_s {
            std::thread::park_timeout(LOOK);
            pool.listen(Duration::ZERO);
        }
        self.beat();
    }

    /// Ends the window. Waits for sessions in an operation, as long as the plan's drain allows.
    pub(super) fn end_window(
        &mut self,
        pool: &mut dyn WorkerPool,
        collector: &mut IntervalCollector,
        in_time: bool,
    ) {
        self.watchers.iter().for_each(|watcher| watcher.pause_sampler(SAMPLE_MAX));
        let end_ns = pool.close_window();
        self.watch.event(&RunEvent::Closing { at_ns: end_ns });
        let patience_s =
            if in_time { self.job.plan.run.drain.0.as_secs_f64().max(EDGE_BROKEN_S) } else { EDGE_BROKEN_S };
        let until_s = self.now_s() + patience_s;
        self.wait_for_boundary(pool, 1, EDGE_SHARP_S);
        while !self.all_at_boundary(pool, 1)
            && self.now_s() < until_s
            && (!in_time || self.check_run(pool).is_ok())
        {
            pool.listen(BEAT);
            self.beat();
        }
        let snapshots = self.snapshots(Some(pool), &|_| Some(1), Some(FAR_EDGE));
        collector.drain();
        if let Ok(taken) = snapshots.iter().cloned().collect::<Result<Vec<TargetSnapshot>, _>>() {
            let interval_ns = self.job.plan.observe.interval.0.as_nanos() as u64;
            let origin_ns = self.measured.origin_ns.unwrap_or(end_ns);
            // A fraction of a moment beyond a whole interval does not begin another one.
            let intervals = end_ns.saturating_sub(origin_ns) as f64 / interval_ns.max(1) as f64;
            let index = (intervals - collector::SLIVER).ceil().max(1.0) as usize - 1;
            let until_ns = self.counted_until(pool, 1, end_ns);
            self.note_interval(pool, collector, index, taken, until_ns);
        }
        let first = snapshots.first().and_then(|taken| taken.as_ref().ok());
        self.measured.end_at = first.map_or_else(now_rfc3339, |taken| taken.at.clone());
        for (target, taken) in self.measured.targets.iter_mut().zip(snapshots) {
            match taken {
                Ok(taken) => {
                    target.watchdog.end(&taken);
                    target.end = Some(taken);
                }
                Err(reason) => target.no_end = Some(reason),
            }
        }
        self.measured.processors.end(self.job, &pool.local_clients());
        self.profiler.close();
        self.stalls.end();
        self.measured.stalls = self.stalls.stalls();
        if in_time {
            self.watch.window_ended();
        }
    }
}
