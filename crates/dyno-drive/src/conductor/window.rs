//! Controls the window, interval by interval.

use std::collections::BTreeMap;
use std::time::Duration;

use dyno_observe::CumulativeCounters;
use dyno_observe::TargetSnapshot;
use dyno_observe::WaitCounts;
use dyno_plan::Length;
use dyno_record::Waits;

use super::Conductor;
use super::timing::BEAT;
use crate::collector::IntervalCollector;
use crate::complete::{CompletedInterval, RunningTotals};
use crate::intervals;
use crate::job::DriveOutcome;
use crate::totals;
use crate::watch::{LiveProgress, RunEvent};
use crate::watcher::Watcher;
use crate::worker_pool::WorkerPool;

/// One part in this many of an interval: how long its counters wait for sessions to publish their work.
const INTERVAL_LAG_SHARE: u64 = 4;
/// How often it checks whether a bulk load is finished: some take a tenth of a second.
const LOAD_BEAT: Duration = Duration::from_millis(1);
/// How often it checks whether sessions have published their work.
const SHOWN_LOOK: Duration = Duration::from_millis(2);

impl Conductor<'_> {
    /// When a window that began at `origin_ns` ends; `None` if the plan sets no time.
    pub(super) fn planned_end_ns(&self, origin_ns: u64) -> Option<u64> {
        let run = &self.job.plan.run;
        let Length::Time(time) = run.length() else { return None };
        let time_ns = time.0.as_nanos() as u64;
        if self.job.plan.workload.phases.is_empty() {
            return Some(origin_ns + time_ns);
        }
        // Phases start with the gate, as arrivals do: a late window does not move them.
        let warm_ns = run.warmup.0.as_nanos() as u64;
        Some(self.measured.gate_opened_ns.unwrap_or(origin_ns) + warm_ns + time_ns)
    }

    pub(super) fn window(
        &mut self,
        pool: &mut dyn WorkerPool,
        collector: &mut IntervalCollector,
    ) -> Result<(), DriveOutcome> {
        let origin_ns = self.measured.origin_ns.expect("a window has an origin");
        let interval_ns = self.job.plan.observe.interval.0.as_nanos() as u64;
        let end_ns = self.planned_end_ns(origin_ns).unwrap_or(u64::MAX);
        let beat = if self.job.loads_data() { LOAD_BEAT } else { BEAT };
        let mut index = 0;
        loop {
            let tick_ns = origin_ns + (index + 1) * interval_ns;
            while self.now_ns() < tick_ns.min(end_ns) {
                self.check_run(pool)?;
                if pool.reached_ops() == pool.size().leading {
                    // A session that reached the begin late may have done all of its work since the last
                    // check.
                    return self.reread_begin_counters(pool);
                }
                self.reread_begin_counters(pool)?;
                let left = Duration::from_nanos(tick_ns.min(end_ns).saturating_sub(self.now_ns()));
                pool.listen(beat.min(left));
                self.beat();
                collector.drain_unless(&|| self.now_ns() >= tick_ns.min(end_ns));
            }
            if tick_ns >= end_ns {
                return self.reread_begin_counters(pool);
            }
            self.wait_until_visible(pool, tick_ns, interval_ns);
            let snapshots = self.inner_snapshots(pool)?;
            let (next_ns, clock) = (tick_ns + interval_ns, &self.job.clock);
            collector.drain_unless(&|| clock.now_ns() >= next_ns.min(end_ns));
            match snapshots {
                Some(taken) => self.note_interval(pool, collector, index as usize, taken, tick_ns),
                None => self.skip_interval(collector, index as usize),
            }
            self.report_progress(pool, collector, index as usize, origin_ns, end_ns);
            self.report_complete_interval(collector, index as usize);
            self.report_series(collector);
            // A machine that was suspended has missed ticks: their points stay, without counters.
            index = (self.now_ns().saturating_sub(origin_ns) / interval_ns).max(index + 1);
        }
    }

    /// Waits until sessions have published their work up to the end of an interval; at most for a part of the
    /// next one.
    pub(super) fn wait_until_visible(&mut self, pool: &mut dyn WorkerPool, tick_ns: u64, interval_ns: u64) {
        let patience_s = (interval_ns / INTERVAL_LAG_SHARE) as f64 / 1e9;
        let until_s = self.now_s() + patience_s;
        while !pool.all_visible_since(tick_ns) && self.now_s() < until_s {
            pool.listen(SHOWN_LOOK);
            self.beat();
        }
    }

    /// Notes that nothing was read at the end of an interval; the next one then lacks its begin.
    fn skip_interval(&mut self, collector: &mut IntervalCollector, index: usize) {
        self.skipped = true;
        self.note_unread(collector, index);
    }

    /// Notes an interval without counter rates.
    fn note_unread(&self, collector: &mut IntervalCollector, index: usize) {
        let lines = if self.job.has_several_targets() { 1 + self.job.targets.len() } else { 1 };
        collector.note_metrics(index, vec![BTreeMap::new(); lines]);
    }

    /// Notes the rates of an interval that ended at `until_ns`, when its counters were read.
    pub(super) fn note_interval(
        &mut self,
        pool: &dyn WorkerPool,
        collector: &mut IntervalCollector,
        index: usize,
        snapshots: Vec<TargetSnapshot>,
        until_ns: u64,
    ) {
        let adjusted = with_overhead(pool, snapshots);
        let (previous, since_ns) = std::mem::replace(&mut self.previous, (adjusted, until_ns));
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

    /// Sessions in each wait since the last call: of all targets, then of each.
    fn waits_of_interval(&mut self) -> Vec<BTreeMap<String, f64>> {
        let now: Vec<WaitCounts> = self.watchers.iter().map(Watcher::wait_counts).collect();
        let mut before = std::mem::replace(&mut self.sampled, now);
        before.resize(self.sampled.len(), WaitCounts::default());
        let together = |each: &[WaitCounts]| {
            let mut all = WaitCounts::default();
            each.iter().for_each(|own| all.add(own));
            all
        };
        let all = together(&self.sampled).since(&together(&before));
        let wait_changes = self.sampled.iter().zip(&before).map(|(now, before)| now.since(before));
        std::iter::once(all).chain(wait_changes).collect()
    }

    /// Reports progress when the interval at `index` has just ended. Some sessions have not reported on it
    /// yet, so the figures are those of the interval before.
    pub(super) fn report_progress(
        &self,
        pool: &dyn WorkerPool,
        collector: &mut IntervalCollector,
        index: usize,
        origin_ns: u64,
        end_ns: u64,
    ) {
        let interval_s = self.job.plan.observe.interval.0.as_secs_f64();
        let complete = index.checked_sub(1);
        let (ops, p50_us, p99_us) = complete.map_or((0, None, None), |index| collector.peek(index));
        let elapsed_s = self.now_ns().saturating_sub(origin_ns) as f64 / 1e9;
        let total_s = (end_ns != u64::MAX).then(|| (end_ns - origin_ns) as f64 / 1e9);
        let progress = match total_s {
            Some(total_s) => elapsed_s / total_s,
            None => f64::from(pool.reached_ops()) / f64::from(pool.size().leading),
        };
        self.watch.event(&RunEvent::Interval(LiveProgress {
            elapsed_s,
            total_s,
            done: progress.min(1.0),
            until_s: complete.map(|index| (index + 1) as f64 * interval_s),
            ops_per_s: ops as f64 / interval_s,
            p50_us,
            p99_us,
            errors: collector.errors(),
        }));
    }

    /// Reports all that is known of the last complete interval, the one before `index`.
    fn report_complete_interval(&self, collector: &mut IntervalCollector, index: usize) {
        let complete = index.checked_sub(1).and_then(|index| collector.complete(index as u64));
        let Some((point, latency)) = complete else { return };
        let (mut looks, mut changes, mut falls) = (0, Vec::new(), Vec::new());
        for target in &self.measured.targets {
            let (snapshot_count, its_changes, its_falls) = target.watchdog.findings();
            looks += snapshot_count;
            changes.extend(its_changes);
            falls.extend(its_falls);
        }
        let target_waits: Vec<Waits> = self.watchers.iter().map(Watcher::waits_so_far).collect();
        let waits = match target_waits.as_slice() {
            [one] => one.clone(),
            several => totals::waits(self.job, &several.iter().collect::<Vec<_>>()),
        };
        let read = self.job.targets.iter().zip(&self.previous.0);
        let counters = read
            .map(|(context, taken)| CumulativeCounters::of(context.target.url(), &taken.database))
            .collect();
        let so_far = self.so_far(collector);
        let complete = CompletedInterval {
            point,
            latency,
            so_far,
            waits,
            changes,
            resets: falls,
            snapshot_count: looks,
            counters,
        };
        self.watch.event(&RunEvent::Complete(Box::new(complete)));
    }

    /// Sums of the window so far, with the names of classes.
    pub(super) fn so_far(&self, collector: &IntervalCollector) -> RunningTotals {
        let classes = self.job.classes();
        let (so_far, ops) = collector.so_far();
        let named =
            classes.all().map(|class| (classes.name(class), ops.get(class.index()).copied().unwrap_or(0)));
        let classes = named.filter(|(_, ops)| *ops > 0).map(|(name, ops)| (name.to_owned(), ops)).collect();
        RunningTotals { classes, ..so_far }
    }

    /// Reports the parts of the series that are final.
    pub(super) fn report_series(&self, collector: &mut IntervalCollector) {
        let updates = collector.take_updates();
        updates.final_chunks.into_iter().for_each(|chunk| self.watch.event(&RunEvent::Final(chunk)));
        updates.late_chunks.into_iter().for_each(|chunk| self.watch.event(&RunEvent::Late(chunk)));
    }
}

/// `snapshots`, with the overhead transactions of the pool's sessions so far.
pub(super) fn with_overhead(
    pool: &dyn WorkerPool,
    mut snapshots: Vec<TargetSnapshot>,
) -> Vec<TargetSnapshot> {
    for (at, snapshot) in snapshots.iter_mut().enumerate() {
        snapshot.overhead = pool.overhead(at);
    }
    snapshots
}
