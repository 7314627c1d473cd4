//! Leads a run through its phases: connect all, gate, warm-up, begin snapshot, window, end snapshot, stop, drain.
//!
//! The conductor works on the caller's thread. It waits only for bounded times, so a hanging server, a lost observer or
//! Ctrl-C always leads to a record of what was measured.

mod beat;
mod ends;
mod reading;
mod window;

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::acknowledged;
use crate::assemble;
use crate::collector::Collector;
use crate::crew::Crew;
use crate::job::{Job, Outcome};
use crate::leftover;
use crate::looks::Looks;
use crate::measured::{Finished, Measured, MeasuredTarget};
use crate::observe::Taken;
use crate::profiler::Profiler;
use crate::samples::Counted;
use crate::stalls::StallMeter;
use crate::stuck;
use crate::watch::{Event, Watch};
use crate::watcher::Watcher;
pub(crate) use beat::ANNOUNCED_NS;
use beat::BEAT;

/// The gate opens this much after the last session is ready: time to assign sessions to threads, and to fall asleep until then.
const GATE_LEAD_NS: u64 = 60_000_000;

/// The longest wait for sessions that have not started yet.
const UNSTARTED_MAX: Duration = Duration::from_millis(500);

/// One run's conductor.
pub(crate) struct Conductor<'a> {
    job: &'a Job<'a>,
    watch: &'a dyn Watch,
    /// One for each target, in their order.
    watchers: Vec<Watcher>,
    profiler: Profiler,
    measured: Measured,
    /// Whether all sessions had connected.
    connected: bool,
    /// Stalls of this program inside the window.
    stalls: StallMeter,
    /// Whether sessions are still on their way to the window's begin.
    opening: bool,
    /// Whether counters of the last interval may hold what sessions did before the window.
    blind: bool,
    /// Whether counters could not be read at the end of the last interval.
    skipped: bool,
    /// Counters at the end of the last interval of the series, and when that was.
    previous: (Vec<Taken>, u64),
    /// What samplers had seen by then.
    sampled: Vec<Counted>,
    started: Instant,
}

impl<'a> Conductor<'a> {
    pub(crate) fn new(job: &'a Job<'a>, watch: &'a dyn Watch, watchers: Vec<Watcher>) -> Self {
        let targets = watchers.iter().map(|_| MeasuredTarget::default()).collect();
        Self {
            job,
            watch,
            watchers,
            profiler: Profiler::start(job),
            measured: Measured { targets, ..Measured::default() },
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

    /// What became of the snapshots of the window's edges, target by target.
    pub(crate) fn looks(&self) -> Vec<Arc<Looks>> {
        self.watchers.iter().map(|watcher| Arc::clone(watcher.looks())).collect()
    }

    /// Reads the counters before the first session connects.
    pub(crate) fn begin(&mut self) {
        // Connections that looked at the target before are booked a moment after they have gone.
        let settled = self.settle(&|_, _| false);
        for (target, taken) in self.measured.targets.iter_mut().zip(settled) {
            taken.iter().for_each(|taken| target.vigil.see(taken));
            target.whole_begin = taken;
        }
    }

    fn now_ns(&self) -> u64 {
        self.job.clock.now_ns()
    }

    /// Real seconds, for patience: a scripted clock has its own idea of time, a hanging server has not.
    fn now_s(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Leads the sessions from their connections to the end of the window.
    pub(crate) fn conduct(
        &mut self,
        crew: &mut dyn Crew,
        collector: &mut Collector,
        connect_began_ns: u64,
    ) -> Outcome {
        match self.conduct_to_end(crew, collector, connect_began_ns) {
            Ok(()) => Outcome::Done,
            Err(outcome) => outcome,
        }
    }

    fn conduct_to_end(
        &mut self,
        crew: &mut dyn Crew,
        collector: &mut Collector,
        connect_began_ns: u64,
    ) -> Result<(), Outcome> {
        self.connect(crew)?;
        let connected_ns = self.now_ns();
        self.connected = true;
        self.watch.connected().map_err(|reason| match self.job.cancel.is_cancelled() {
            true => Outcome::Interrupted,
            false => Outcome::Failed(reason),
        })?;
        // What was done meanwhile may have cost a session its connection.
        self.look(crew)?;
        crew.prepare_gate();
        let lead_ns = GATE_LEAD_NS + crew.lead_ns();
        let opens_ns = self.now_ns() + lead_ns;
        let warmup = self.job.plan.run.warmup.0;
        let warm_ns = opens_ns + warmup.as_nanos() as u64;
        self.profiler.open(self.now_ns(), warm_ns);
        crew.open_gate(opens_ns);
        self.measured.gate_opened_ns = Some(opens_ns);
        self.measured.connect_s = (connected_ns + lead_ns - connect_began_ns) as f64 / 1e9;
        self.watch.event(&Event::Warmup { seconds: warmup.as_secs_f64() });
        let announce_ns = warm_ns.saturating_sub(crew.lead_ns());
        while self.now_ns() < announce_ns {
            self.look(crew)?;
            self.profiler.open(self.now_ns(), warm_ns);
            crew.listen(BEAT.min(Duration::from_nanos(announce_ns.saturating_sub(self.now_ns()))));
        }
        self.begin_window(crew, warm_ns)?;
        let ended = self.window(crew, collector);
        self.end_window(crew, collector, ended.is_ok());
        ended
    }

    /// Failure of a session, or the user's wish to stop.
    fn look(&self, crew: &dyn Crew) -> Result<(), Outcome> {
        if let Some(reason) = crew.failure() {
            return Err(Outcome::Failed(reason));
        }
        if self.job.cancel.is_cancelled() {
            return Err(Outcome::Interrupted);
        }
        Ok(())
    }

    fn connect(&mut self, crew: &mut dyn Crew) -> Result<(), Outcome> {
        let mut told = None;
        loop {
            self.look(crew)?;
            let (ready, of) = (crew.ready(), crew.size().sessions);
            if told != Some(ready) {
                told = Some(ready);
                self.watch.event(&Event::Connecting { ready, of });
            }
            if ready == of {
                return Ok(());
            }
            crew.listen(BEAT);
        }
    }

    /// Stops the sessions and takes what they hand in; what they left in the tables is still there.
    pub(crate) fn finish(
        mut self,
        mut crew: Box<dyn Crew>,
        mut collector: Collector,
        outcome: Outcome,
    ) -> Finished {
        self.watch.event(&Event::Draining);
        let started = self.started;
        let now_s = move || started.elapsed().as_secs_f64();
        // Who asked to stop before gets what is under way; who asks now does not want to wait for it.
        let (asked_before, cancel) = (outcome == Outcome::Interrupted, &self.job.cancel);
        let impatient = move || !asked_before && cancel.is_cancelled();
        let drain = self.job.plan.run.drain.0;
        if self.measured.gate_opened_ns.is_some() {
            let job = self.job;
            let stuck = &mut self.measured.stuck;
            let mut ask = |hanging: &[u32]| *stuck = stuck::ask(job, hanging);
            self.measured.broken_off = crew.stop(drain, &now_s, &impatient, &mut ask);
        } else {
            // No operation is under way; what has not ended at once still connects.
            crew.stop(drain.min(UNSTARTED_MAX), &now_s, &impatient, &mut |_| ());
        }
        let outcome = match outcome {
            Outcome::Done if impatient() && !self.measured.broken_off.is_empty() => Outcome::Interrupted,
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
        if outcome == Outcome::Done {
            let (job, targets) = (self.job, std::mem::take(&mut self.measured.targets));
            let settled = self.settle(&|at, end| {
                let begin = targets[at].whole_begin.as_ref();
                begin.is_some_and(|begin| acknowledged::is_owed(job, at, &results, begin, end))
            });
            self.measured.targets = targets;
            for (target, taken) in self.measured.targets.iter_mut().zip(settled) {
                taken.iter().for_each(|taken| target.vigil.see(taken));
                target.whole_end = taken;
            }
        }
        let outcome = match (outcome, late_failure) {
            (Outcome::Done, Some(reason)) => Outcome::Failed(reason),
            (outcome, _) => outcome,
        };
        let outcome = match (outcome, after) {
            (Outcome::Done, Err(reason)) => Outcome::Failed(reason),
            (outcome, _) => outcome,
        };
        if outcome == Outcome::Done {
            self.count_left();
        }
        self.measured.profile = self.profiler.finish(self.job, &self.measured);
        assemble::end_series(&self.measured, &results, &mut collector);
        if self.measured.origin_ns.is_some() {
            self.watch.event(&Event::Whole(Box::new(self.so_far(&collector))));
        }
        self.tell_series(&mut collector);
        Finished { measured: self.measured, results, series: collector.into_series(), outcome }
    }

    /// Counts the rows that sessions have inserted and left.
    fn count_left(&mut self) {
        // Several targets may be ways to the same data, whose rows are then none of one target's alone.
        if self.job.is_several() {
            return;
        }
        for (aim, measured) in self.job.targets.iter().zip(&mut self.measured.targets) {
            if self.job.inserts_test_rows(aim) {
                measured.rows_left = leftover::count(aim);
            }
        }
    }
}
