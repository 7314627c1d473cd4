//! Gates of a trend: a limit for its latest change, for use in scripts that run each night.

use super::Trend;
use crate::compare::gate::GateDirection;
use crate::compare::{ComparisonGate, GateOutcome};

/// Fewest runs in which E-Divisive can find a change at its usual significance.
const RUNS_MIN: usize = 9;

impl Trend {
    /// Whether the latest change keeps the limit of `gate`, with the reason. A history without a change keeps
    /// every limit.
    pub fn gate_outcome(&self, gate: &ComparisonGate) -> (GateOutcome, String) {
        let runs = self.points.len();
        if runs < RUNS_MIN {
            return (
                GateOutcome::NotDecided,
                format!("{runs} runs; changes are found in {RUNS_MIN} or more"),
            );
        }
        let Some(change) = self.changes.last() else {
            return (GateOutcome::Passed, format!("no change in {runs} runs"));
        };
        let Some(difference) = change.difference_pct else {
            return (GateOutcome::Failed, format!("{} was nearly zero before {}", self.measure, change.run));
        };
        let is_kept = match gate.bound {
            GateDirection::AtLeast => difference >= gate.limit_pct,
            GateDirection::AtMost => difference <= gate.limit_pct,
        };
        let words = format!("{difference:+.1} % since {}", change.run);
        match (change.marked, is_kept) {
            (true, _) => (GateOutcome::NotDecided, format!("{words}, but the runs include other load")),
            (false, true) => (GateOutcome::Passed, words),
            (false, false) => (GateOutcome::Failed, words),
        }
    }
}
