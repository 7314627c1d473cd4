//! Tracks a session's position in a schedule of phases; unused if the plan has none.
//!
//! An operation belongs to the phase in which it was due. A session's due times only increase.

use std::sync::Arc;

use dyno_plan::Plan;

/// When each part of a run ends, in nanoseconds after the gate opened: the warm-up, each phase, and the rest,
/// which has no end.
pub(crate) fn ends_ns(plan: &Plan) -> Option<Arc<[u64]>> {
    let lead_s = plan.run.warmup.0.as_secs_f64();
    let curve = plan.workload.curve(lead_s)?;
    let ends = curve.stages().iter().map(|stage| ((lead_s + stage.end_s) * 1e9).round() as u64);
    Some(std::iter::once(plan.run.warmup.0.as_nanos() as u64).chain(ends).chain([u64::MAX]).collect())
}

/// The part that contains a time after the gate; the search starts at a known part.
pub(crate) fn part_of(ends_ns: &[u64], from: usize, at_ns: u64) -> usize {
    let last = ends_ns.len() - 1;
    (from..last).find(|&part| at_ns < ends_ns[part]).unwrap_or(last)
}

/// The position of a session.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PhaseCursor {
    /// The part in which its latest operation was due, and the one in which it began.
    pub(crate) due_in: usize,
    pub(crate) begun_in: usize,
}

impl PhaseCursor {
    /// Moves on to an operation that was due at `due_ns` and begins at `now_ns`, both after the gate.
    pub(crate) fn move_on(&mut self, ends_ns: &[u64], due_ns: u64, now_ns: u64) {
        self.due_in = part_of(ends_ns, self.due_in, due_ns);
        self.begun_in = part_of(ends_ns, self.begun_in, now_ns);
    }
}
