//! The window itself, interval by interval.

use std::collections::BTreeMap;
use std::time::Duration;

use dyno_plan::Length;
use dyno_record::Waits;

use super::Conductor;
use super::beat::BEAT;
use crate::collector::Collector;
use crate::complete::{Complete, Cumulative, SoFar};
use crate::crew::Crew;
use crate::intervals;
use crate::job::Outcome;
use crate::observe::Taken;
use crate::samples::Counted;
use crate::totals;
use crate::watch::{Event, Live};
use crate::watcher::Watcher;

/// Share of an interval for which its counters wait for sessions to make visible what they did in it.
const INTERVAL_LAG_SHARE: u64 = 4;
/// How often it looks whether a load is over: some take a tenth of a second.
const LOAD_BEAT: Duration = Duration::from_millis(1);
/// How often it looks whether sessions have made their work visible.
const SHOWN_LOOK: Duration = Duration::from_millis(2);

impl Conductor<'_> {
    /// When a window that began at `origin_ns` ends, if the plan says when.
    pub(super) fn planned_end_ns(&self, origin_ns: u64) -> Option<u64> {
        let run = &self.job.plan.run;
        let Length::Time(time) = run.length() else { return None };
        let time_ns = time.0.as_nanos() as u64;
        if self.job.plan.workload.phases.is_empty() {
            return Some(origin_ns + time_ns);
        }
        // Phases go by the gate, as arrivals do: a window that begins a moment late does not move them.
        let warm_ns = run.warmup.0.as_nanos() as u64;
        Some(self.measured.gate_opened_ns.unwrap_or(origin_ns) + warm_ns + time_ns)
    }

    pub(super) fn window(&mut self, crew: &mut dyn Crew, collector: &mut Collector) -> Result<(), Outcome> {
        let origin_ns = self.measured.origin_ns.expect("a window has an origin");
        let interval_ns = self.job.plan.observe.interval.0.as_nanos() as u64;
        let end_ns = self.planned_end_ns(origin_ns).unwrap_or(u64::MAX);
        let beat = if self.job.loads() { LOAD_BEAT } else { BEAT };
        let mut index = 0;
        loop {
            let tick_ns = origin_ns + (index + 1) * interval_ns;
            while self.now_ns() < tick_ns.min(end_ns) {
                self.look(crew)?;
                if crew.reached_ops() == crew.size().leading {
                    // A session that came late to the begin may have done all of its work since the last look.
                    return self.opened(crew);
                }
                self.opened(crew)?;
                let left = Duration::from_nanos(tick_ns.min(end_ns).saturating_sub(self.now_ns()));
                crew.listen(beat.min(left));
                self.beat();
                collector.drain_unless(&|| self.now_ns() >= tick_ns.min(end_ns));
            }
            if tick_ns >= end_ns {
                return self.opened(crew);
            }
            self.wait_shown(crew, tick_ns, interval_ns);
            let taken = self.inner_snapshots(crew)?;
            let (next_ns, clock) = (tick_ns + interval_ns, &self.job.clock);
            collector.drain_unless(&|| clock.now_ns() >= next_ns.min(end_ns));
            match taken {
                Some(taken) => self.note_interval(crew, collector, index as usize, taken, tick_ns),
                None => self.skip_interval(collector, index as usize),
            }
            self.tell(crew, collector, index as usize, origin_ns, end_ns);
            self.tell_complete(collector, index as usize);
            self.tell_series(collector);
            // A machine that was asleep has missed ticks: their points stay, without counters.
            index = (self.now_ns().saturating_sub(origin_ns) / interval_ns).max(index + 1);
        }
    }

    /// Waits until sessions have made visible what they did up to the end of an interval; for a part of the next at most.
    pub(super) fn wait_shown(&mut self, crew: &mut dyn Crew, tick_ns: u64, interval_ns: u64) {
        let patience_s = (interval_ns / INTERVAL_LAG_SHARE) as f64 / 1e9;
        let until_s = self.now_s() + patience_s;
        while !crew.all_shown(tick_ns) && self.now_s() < until_s {
            crew.listen(SHOWN_LOOK);
            self.beat();
        }
    }

    /// Notes that nothing was read at the end of an interval; nor has the next one a begin.
    fn skip_interval(&mut self, collector: &mut Collector, index: usize) {
        self.skipped = true;
        self.note_unread(collector, index);
    }

    /// Notes an interval without rates.
    fn note_unread(&self, collector: &mut Collector, index: usize) {
        let lines = if self.job.is_several() { 1 + self.job.targets.len() } else { 1 };
        collector.note_metrics(index, vec![BTreeMap::new(); lines]);
    }

    /// Notes the rates of an interval that ended at `until_ns`, when its counters were `taken`.
    pub(super) fn note_interval(
        &mut self,
        crew: &dyn Crew,
        collector: &mut Collector,
        index: usize,
        taken: Vec<Taken>,
        until_ns: u64,
    ) {
        let taken = with_overhead(crew, taken);
        let (previous, since_ns) = std::mem::replace(&mut self.previous, (taken, until_ns));
        let seconds = until_ns.saturating_sub(since_ns) as f64 / 1e9;
        let blind = std::mem::replace(&mut self.blind, self.opening);
        if std::mem::take(&mut self.skipped) {
            self.waits_of_interval();
            return self.note_unread(collector, index);
        }
        let mut metrics = intervals::of_intervals(self.job, &previous, &self.previous.0, seconds, blind);
        for (metrics, waits) in metrics.iter_mut().zip(self.waits_of_interval()) {
            metrics.extend(waits);
        }
        collector.note_metrics(index, metrics);
    }

    /// Sessions in each wait since this was last asked: of all targets, then of each.
    fn waits_of_interval(&mut self) -> Vec<BTreeMap<String, f64>> {
        let now: Vec<Counted> = self.watchers.iter().map(Watcher::sampled).collect();
        let mut before = std::mem::replace(&mut self.sampled, now);
        before.resize(self.sampled.len(), Counted::default());
        let together = |each: &[Counted]| {
            let mut all = Counted::default();
            each.iter().for_each(|own| all.add(own));
            all
        };
        let all = together(&self.sampled).since(&together(&before));
        let each = self.sampled.iter().zip(&before).map(|(now, before)| now.since(before));
        std::iter::once(all).chain(each).collect()
    }

    /// Tells how the run goes when the interval at `index` has just ended. Of that one some sessions have not reported yet, so
    /// the figures are those of the one before.
    pub(super) fn tell(
        &self,
        crew: &dyn Crew,
        collector: &mut Collector,
        index: usize,
        origin_ns: u64,
        end_ns: u64,
    ) {
        let interval_s = self.job.plan.observe.interval.0.as_secs_f64();
        let complete = index.checked_sub(1);
        let (ops, p50_us, p99_us) = complete.map_or((0, None, None), |index| collector.peek(index));
        let elapsed_s = self.now_ns().saturating_sub(origin_ns) as f64 / 1e9;
        let total_s = (end_ns != u64::MAX).then(|| (end_ns - origin_ns) as f64 / 1e9);
        let done = match total_s {
            Some(total_s) => elapsed_s / total_s,
            None => f64::from(crew.reached_ops()) / f64::from(crew.size().leading),
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

    /// Tells all that is known of the last complete interval, the one before that at `index`.
    fn tell_complete(&self, collector: &mut Collector, index: usize) {
        let complete = index.checked_sub(1).and_then(|index| collector.complete(index as u64));
        let Some((point, latency)) = complete else { return };
        let (mut looks, mut changes, mut falls) = (0, Vec::new(), Vec::new());
        for target in &self.measured.targets {
            let (own, its_changes, its_falls) = target.vigil.so_far();
            looks += own;
            changes.extend(its_changes);
            falls.extend(its_falls);
        }
        let each: Vec<Waits> = self.watchers.iter().map(Watcher::waits_so_far).collect();
        let waits = match each.as_slice() {
            [one] => one.clone(),
            several => totals::waits(self.job, &several.iter().collect::<Vec<_>>()),
        };
        let read = self.job.targets.iter().zip(&self.previous.0);
        let counters = read.map(|(aim, taken)| Cumulative::of(aim.target.url(), &taken.database)).collect();
        let so_far = self.so_far(collector);
        let complete = Complete { point, latency, so_far, waits, changes, falls, looks, counters };
        self.watch.event(&Event::Complete(Box::new(complete)));
    }

    /// Sums of the window so far, with the names of classes.
    pub(super) fn so_far(&self, collector: &Collector) -> SoFar {
        let classes = self.job.classes();
        let (so_far, ops) = collector.so_far();
        let named =
            classes.all().map(|class| (classes.name(class), ops.get(class.index()).copied().unwrap_or(0)));
        let classes = named.filter(|(_, ops)| *ops > 0).map(|(name, ops)| (name.to_owned(), ops)).collect();
        SoFar { classes, ..so_far }
    }

    /// Tells of the series what nothing changes any more.
    pub(super) fn tell_series(&self, collector: &mut Collector) {
        let told = collector.take_told();
        told.last.into_iter().for_each(|chunk| self.watch.event(&Event::Final(chunk)));
        told.late.into_iter().for_each(|chunk| self.watch.event(&Event::Late(chunk)));
    }
}

/// `taken` with the transactions of the crew's sessions, so far, that were no operations.
pub(super) fn with_overhead(crew: &dyn Crew, mut taken: Vec<Taken>) -> Vec<Taken> {
    for (at, taken) in taken.iter_mut().enumerate() {
        taken.overhead = crew.overhead(at);
    }
    taken
}
