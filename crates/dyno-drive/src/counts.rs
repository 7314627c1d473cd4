//! Adds up what the sessions of one thread have done in the window: by target, by phase of a schedule, by
//! class.
//!
//! All sessions of a thread share one instance, so its counters stay in the processor's cache with any number
//! of sessions. Recording allocates memory only for a class's tallies at its first operation.

mod totals;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use dyno_engine::{BlockOp, BlockOpSchema as Schema};
use dyno_workload::pace::ArrivalSchedule;
use dyno_workload::{ClassId, DrawnOperation, Effect};

use crate::interval::{CurrentIntervals, IntervalCounts};
use crate::phased::{PhaseCursor, part_of};
use crate::served_by::ServedBy;
use crate::tally::LatencyTally;
use crate::thread_result::{ClassResult, PhaseResult, SessionTimes, ThreadResult};
use totals::{ClassTotals, TargetTotals};

/// The counters that an operation belongs to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CountPosition {
    /// Index of the target within the run.
    pub(crate) target: usize,
    /// The part of the run in which it was due; the first where there are no phases.
    pub(crate) part: usize,
}

/// The clock readings around one operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timing {
    pub(crate) due_ns: u64,
    pub(crate) began_ns: u64,
    pub(crate) ended_ns: u64,
}

#[derive(Debug)]
pub(crate) struct ThreadCounts {
    classes: usize,
    targets: Vec<TargetTotals>,
    /// When the parts of a run with phases end.
    ends_ns: Option<Arc<[u64]>>,
    under_way: CurrentIntervals,
}

impl ThreadCounts {
    /// For sessions on this many targets, with operations of this many classes and intervals of
    /// `interval_ns`. Full intervals go to `full` and may come back empty. `ends_ns` are the ends of the
    /// parts of a run with phases.
    pub(crate) fn new(
        (targets, classes): (usize, usize),
        ends_ns: Option<Arc<[u64]>>,
        interval_ns: u64,
        full: Sender<Box<IntervalCounts>>,
        empty: Receiver<Box<IntervalCounts>>,
    ) -> Self {
        let parts = ends_ns.as_ref().map_or(1, |ends_ns| ends_ns.len());
        Self {
            classes,
            targets: (0..targets).map(|_| TargetTotals::new(parts)).collect(),
            ends_ns,
            under_way: CurrentIntervals::new((targets, classes), interval_ns, full, empty),
        }
    }

    #[inline]
    fn totals(&mut self, place: CountPosition, class: ClassId) -> &mut ClassTotals {
        let target = &mut self.targets[place.target];
        if target.parts[place.part].totals.is_empty() {
            target.open(place.part, self.classes);
        }
        &mut target.parts[place.part].totals[class.index()]
    }

    /// The times of the sessions on a target.
    #[inline]
    pub(crate) fn times(&mut self, place: CountPosition) -> &mut SessionTimes {
        &mut self.targets[place.target].times
    }

    /// Begins to count: the window began at `origin_ns`.
    pub(crate) fn open(&mut self, origin_ns: u64) {
        self.under_way.open(origin_ns);
    }

    /// The end of the series' interval that `at_ns` lies in.
    pub(crate) fn interval_end_ns(&self, at_ns: u64) -> u64 {
        self.under_way.end_ns(at_ns)
    }

    /// Counts an operation, of which `busy_ns` lies in the window.
    #[inline]
    pub(crate) fn op(
        &mut self,
        place: CountPosition,
        class: ClassId,
        timing: Timing,
        (effect, busy_ns): (&Effect, u64),
        open_loop: bool,
    ) {
        let response_ns = timing.ended_ns - timing.due_ns;
        let totals = self.totals(place, class);
        totals.count += 1;
        totals.rows += effect.all_rows();
        totals.rolled_back += u64::from(effect.rolled_back);
        totals.tallied += u64::from(effect.tallied);
        totals.write_statements += u64::from(effect.write_statements);
        totals.empty_writes += u64::from(effect.empty_writes);
        totals.time(timing.ended_ns - timing.began_ns);
        if open_loop {
            totals.response.get_or_insert_with(LatencyTally::precise).record(response_ns);
        }
        let times = self.times(place);
        times.busy_ns += busy_ns;
        if open_loop {
            times.late_ns_max = times.late_ns_max.max(timing.began_ns - timing.due_ns);
        }
        self.under_way.note(place.target, timing.ended_ns, |interval| {
            interval.count(class, 1);
            interval.latency.record(response_ns);
        });
    }

    /// Counts a step of an operation, or something that is not an operation, with its time if known.
    #[inline]
    pub(crate) fn add_step(
        &mut self,
        place: CountPosition,
        class: ClassId,
        count: u64,
        latency_ns: Option<u64>,
    ) {
        let totals = self.totals(place, class);
        totals.count += count;
        if let Some(latency_ns) = latency_ns {
            totals.time(latency_ns);
        }
    }

    /// Counts a poll that found nothing, of which `busy_ns` lies in the window.
    pub(crate) fn empty_poll(&mut self, place: CountPosition, class: ClassId, busy_ns: u64) {
        self.totals(place, class).empty_polls += 1;
        self.times(place).polling_ns += busy_ns;
    }

    /// Counts operations of a slice that ended at `ended_ns`; they are not timed individually.
    pub(crate) fn of_slice(
        &mut self,
        place: CountPosition,
        class: ClassId,
        ended_ns: u64,
        (ops, rows): (u64, u64),
    ) {
        let totals = self.totals(place, class);
        totals.count += ops;
        totals.rows += rows;
        self.under_way.note(place.target, ended_ns, |interval| interval.count(class, ops));
    }

    /// Counts an operation that failed at `now_ns`.
    pub(crate) fn failed(&mut self, place: CountPosition, class: ClassId, now_ns: u64) {
        self.totals(place, class).errors += 1;
        self.under_way.note(place.target, now_ns, |interval| interval.errors += 1);
    }

    /// Counts an attempt that the database rolled back and that is retried.
    pub(crate) fn retried(&mut self, place: CountPosition, class: ClassId) {
        self.totals(place, class).retries += 1;
    }

    /// Counts an operation whose commit is in doubt.
    pub(crate) fn in_doubt(&mut self, place: CountPosition, class: ClassId) {
        self.totals(place, class).in_doubt += 1;
    }

    /// Notes operations in progress when the window began, with their rows, by the share of their time before
    /// it.
    pub(crate) fn before(&mut self, place: CountPosition, class: ClassId, (ops, rows): (f64, f64)) {
        let before = &mut self.totals(place, class).before;
        *before = (before.0 + ops, before.1 + rows);
    }

    /// Counts the hot-spot and schema choices of a block operation.
    #[inline]
    pub(crate) fn drawn(&mut self, place: CountPosition, task: DrawnOperation) {
        // Whether the operation draws a key that the hot spot can replace.
        let keyed = match task.op {
            BlockOp::Select { .. } | BlockOp::Lookup { .. } | BlockOp::Update { .. } => true,
            BlockOp::Secondary { .. } | BlockOp::Scan | BlockOp::Insert { .. } | BlockOp::Delete { .. } => {
                false
            }
        };
        let hot = &mut self.targets[place.target].hot;
        hot.spot += u64::from(task.hot);
        hot.keyed += u64::from(keyed);
        hot.schema += u64::from(task.place == Schema::First);
        hot.movable += u64::from(!matches!(task.op, BlockOp::Insert { .. } | BlockOp::Delete { .. }));
    }

    /// Whether the run has phases.
    #[inline]
    pub(crate) fn is_phased(&self) -> bool {
        self.ends_ns.is_some()
    }

    /// Assigns an operation to the part of the run in which it is due. It begins at `now_ns` and was due at
    /// `due_ns` after the gate. `passed` is its session's position before, which counts its backlog if it
    /// `leads`.
    pub(crate) fn begins(
        &mut self,
        target: usize,
        passed: &mut PhaseCursor,
        leads: bool,
        (due_ns, now_ns): (u64, u64),
    ) -> usize {
        let Some(ends_ns) = &self.ends_ns else { return 0 };
        passed.move_on(ends_ns, due_ns, now_ns);
        if !leads {
            return passed.due_in;
        }
        let parts = &mut self.targets[target].parts;
        parts[passed.due_in].packed.due += 1;
        if passed.begun_in > passed.due_in {
            parts[passed.due_in].packed.behind += 1;
            parts[passed.begun_in].packed.behind -= 1;
        }
        passed.due_in
    }

    /// Counts an operation that was due at `due_ns` after the gate and never began in the window.
    pub(crate) fn count_never_started(&mut self, target: usize, due_ns: u64) {
        let Some(ends_ns) = &self.ends_ns else { return };
        let part = part_of(ends_ns, 0, due_ns);
        self.targets[target].parts[part].packed.count_never_started(1);
    }

    /// Counts the operations that were due between the present position of `schedule` and `end_ns` after the
    /// gate, and never began.
    pub(crate) fn count_overdue_arrivals(
        &mut self,
        target: usize,
        end_ns: u64,
        schedule: &mut ArrivalSchedule,
    ) {
        let Some(ends_ns) = &self.ends_ns else { return };
        // Nothing is due after the last phase.
        for (part, part_end_ns) in ends_ns[..ends_ns.len() - 1].iter().enumerate() {
            let passed = schedule.pass(end_ns.min(*part_end_ns));
            self.targets[target].parts[part].packed.count_never_started(passed);
        }
    }

    /// Takes the results so far, target by target, and leaves none.
    pub(crate) fn take(&mut self) -> Vec<ThreadResult> {
        self.under_way.flush();
        let is_phased = self.is_phased();
        let targets = self.targets.iter_mut().enumerate();
        targets
            .map(|(target, of)| {
                let parts = of.parts.iter_mut().map(|part| {
                    part.pack();
                    std::mem::take(&mut part.packed)
                });
                let mut phases: Vec<PhaseResult> = parts.collect();
                let mut classes = Vec::new();
                match is_phased {
                    false => classes = phases.remove(0).classes,
                    true => phases.iter().for_each(|part| {
                        classes.resize_with(part.classes.len().max(classes.len()), ClassResult::default);
                        classes.iter_mut().zip(&part.classes).for_each(|(all, one)| all.add(one));
                    }),
                }
                if !is_phased {
                    phases.clear();
                }
                let (times, hot) = (std::mem::take(&mut of.times), std::mem::take(&mut of.hot));
                ThreadResult { target, served_by: ServedBy::default(), classes, phases, times, hot }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    /// Counts of one target in a run with a warm-up until 10, and phases until 20, 30 and 40.
    fn phased() -> ThreadCounts {
        let (full, _) = channel();
        let (_, empty) = channel();
        ThreadCounts::new((1, 1), Some([10, 20, 30, 40, u64::MAX].into()), 1_000, full, empty)
    }

    #[test]
    fn operations_behind_at_phase_end_are_counted_per_phase() {
        let (mut counts, mut passed) = (phased(), PhaseCursor::default());
        let operations = [(5, 5), (9, 12), (11, 13), (12, 25), (13, 35), (21, 36), (39, 39)];
        let due_in = operations.map(|moments| counts.begins(0, &mut passed, true, moments));
        assert_eq!(due_in, [0, 0, 1, 1, 1, 2, 3]);
        counts.count_never_started(0, 38);
        counts.count_never_started(0, 31);
        let parts = &counts.take()[0].phases;
        assert_eq!(parts.iter().map(|part| part.due).collect::<Vec<_>>(), [2, 3, 1, 3, 0]);
        let behind = parts.iter().scan(0, |behind, part| {
            *behind += part.behind;
            Some(*behind)
        });
        assert_eq!(behind.take(4).collect::<Vec<_>>(), [1, 2, 2, 2], "begun later than that, or never");
    }

    #[test]
    fn operations_outside_the_schedule_are_not_due() {
        let (mut counts, mut passed) = (phased(), PhaseCursor::default());
        let due_in =
            [(5, 5), (12, 25), (22, 29)].map(|moments| counts.begins(0, &mut passed, false, moments));
        assert_eq!(due_in, [0, 1, 2]);
        assert!(counts.take()[0].phases.iter().all(|part| (part.due, part.behind) == (0, 0)));
    }
}
