//! One session's figures split by the phases of a schedule. Where a plan has none nothing of this is there.
//!
//! An operation belongs to the phase in which it was due. A session's due moments only rise, so one set of totals is enough:
//! they are put away when the first operation of another phase is due.

use std::sync::Arc;

use dyno_plan::Plan;

use crate::session::{ClassResult, PhaseResult};

/// When each part of a run ends, in nanoseconds after the gate opened: the warm-up, each phase, and what comes behind them,
/// which has no end.
pub(crate) fn ends_ns(plan: &Plan) -> Option<Arc<[u64]>> {
    let lead_s = plan.run.warmup.0.as_secs_f64();
    let curve = plan.workload.curve(lead_s)?;
    let ends = curve.stages().iter().map(|stage| ((lead_s + stage.end_s) * 1e9).round() as u64);
    Some(std::iter::once(plan.run.warmup.0.as_nanos() as u64).chain(ends).chain([u64::MAX]).collect())
}

/// Where a session is in a schedule of phases, and what it did of those behind it.
#[derive(Debug)]
pub(crate) struct Phased {
    ends_ns: Arc<[u64]>,
    /// Whether the schedule is its own; it is not that of sessions of another workload, which ran meanwhile.
    leads: bool,
    /// The part in which its latest operation was due, and the one in which it began.
    due_in: usize,
    begun_in: usize,
    parts: Vec<PhaseResult>,
}

impl Phased {
    pub(crate) fn new(ends_ns: Arc<[u64]>, leads: bool) -> Self {
        let parts = vec![PhaseResult::default(); ends_ns.len()];
        Self { ends_ns, leads, due_in: 0, begun_in: 0, parts }
    }

    /// An operation begins at `now_ns` that was due at `due_ns`, after the gate: the part whose totals are to be put away
    /// first, if it is another one than before.
    pub(crate) fn begin(&mut self, due_ns: u64, now_ns: u64) -> Option<usize> {
        let before = self.due_in;
        self.due_in = self.part(before, due_ns);
        if self.leads {
            self.begun_in = self.part(self.begun_in, now_ns);
            self.parts[self.due_in].due += 1;
            if self.begun_in > self.due_in {
                self.parts[self.due_in].behind += 1;
                self.parts[self.begun_in].behind -= 1;
            }
        }
        (self.due_in > before).then_some(before)
    }

    fn part(&self, from: usize, at_ns: u64) -> usize {
        (from..self.ends_ns.len() - 1)
            .find(|&part| at_ns < self.ends_ns[part])
            .unwrap_or(self.ends_ns.len() - 1)
    }

    /// An operation was due at `due_ns` after the gate, and never began in the window.
    pub(crate) fn never_begun(&mut self, due_ns: u64) {
        if self.leads {
            let part = self.part(0, due_ns);
            self.parts[part].due += 1;
            self.parts[part].behind += 1;
        }
    }

    /// The end of the last phase of its own schedule, after the gate; nothing where the schedule is another's.
    pub(crate) fn end_ns(&self) -> Option<u64> {
        self.leads.then(|| self.ends_ns[self.ends_ns.len() - 2])
    }

    /// Puts away what was done of a part.
    pub(crate) fn put_away(&mut self, part: usize, classes: Vec<ClassResult>) {
        self.parts[part].classes = classes;
    }

    /// All parts, the last of whose totals are `classes`.
    pub(crate) fn into_parts(mut self, classes: Vec<ClassResult>) -> Vec<PhaseResult> {
        self.put_away(self.due_in, classes);
        self.parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_behind_at_the_end_of_a_phase_is_known_to_the_operation() {
        // A warm-up until 10, phases until 20, 30 and 40.
        let mut phased = Phased::new([10, 20, 30, 40, u64::MAX].into(), true);
        let begun = [(5, 5), (9, 12), (11, 13), (12, 25), (13, 35), (21, 36), (39, 39)];
        let put_away: Vec<_> = begun.iter().filter_map(|(due, now)| phased.begin(*due, *now)).collect();
        assert_eq!(put_away, [0, 1, 2]);
        phased.never_begun(38);
        phased.never_begun(31);
        let parts = phased.into_parts(Vec::new());
        assert_eq!(parts.iter().map(|part| part.due).collect::<Vec<_>>(), [2, 3, 1, 3, 0]);
        let mut behind = 0;
        let behind = parts
            .iter()
            .map(|part| {
                behind += part.behind;
                behind
            })
            .collect::<Vec<_>>();
        assert_eq!(behind[..4], [1, 2, 2, 2], "begun later than that, or never");
    }

    #[test]
    fn who_works_beside_the_schedule_owes_it_nothing() {
        let mut phased = Phased::new([10, 20, 30, u64::MAX].into(), false);
        let put_away: Vec<_> =
            [(5, 5), (12, 25), (22, 29)].iter().filter_map(|(due, now)| phased.begin(*due, *now)).collect();
        phased.never_begun(25);
        assert_eq!((put_away, phased.end_ns()), (vec![0, 1], None));
        assert!(phased.into_parts(Vec::new()).iter().all(|part| (part.due, part.behind) == (0, 0)));
    }
}
