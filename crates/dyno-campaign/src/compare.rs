//! Compares two or more sets of runs with each other.

use dyno_analyze::compare::{
    ComparisonGate, ComparisonRules, ComparisonSide, GateError, GateResult, RunComparison, compare,
};
use dyno_analyze::next::NextStep;
use dyno_analyze::side_by_side::{SideBySide, next_steps, side_by_side};
use dyno_record::RunRecord;
use serde::Serialize;

use crate::error::Error;

/// The comparison of one set of runs with the first set.
#[derive(Debug, Clone, Serialize)]
pub struct ComparisonResult {
    /// The differences, their sizes, and whether they are significant.
    #[serde(flatten)]
    pub comparison: RunComparison,
    /// Each gate, and whether the comparison passes it.
    pub gates: Vec<GateResult>,
    /// Load profile, time, classes of operations and counters of both sides.
    pub side_by_side: SideBySide,
    /// What to do next.
    pub next: Vec<NextStep>,
    /// The comparison of each single target; empty unless both sides have the same number of several targets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<RunComparison>,
}

/// How sets of runs are compared: the measures, the margin, and the gates.
pub struct ComparisonSettings {
    gates: Vec<ComparisonGate>,
    rules: ComparisonRules,
}

impl ComparisonSettings {
    /// Compares these measures and those of the gates; if none is named, the most important ones. Differences
    /// up to `margin_pct` count as equal.
    ///
    /// # Errors
    /// A gate cannot be read, or the margin is not a percentage.
    pub fn new(named: &[String], margin_pct: f64, gates: &[String]) -> Result<Self, Error> {
        let read = |text: &String| {
            text.parse().map_err(|error: GateError| Error::usage(error.to_string(), GateError::HINT))
        };
        let gates = gates.iter().map(read).collect::<Result<Vec<ComparisonGate>, Error>>()?;
        if !(margin_pct.is_finite() && (0.0..100.0).contains(&margin_pct)) {
            return Err(Error::usage(
                format!("--margin {margin_pct} is not between 0 and 100 %"),
                "write --margin 2",
            ));
        }
        let rules = ComparisonRules { margin_pct, measures: measures(named.to_vec(), &gates) };
        Ok(Self { gates, rules })
    }

    /// Compares every set with the first set.
    pub fn answers(&self, sides: &[(String, Vec<RunRecord>)]) -> Vec<ComparisonResult> {
        let side =
            |i: usize| ComparisonSide { name: sides[i].0.clone(), records: sides[i].1.iter().collect() };
        let answer = |i| {
            let (a, b) = (side(0), side(i));
            let comparison = compare(&a, &b, &self.rules);
            let gates = self.check_gates(&comparison);
            let targets = self.compare_targets(&sides[0], &sides[i]);
            let side_by_side = side_by_side(&a, &b, &comparison);
            let next = next_steps(&a, &b, &comparison);
            ComparisonResult { comparison, gates, side_by_side, next, targets }
        };
        (1..sides.len()).map(answer).collect()
    }

    /// Checks each gate against `comparison`.
    pub(crate) fn check_gates(&self, comparison: &RunComparison) -> Vec<GateResult> {
        self.gates.iter().map(|gate| gate.check(comparison)).collect()
    }

    /// Compares the sets target by target; empty unless both have the same number of targets.
    fn compare_targets(
        &self,
        a: &(String, Vec<RunRecord>),
        b: &(String, Vec<RunRecord>),
    ) -> Vec<RunComparison> {
        let (of_a, of_b) = (parts_by_target(&a.1), parts_by_target(&b.1));
        if of_a.len() != of_b.len() {
            return Vec::new();
        }
        let compare_target = |((at, a_own), b_own): ((usize, &Vec<RunRecord>), &Vec<RunRecord>)| {
            let side = |name: &str, records: &[RunRecord]| {
                let url = records.first().map_or("", |record| record.targets[0].url.as_str());
                format!("{name}, target {} ({url})", at + 1)
            };
            let (name_a, name_b) = (side(&a.0, a_own), side(&b.0, b_own));
            let a_side = ComparisonSide { name: name_a, records: a_own.iter().collect() };
            let b_side = ComparisonSide { name: name_b, records: b_own.iter().collect() };
            compare(&a_side, &b_side, &self.rules)
        };
        of_a.iter().enumerate().zip(&of_b).map(compare_target).collect()
    }
}

/// Splits records over several targets into one set per target; empty unless all have the same number.
fn parts_by_target(records: &[RunRecord]) -> Vec<Vec<RunRecord>> {
    let parts_by_record: Vec<Vec<RunRecord>> = records.iter().map(RunRecord::parts).collect();
    let targets = parts_by_record.first().map_or(0, Vec::len);
    if parts_by_record.iter().any(|parts| parts.len() != targets) {
        return Vec::new();
    }
    let parts_of_target = |at: usize| parts_by_record.iter().map(|parts| parts[at].clone()).collect();
    (0..targets).map(parts_of_target).collect()
}

/// Returns the requested measures, and those that gates need.
fn measures(mut measures: Vec<String>, gates: &[ComparisonGate]) -> Vec<String> {
    for gate in gates {
        if !measures.contains(&gate.measure) {
            measures.push(gate.measure.clone());
        }
    }
    measures
}
