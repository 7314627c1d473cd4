//! What the sessions of one thread have done in the window, added up: by target, by phase of a schedule, by class.
//!
//! One for all sessions of a thread, so that what an operation counts in is in the processor's cache, however many sessions
//! there are. Recording allocates nothing but a class's tallies at its first operation.

mod totals;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use dyno_engine::{Op, Place as Schema};
use dyno_workload::pace::Schedule;
use dyno_workload::{ClassId, Effect, Task};

use crate::interval::{Interval, UnderWay};
use crate::phased::{Passed, part_of};
use crate::tally::Tally;
use crate::thread_result::{ClassResult, PhaseResult, ThreadResult, Times};
use totals::{ClassTotals, OfTarget};

/// Where something counts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// The place of the target.
    pub(crate) target: usize,
    /// The part of the run in which it was due; the first where there are no phases.
    pub(crate) part: usize,
}

/// The clock's readings around one operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timing {
    pub(crate) due_ns: u64,
    pub(crate) began_ns: u64,
    pub(crate) ended_ns: u64,
}

/// What the sessions of one thread have done.
#[derive(Debug)]
pub(crate) struct Counts {
    classes: usize,
    targets: Vec<OfTarget>,
    /// When the parts of a run end that has phases.
    ends_ns: Option<Arc<[u64]>>,
    under_way: UnderWay,
}

impl Counts {
    /// For sessions on so many targets whose operations are of so many classes, with a series of intervals of `interval_ns`. They
    /// go to `full`, and may come back empty. `ends_ns` are the ends of the parts of a run that has phases.
    pub(crate) fn new(
        (targets, classes): (usize, usize),
        ends_ns: Option<Arc<[u64]>>,
        interval_ns: u64,
        full: Sender<Box<Interval>>,
        empty: Receiver<Box<Interval>>,
    ) -> Self {
        let parts = ends_ns.as_ref().map_or(1, |ends_ns| ends_ns.len());
        Self {
            classes,
            targets: (0..targets).map(|_| OfTarget::new(parts)).collect(),
            ends_ns,
            under_way: UnderWay::new((targets, classes), interval_ns, full, empty),
        }
    }

    #[inline]
    fn totals(&mut self, place: Place, class: ClassId) -> &mut ClassTotals {
        let target = &mut self.targets[place.target];
        if target.parts[place.part].totals.is_empty() {
            target.open(place.part, self.classes);
        }
        &mut target.parts[place.part].totals[class.index()]
    }

    /// Times of the sessions on a target.
    #[inline]
    pub(crate) fn times(&mut self, place: Place) -> &mut Times {
        &mut self.targets[place.target].times
    }

    /// The window has begun at `origin_ns`.
    pub(crate) fn open(&mut self, origin_ns: u64) {
        self.under_way.open(origin_ns);
    }

    /// The end of the series' interval that `at_ns` lies in.
    pub(crate) fn interval_end_ns(&self, at_ns: u64) -> u64 {
        self.under_way.end_ns(at_ns)
    }

    /// Counts an operation, of which so much time lies in the window.
    #[inline]
    pub(crate) fn op(
        &mut self,
        place: Place,
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
            totals.response.get_or_insert_with(Tally::precise).record(response_ns);
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

    /// Counts something that is no operation, or that happened within one, and took so long, if that is known.
    #[inline]
    pub(crate) fn beside(&mut self, place: Place, class: ClassId, count: u64, latency_ns: Option<u64>) {
        let totals = self.totals(place, class);
        totals.count += count;
        if let Some(latency_ns) = latency_ns {
            totals.time(latency_ns);
        }
    }

    /// Counts a poll that found nothing, of which so much time lies in the window.
    pub(crate) fn empty_poll(&mut self, place: Place, class: ClassId, busy_ns: u64) {
        self.totals(place, class).empty_polls += 1;
        self.times(place).polling_ns += busy_ns;
    }

    /// Counts operations of a slice that ended at `ended_ns`, which have no time of their own.
    pub(crate) fn of_slice(&mut self, place: Place, class: ClassId, ended_ns: u64, (ops, rows): (u64, u64)) {
        let totals = self.totals(place, class);
        totals.count += ops;
        totals.rows += rows;
        self.under_way.note(place.target, ended_ns, |interval| interval.count(class, ops));
    }

    /// Counts an operation that failed at `now_ns`.
    pub(crate) fn failed(&mut self, place: Place, class: ClassId, now_ns: u64) {
        self.totals(place, class).errors += 1;
        self.under_way.note(place.target, now_ns, |interval| interval.errors += 1);
    }

    /// Counts an attempt of an operation that the database took back and that begins again.
    pub(crate) fn retried(&mut self, place: Place, class: ClassId) {
        self.totals(place, class).retries += 1;
    }

    /// Counts an operation whose commit is in doubt.
    pub(crate) fn in_doubt(&mut self, place: Place, class: ClassId) {
        self.totals(place, class).in_doubt += 1;
    }

    /// Notes that operations of a class, with rows, were under way when the window began, by the share of them that lies before.
    pub(crate) fn before(&mut self, place: Place, class: ClassId, (ops, rows): (f64, f64)) {
        let before = &mut self.totals(place, class).before;
        *before = (before.0 + ops, before.1 + rows);
    }

    /// Counts where an operation of the classic method went.
    #[inline]
    pub(crate) fn drawn(&mut self, place: Place, task: Task) {
        let keyed = matches!(task.op, Op::Select { .. } | Op::Lookup { .. } | Op::Update { .. });
        let hot = &mut self.targets[place.target].hot;
        hot.spot += u64::from(task.hot);
        hot.keyed += u64::from(keyed);
        hot.schema += u64::from(task.place == Schema::First);
        hot.movable += u64::from(!matches!(task.op, Op::Insert { .. } | Op::Delete { .. }));
    }

    /// Whether the run has phases.
    #[inline]
    pub(crate) fn is_phased(&self) -> bool {
        self.ends_ns.is_some()
    }

    /// An operation begins at `now_ns` that was due at `due_ns`, after the gate: the part of the run in which it is due. `passed`
    /// is where its session was before, which owes the schedule something if it `leads`.
    pub(crate) fn begins(
        &mut self,
        target: usize,
        passed: &mut Passed,
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

    /// An operation was due at `due_ns` after the gate, and never began in the window.
    pub(crate) fn never_begun(&mut self, target: usize, due_ns: u64) {
        let Some(ends_ns) = &self.ends_ns else { return };
        let part = part_of(ends_ns, 0, due_ns);
        self.targets[target].parts[part].packed.never_begun(1);
    }

    /// What was due from where `schedule` was left until `end_ns` after the gate was never begun.
    pub(crate) fn leave_undone(&mut self, target: usize, end_ns: u64, schedule: &mut Schedule) {
        let Some(ends_ns) = &self.ends_ns else { return };
        // Nothing is due behind the last phase.
        for (part, part_end_ns) in ends_ns[..ends_ns.len() - 1].iter().enumerate() {
            let passed = schedule.pass(end_ns.min(*part_end_ns));
            self.targets[target].parts[part].packed.never_begun(passed);
        }
    }

    /// What was measured so far, of each target; nothing is left of it.
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
                ThreadResult { target, classes, phases, times, hot }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    /// Counts of one target in a run with a warm-up until 10, and phases until 20, 30 and 40.
    fn phased() -> Counts {
        let (full, _) = channel();
        let (_, empty) = channel();
        Counts::new((1, 1), Some([10, 20, 30, 40, u64::MAX].into()), 1_000, full, empty)
    }

    #[test]
    fn who_is_behind_at_the_end_of_a_phase_is_known_to_the_operation() {
        let (mut counts, mut passed) = (phased(), Passed::default());
        let begun = [(5, 5), (9, 12), (11, 13), (12, 25), (13, 35), (21, 36), (39, 39)];
        let due_in = begun.map(|moments| counts.begins(0, &mut passed, true, moments));
        assert_eq!(due_in, [0, 0, 1, 1, 1, 2, 3]);
        counts.never_begun(0, 38);
        counts.never_begun(0, 31);
        let parts = &counts.take()[0].phases;
        assert_eq!(parts.iter().map(|part| part.due).collect::<Vec<_>>(), [2, 3, 1, 3, 0]);
        let behind = parts.iter().scan(0, |behind, part| {
            *behind += part.behind;
            Some(*behind)
        });
        assert_eq!(behind.take(4).collect::<Vec<_>>(), [1, 2, 2, 2], "begun later than that, or never");
    }

    #[test]
    fn who_works_beside_the_schedule_owes_it_nothing() {
        let (mut counts, mut passed) = (phased(), Passed::default());
        let due_in =
            [(5, 5), (12, 25), (22, 29)].map(|moments| counts.begins(0, &mut passed, false, moments));
        assert_eq!(due_in, [0, 1, 2]);
        assert!(counts.take()[0].phases.iter().all(|part| (part.due, part.behind) == (0, 0)));
    }
}
