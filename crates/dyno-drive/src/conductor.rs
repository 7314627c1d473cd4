//! Controls the phases of a run: connect all, gate, warm-up, begin snapshot, window, end snapshot, stop,
//! drain.
//!
//! The conductor runs on the caller's thread. It waits only for bounded times, so a hanging server, a lost
//! observer or Ctrl-C still leads to a record of what was measured.

mod ends;
mod reading;
mod timing;
mod window;

use std::sync::Arc;
use std::time::{Duration, Instant};

use dyno_observe::TargetSnapshot;
use dyno_observe::WaitCounts;

use crate::ack_comparison;
use crate::assemble;
use crate::collector::IntervalCollector;
use crate::hang_reasons;
use crate::job::{DriveJob, DriveOutcome};
use crate::leftover;
use crate::measured::{Finished, MeasuredTarget, RunMeasurement};
use crate::profiler::Profiler;
use crate::snapshot_status::SnapshotStatus;
use crate::stalls::StallMeter;
use crate::watch::{RunEvent, RunListener};
use crate::watcher::Watcher;
use crate::worker_pool::WorkerPool;
pub(crate) use timing::ANNOUNCED_NS;
use timing::BEAT;

/// The gate opens this long after the last session is ready: time to assign sessions to threads, and to sleep
/// until then.
const GATE_LEAD_NS: u64 = 60_000_000;

/// The longest wait for sessions that have not started yet.
const UNSTARTED_MAX: Duration = Duration::from_millis(500);

/// Controls the phases of one run.
pub(crate) struct Conductor<'a> {
    job: &'a DriveJob<'a>,
    watch: &'a dyn RunListener,
    /// One watcher for each target, in target order.
    watchers: Vec<Watcher>,
    profiler: Profiler,
    measured: RunMeasurement,
    /// Whether all sessions had connected.
    connected: bool,
    /// Stalls of this program inside the window.
    stalls: StallMeter,
    /// Whether sessions still have to reach the window's begin.
    opening: bool,
    /// Whether counters of the last interval may include work from before the window.
    blind: bool,
    /// Whether counters could not be read at the end of the last interval.
    skipped: bool,
    /// Counters at the end of the last interval of the series, and the time of their reading.
    previous: (Vec<TargetSnapshot>, u64),
    /// The samplers' counts at that time.
    sampled: Vec<WaitCounts>,
    started: Instant,
}

impl<'a> Conductor<'a> {
    pub(crate) fn new(job: &'a DriveJob<'a>, watch: &'a dyn RunListener, watchers: Vec<Watcher>) -> Self {
        let targets = watchers.iter().map(|_| MeasuredTarget::default()).collect();
        Self {
            job,
            watch,
            watchers,
            profiler: Profiler::start(job),
            measured: RunMeasurement { targets, ..RunMeasurement::default() },
            connected: false,
            stalls: StallMeter::default(),
            opening: false,
            blind: false,
            skipped: false,
            previous: (Vec::new(), 0),
            sampled: Vec::new(),
            started: Instant::now(),
        }
    }

    /// The state of the boundary snapshots, target by target.
    pub(crate) fn snapshot_statuses(&self) -> Vec<Arc<SnapshotStatus>> {
        self.watchers.iter().map(|watcher| Arc::clone(watcher.snapshot_status())).collect()
    }

    /// Reads the counters before the first session connects.
    pub(crate) fn begin(&mut self) {
        // The database counts connections that looked at the target a moment after they close.
        let settled = self.read_until_settled(&|_, _| false);
        for (target, taken) in self.measured.targets.iter_mut().zip(settled) {
            taken.iter().for_each(|taken| target.watchdog.check(taken));
            target.whole_begin = taken;
        }
    }

    fn now_ns(&self) -> u64 {
        self.job.clock.now_ns()
    }

    /// Real seconds, for time limits: a scripted clock has its own time, a hanging server does not.
    fn now_s(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Controls the sessions from connecting to the end of the window.
    pub(crate) fn conduct(
        &mut self,
        pool: &mut dyn WorkerPool,
        collector: &mut IntervalCollector,
        connect_began_ns: u64,
    ) -> DriveOutcome {
        match self.conduct_to_end(pool, collector, connect_began_ns) {
            Ok(()) => DriveOutcome::Done,
            Err(outcome) => outcome,
        }
    }

    fn conduct_to_end(
        &mut self,
        pool: &mut dyn WorkerPool,
        collector: &mut IntervalCollector,
        connect_began_ns: u64,
    ) -> Result<(), DriveOutcome> {
        self.connect(pool)?;
        let connected_ns = self.now_ns();
        self.connected = true;
        self.watch.connected().map_err(|reason| match self.job.cancel.is_cancelled() {
            true => DriveOutcome::Interrupted,
            false => DriveOutcome::Failed(reason),
        })?;
        // A session may have lost its connection while the listener was working.
        self.check_run(pool)?;
        pool.prepare_gate();
        let lead_ns = GATE_LEAD_NS + pool.lead_time_ns();
        let opens_ns = self.now_ns() + lead_ns;
        let warmup = self.job.plan.run.warmup.0;
        let warm_ns = opens_ns + warmup.as_nanos() as u64;
        self.profiler.open(self.now_ns(), warm_ns);
        pool.open_gate(opens_ns);
        self.measured.gate_opened_ns = Some(opens_ns);
        self.measured.connect_s = (connected_ns + lead_ns - connect_began_ns) as f64 / 1e9;
        self.watch.event(&RunEvent::Warmup { seconds: warmup.as_secs_f64() });
        let announce_ns = warm_ns.saturating_sub(pool.lead_time_ns());
        while self.now_ns() < announce_ns {
            self.check_run(pool)?;
            self.profiler.open(self.now_ns(), warm_ns);
            pool.listen(BEAT.min(Duration::from_nanos(announce_ns.saturating_sub(self.now_ns()))));
        }
        self.watch.window_begins();
        self.check_run(pool)?;
        self.begin_window(pool, warm_ns)?;
        let outcome = self.window(pool, collector);
        self.end_window(pool, collector, outcome.is_ok());
        outcome
    }

    /// Fails if a session failed or the user asked to stop.
    fn check_run(&self, pool: &dyn WorkerPool) -> Result<(), DriveOutcome> {
        if let Some(reason) = pool.failure() {
            return Err(DriveOutcome::Failed(reason));
        }
        if self.job.cancel.is_cancelled() {
            return Err(DriveOutcome::Interrupted);
        }
        Ok(())
    }

    fn connect(&mut self, pool: &mut dyn WorkerPool) -> Result<(), DriveOutcome> {
        let mut last_reported = None;
        loop {
            self.check_run(pool)?;
            let (ready, of) = (pool.ready(), pool.size().sessions);
            if last_reported != Some(ready) {
                last_reported = Some(ready);
                self.watch.event(&RunEvent::Connecting { ready, of });
            }
            if ready == of {
                return Ok(());
            }
            pool.listen(BEAT);
        }
    }

    /// Stops the sessions and receives their results; rows that they left stay in the tables.
    pub(crate) fn finish(
        mut self,
        mut crew: Box<dyn WorkerPool>,
        mut collector: IntervalCollector,
        outcome: DriveOutcome,
    ) -> Finished {
        self.watch.event(&RunEvent::Draining);
        let started = self.started;
        let now_s = move || started.elapsed().as_secs_f64();
        // After an earlier request to stop, operations in progress may end; a request to stop now ends that
        // wait.
        let (asked_before, cancel) = (outcome == DriveOutcome::Interrupted, &self.job.cancel);
        let impatient = move || !asked_before && cancel.is_cancelled();
        let drain = self.job.plan.run.drain.0;
        if self.measured.gate_opened_ns.is_some() {
            let job = self.job;
            let stuck = &mut self.measured.stuck;
            let mut ask = |hanging: &[u32]| *stuck = hang_reasons::ask(job, hanging);
            self.measured.broken_off = crew.stop(drain, &now_s, &impatient, &mut ask);
        } else {
            // No operation is in progress; sessions that have not ended at once are still connecting.
            crew.stop(drain.min(UNSTARTED_MAX), &now_s, &impatient, &mut |_| ());
        }
        let outcome = match outcome {
            DriveOutcome::Done if impatient() && !self.measured.broken_off.is_empty() => {
                DriveOutcome::Interrupted
            }
            outcome => outcome,
        };
        let after = if self.connected { self.watch.drained() } else { Ok(()) };
        self.measured.stuck.extend(crew.stuck());
        let size = crew.size();
        (self.measured.sessions, self.measured.threads) = (size.sessions, size.threads);
        self.measured.placement = crew.placement();
        for (watcher, target) in self.watchers.iter_mut().zip(&mut self.measured.targets) {
            target.waits = watcher.finish_sampler(Duration::from_secs(2));
        }
        let late_failure = crew.failure();
        let (results, fleet) = crew.into_results();
        self.measured.fleet = fleet;
        if outcome == DriveOutcome::Done {
            let (job, targets) = (self.job, std::mem::take(&mut self.measured.targets));
            let settled = self.read_until_settled(&|at, end| {
                let begin = targets[at].whole_begin.as_ref();
                begin.is_some_and(|begin| {
                    ack_comparison::lacks_acknowledged_transactions(job, at, &results, begin, end)
                })
            });
            self.measured.targets = targets;
            for (target, taken) in self.measured.targets.iter_mut().zip(settled) {
                taken.iter().for_each(|taken| target.watchdog.check(taken));
                target.whole_end = taken;
            }
        }
        let outcome = match (outcome, late_failure) {
            (DriveOutcome::Done, Some(reason)) => DriveOutcome::Failed(reason),
            (outcome, _) => outcome,
        };
        let outcome = match (outcome, after) {
            (DriveOutcome::Done, Err(reason)) => DriveOutcome::Failed(reason),
            (outcome, _) => outcome,
        };
        if outcome == DriveOutcome::Done {
            self.count_leftover_rows();
        }
        self.measured.profile = self.profiler.finish(self.job, &self.measured);
        assemble::end_series(&self.measured, &results, &mut collector);
        if self.measured.origin_ns.is_some() {
            self.watch.event(&RunEvent::Whole(Box::new(self.so_far(&collector))));
        }
        self.report_series(&mut collector);
        Finished { measured: self.measured, results, series: collector.into_series(), outcome }
    }

    /// Counts the rows that sessions inserted and left.
    fn count_leftover_rows(&mut self) {
        // Several targets may reach the same data; its rows then belong to no single target.
        if self.job.has_several_targets() {
            return;
        }
        for (context, measured) in self.job.targets.iter().zip(&mut self.measured.targets) {
            if self.job.inserts_test_rows(context) {
                measured.rows_left = leftover::count(context);
            }
        }
    }
}
