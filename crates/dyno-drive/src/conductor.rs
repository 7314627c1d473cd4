//! Leads a run through its phases: connect all, gate, warm-up, begin snapshot, window, end snapshot, stop, drain.
//!
//! The conductor works on the caller's thread. It waits only for bounded times, so a hanging server, a lost observer or
//! Ctrl-C always leads to a record of what was measured.

mod beat;
mod ends;

use std::sync::Arc;
use std::time::{Duration, Instant};

use dyno_plan::Length;
use dyno_record::Counters;

use crate::assemble;
use crate::collector::Collector;
use crate::intervals;
use crate::job::{Job, Outcome};
use crate::leftover;
use crate::looks::Looks;
use crate::measured::{Finished, Measured, MeasuredTarget};
use crate::metrics;
use crate::observe::Taken;
use crate::stuck;
use crate::threads::Threads;
use crate::watch::{Event, Live, Watch};
use crate::watcher::Watcher;
use beat::{ANNOUNCED_NS, BEAT};

/// Share of an interval for which its counters wait for sessions to make visible what they did in it.
const INTERVAL_LAG_SHARE: u64 = 4;
/// How often it looks whether sessions have made their work visible.
const SHOWN_LOOK: Duration = Duration::from_millis(2);
/// The longest wait for a snapshot. Reading takes milliseconds of processor time, but where sessions keep more server
/// processes busy than there are processors, the one that reads has been seen to stand in the run queue for seconds
/// without running once (Linux 6.18, load 70 on 2 processors), while sessions, which sleep often, went on.
const SNAPSHOT_S_MAX: f64 = 30.0;
/// The same once the user has asked to stop.
const SNAPSHOT_STOPPED_S_MAX: f64 = 2.0;
/// The gate opens this much after the last session is ready: time to assign sessions to threads, and to fall asleep until then.
const GATE_LEAD_NS: u64 = 60_000_000;
/// How long counters may take to settle after the last session has gone, and the pause between two looks.
const SETTLE_S: (f64, f64) = (5.0, 0.1);

/// The longest wait for sessions that have not started yet.
const UNSTARTED_MAX: Duration = Duration::from_millis(500);

/// One run's conductor.
pub(crate) struct Conductor<'a> {
    job: &'a Job<'a>,
    watch: &'a dyn Watch,
    /// One for each target, in their order.
    watchers: Vec<Watcher>,
    measured: Measured,
    /// Whether all sessions had connected.
    connected: bool,
    /// When the coordinator last looked up; only inside the window.
    last_beat_ns: Option<u64>,
    /// Whether sessions are still on their way to the window's begin.
    opening: bool,
    /// Whether counters of the last interval may hold what sessions did before the window.
    blind: bool,
    /// Counters at the end of the last interval of the series, and when that was.
    previous: (Vec<Taken>, u64),
    started: Instant,
}

impl<'a> Conductor<'a> {
    pub(crate) fn new(job: &'a Job<'a>, watch: &'a dyn Watch, watchers: Vec<Watcher>) -> Self {
        let targets = watchers.iter().map(|_| MeasuredTarget::default()).collect();
        Self {
            job,
            watch,
            watchers,
            measured: Measured { targets, ..Measured::default() },
            connected: false,
            last_beat_ns: None,
            opening: false,
            blind: false,
            previous: (Vec::new(), 0),
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
        let settled = self.settle();
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
        threads: &mut Threads,
        collector: &mut Collector,
        connect_began_ns: u64,
    ) -> Outcome {
        match self.conduct_to_end(threads, collector, connect_began_ns) {
            Ok(()) => Outcome::Done,
            Err(outcome) => outcome,
        }
    }

    fn conduct_to_end(
        &mut self,
        threads: &mut Threads,
        collector: &mut Collector,
        connect_began_ns: u64,
    ) -> Result<(), Outcome> {
        self.connect(threads)?;
        let connected_ns = self.now_ns();
        self.connected = true;
        self.watch.connected().map_err(|reason| match self.job.cancel.is_cancelled() {
            true => Outcome::Interrupted,
            false => Outcome::Failed(reason),
        })?;
        // What was done meanwhile may have cost a session its connection.
        self.look(threads)?;
        let opens_ns = self.now_ns() + GATE_LEAD_NS;
        threads.shared.open_gate(opens_ns);
        self.measured.gate_opened_ns = Some(opens_ns);
        self.measured.connect_s = (connected_ns + GATE_LEAD_NS - connect_began_ns) as f64 / 1e9;
        let warmup = self.job.plan.run.warmup.0;
        self.watch.event(&Event::Warmup { seconds: warmup.as_secs_f64() });
        let warm_ns = opens_ns + warmup.as_nanos() as u64;
        let announce_ns = warm_ns.saturating_sub(ANNOUNCED_NS);
        while self.now_ns() < announce_ns {
            self.look(threads)?;
            threads.listen(BEAT.min(Duration::from_nanos(announce_ns.saturating_sub(self.now_ns()))));
        }
        self.begin_window(threads, warm_ns)?;
        let ended = self.window(threads, collector);
        self.end_window(threads, collector, ended.is_ok());
        ended
    }

    /// Failure of a session, or the user's wish to stop.
    fn look(&self, threads: &Threads) -> Result<(), Outcome> {
        if let Some(reason) = threads.shared.failure() {
            return Err(Outcome::Failed(reason));
        }
        if self.job.cancel.is_cancelled() {
            return Err(Outcome::Interrupted);
        }
        Ok(())
    }

    fn connect(&mut self, threads: &mut Threads) -> Result<(), Outcome> {
        let mut told = None;
        loop {
            self.look(threads)?;
            let (ready, _) = threads.shared.readiness();
            if told != Some(ready) {
                told = Some(ready);
                self.watch.event(&Event::Connecting { ready, of: threads.sessions });
            }
            if ready == threads.sessions {
                return Ok(());
            }
            threads.listen(BEAT);
        }
    }

    fn window(&mut self, threads: &mut Threads, collector: &mut Collector) -> Result<(), Outcome> {
        let origin_ns = self.measured.origin_ns.expect("a window has an origin");
        let interval_ns = self.job.plan.observe.interval.0.as_nanos() as u64;
        let end_ns = match self.job.plan.run.length() {
            // Phases go by the gate, as arrivals do: a window that begins a moment late does not move them.
            Length::Time(time) if !self.job.plan.workload.phases.is_empty() => {
                let warm_ns = self.job.plan.run.warmup.0.as_nanos() as u64;
                self.measured.gate_opened_ns.unwrap_or(origin_ns) + warm_ns + time.0.as_nanos() as u64
            }
            Length::Time(time) => origin_ns + time.0.as_nanos() as u64,
            Length::Ops(_) => u64::MAX,
        };
        let mut index = 0;
        loop {
            let tick_ns = origin_ns + (index + 1) * interval_ns;
            while self.now_ns() < tick_ns.min(end_ns) {
                self.look(threads)?;
                if threads.shared.reached_ops() == threads.leading {
                    // A session that came late to the begin may have done all of its work since the last look.
                    return self.opened(threads);
                }
                self.opened(threads)?;
                let left = Duration::from_nanos(tick_ns.min(end_ns).saturating_sub(self.now_ns()));
                threads.listen(BEAT.min(left));
                self.beat();
                collector.drain_unless(&|| self.now_ns() >= tick_ns.min(end_ns));
            }
            if tick_ns >= end_ns {
                return self.opened(threads);
            }
            self.wait_shown(threads, tick_ns, interval_ns);
            let taken = self.all_snapshots(threads, &|_| None)?;
            for (target, taken) in self.measured.targets.iter_mut().zip(&taken) {
                target.vigil.see(taken);
            }
            let (next_ns, clock) = (tick_ns + interval_ns, &self.job.clock);
            collector.drain_unless(&|| clock.now_ns() >= next_ns.min(end_ns));
            self.note_interval(threads, collector, index as usize, taken, tick_ns);
            self.tell(threads, collector, index as usize, origin_ns, end_ns);
            self.tell_series(collector);
            // A machine that was asleep has missed ticks: their points stay, without counters.
            index = (self.now_ns().saturating_sub(origin_ns) / interval_ns).max(index + 1);
        }
    }

    /// Waits until sessions have made visible what they did up to the end of an interval; for a part of the next at most.
    fn wait_shown(&mut self, threads: &mut Threads, tick_ns: u64, interval_ns: u64) {
        let patience_s = (interval_ns / INTERVAL_LAG_SHARE) as f64 / 1e9;
        let until_s = self.now_s() + patience_s;
        while !threads.shared.all_shown(tick_ns) && self.now_s() < until_s {
            threads.listen(SHOWN_LOOK);
            self.beat();
        }
    }

    /// Notes the rates of an interval that ended at `until_ns`, when its counters were `taken`.
    fn note_interval(
        &mut self,
        threads: &Threads,
        collector: &mut Collector,
        index: usize,
        taken: Vec<Taken>,
        until_ns: u64,
    ) {
        let taken = threads.with_overhead(taken);
        let (previous, since_ns) = std::mem::replace(&mut self.previous, (taken, until_ns));
        let seconds = until_ns.saturating_sub(since_ns) as f64 / 1e9;
        let blind = std::mem::replace(&mut self.blind, self.opening);
        let metrics = intervals::of_intervals(self.job, &previous, &self.previous.0, seconds, blind);
        collector.note_metrics(index, metrics);
    }

    /// Tells how the run goes when the interval at `index` has just ended. Of that one some sessions have not reported yet, so
    /// the figures are those of the one before.
    fn tell(&self, threads: &Threads, collector: &mut Collector, index: usize, origin_ns: u64, end_ns: u64) {
        let interval_s = self.job.plan.observe.interval.0.as_secs_f64();
        let complete = index.checked_sub(1);
        let (ops, p50_us, p99_us) = complete.map_or((0, None, None), |index| collector.peek(index));
        let elapsed_s = self.now_ns().saturating_sub(origin_ns) as f64 / 1e9;
        let total_s = (end_ns != u64::MAX).then(|| (end_ns - origin_ns) as f64 / 1e9);
        let done = match total_s {
            Some(total_s) => elapsed_s / total_s,
            None => f64::from(threads.shared.reached_ops()) / f64::from(threads.leading),
        };
        self.watch.event(&Event::Interval(Live {
            elapsed_s,
            total_s,
            done: done.min(1.0),
            until_s: complete.map(|index| (index + 1) as f64 * interval_s),
            ops_per_s: ops as f64 / interval_s,
            p50_us,
            p99_us,
            errors: collector.errors(),
        }));
    }

    /// Tells of the series what nothing changes any more.
    fn tell_series(&self, collector: &mut Collector) {
        let told = collector.take_told();
        told.last.into_iter().for_each(|chunk| self.watch.event(&Event::Final(chunk)));
        told.late.into_iter().for_each(|chunk| self.watch.event(&Event::Late(chunk)));
    }

    /// Reads all counters of all targets, or fails with the first that cannot be read. `edge_of` each target, whose snapshot
    /// it is.
    fn all_snapshots(
        &mut self,
        threads: &mut Threads,
        edge_of: &dyn Fn(usize) -> Option<usize>,
    ) -> Result<Vec<Taken>, Outcome> {
        let cancel = &self.job.cancel;
        let outcome =
            |reason| if cancel.is_cancelled() { Outcome::Interrupted } else { Outcome::Failed(reason) };
        self.snapshots(Some(threads), edge_of).into_iter().collect::<Result<_, _>>().map_err(outcome)
    }

    /// Reads the counters of all targets at the same time, or says why that cannot be. Never waits longer than
    /// [`SNAPSHOT_S_MAX`].
    fn snapshots(
        &mut self,
        mut threads: Option<&mut Threads>,
        edge_of: &dyn Fn(usize) -> Option<usize>,
    ) -> Vec<Result<Taken, String>> {
        self.watchers.iter().enumerate().for_each(|(at, watcher)| watcher.request(edge_of(at)));
        let mut until_s = self.now_s() + SNAPSHOT_S_MAX;
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
                    let within = if stopped { SNAPSHOT_STOPPED_S_MAX } else { SNAPSHOT_S_MAX };
                    break Err(self.watchers[at].lose(&format!(
                        "the database did not answer the observer within {within} s: its server process waits for a processor or \
                         for a lock"
                    )));
                }
                if let Some(threads) = threads.as_deref_mut() {
                    threads.listen(Duration::ZERO);
                }
            };
            all.push(answer);
        }
        all
    }

    /// Notes that time has passed as it should, or how long it did not.
    fn beat(&mut self) {
        let Some(last_ns) = self.last_beat_ns else { return };
        let now_ns = self.now_ns();
        let stall_ns = (now_ns - last_ns).saturating_sub(BEAT.as_nanos() as u64);
        self.measured.stall_ns_max = self.measured.stall_ns_max.max(stall_ns);
        self.last_beat_ns = Some(now_ns);
    }

    /// Stops the sessions and takes what they hand in; what they left in the tables is still there.
    pub(crate) fn finish(
        mut self,
        mut threads: Threads,
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
            self.measured.broken_off = threads.stop(drain, &now_s, &impatient, &mut ask);
        } else {
            // No operation is under way; what has not ended at once still connects.
            threads.stop(drain.min(UNSTARTED_MAX), &now_s, &impatient, &mut |_| ());
        }
        let outcome = match outcome {
            Outcome::Done if impatient() && !self.measured.broken_off.is_empty() => Outcome::Interrupted,
            outcome => outcome,
        };
        let after = if self.connected { self.watch.drained() } else { Ok(()) };
        (self.measured.sessions, self.measured.threads) = (threads.sessions, threads.count);
        self.measured.placement = threads.placement();
        for (watcher, target) in self.watchers.iter_mut().zip(&mut self.measured.targets) {
            target.waits = watcher.finish_sampler(Duration::from_secs(2));
        }
        if outcome == Outcome::Done {
            let settled = self.settle();
            for (target, taken) in self.measured.targets.iter_mut().zip(settled) {
                taken.iter().for_each(|taken| target.vigil.see(taken));
                target.whole_end = taken;
            }
        }
        let late_failure = threads.shared.failure();
        let results = threads.into_results();
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
        assemble::end_series(&self.measured, &results, &mut collector);
        self.tell_series(&mut collector);
        Finished { measured: self.measured, results, series: collector.into_series(), outcome }
    }

    /// Counts the rows that sessions have inserted and left.
    fn count_left(&mut self) {
        // Several targets may be ways to the same data, whose rows are then none of one target's alone.
        if self.job.plan.workload.churn_pct() == 0 || self.job.is_several() {
            return;
        }
        for (aim, measured) in self.job.targets.iter().zip(&mut self.measured.targets) {
            if aim.reads_only.is_none() {
                measured.rows_left = leftover::count(aim);
            }
        }
    }

    /// Reads the counters until they stand still: servers book what a session did a moment after it has gone. Nothing of a
    /// target that cannot be read.
    fn settle(&mut self) -> Vec<Option<Taken>> {
        let until_s = self.now_s() + SETTLE_S.0;
        let mut last = self.snapshots(None, &|_| None);
        loop {
            if last.iter().all(Result::is_err) {
                return last.iter().map(|_| None).collect();
            }
            let pause_until_s = self.now_s() + SETTLE_S.1;
            while self.now_s() < pause_until_s {
                std::thread::park_timeout(Duration::from_secs_f64(SETTLE_S.1));
            }
            let next = self.snapshots(None, &|_| None);
            let still = |(last, next): (&Result<Taken, String>, &Result<Taken, String>)| match (last, next) {
                (Ok(last), Ok(next)) => {
                    metrics::stands_still(&Counters::between(&last.database, &next.database))
                }
                _ => true,
            };
            if last.iter().zip(&next).all(still) || self.now_s() >= until_s {
                return next.into_iter().map(Result::ok).collect();
            }
            last = next;
        }
    }
}
