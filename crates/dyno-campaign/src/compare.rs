//! Two or more sets of runs against each other.

use dyno_analyze::compare::{Comparison, Gate, GateError, GateResult, Rules, Side, compare};
use dyno_record::RunRecord;
use serde::Serialize;

use crate::error::Error;

/// What came of holding one set against the first.
#[derive(Debug, Clone, Serialize)]
pub struct Answer {
    /// What differs, by how much, and whether it is real.
    #[serde(flatten)]
    pub comparison: Comparison,
    /// Each gate, and whether it holds.
    pub gates: Vec<GateResult>,
    /// Each target's own comparison, where both sides have as many of several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<Comparison>,
}

/// How sets of runs are compared: which measures, within which margin, and which gates they have to pass.
pub struct Judge {
    gates: Vec<Gate>,
    rules: Rules,
}

impl Judge {
    /// Compares these measures, or those that matter most where none is named, and those of the gates; differences up to
    /// `margin_pct` are no matter.
    ///
    /// # Errors
    /// A gate cannot be read, or the margin is no share.
    pub fn new(named: &[String], margin_pct: f64, gates: &[String]) -> Result<Self, Error> {
        let read = |text: &String| {
            text.parse().map_err(|error: GateError| Error::usage(error.to_string(), GateError::HINT))
        };
        let gates = gates.iter().map(read).collect::<Result<Vec<Gate>, Error>>()?;
        if !(margin_pct.is_finite() && (0.0..100.0).contains(&margin_pct)) {
            return Err(Error::usage(
                format!("--margin {margin_pct} is no share of 0 to 100 %"),
                "write --margin 2",
            ));
        }
        let rules = Rules { margin_pct, measures: measures(named.to_vec(), &gates) };
        Ok(Self { gates, rules })
    }

    /// Holds every named set but the first against the first.
    pub fn answers(&self, sides: &[(String, Vec<RunRecord>)]) -> Vec<Answer> {
        let side = |i: usize| Side { name: sides[i].0.clone(), records: sides[i].1.iter().collect() };
        let answer = |i| {
            let comparison = compare(&side(0), &side(i), &self.rules);
            let gates = self.gates.iter().map(|gate| gate.check(&comparison)).collect();
            let targets = self.of_targets(&sides[0], &sides[i]);
            Answer { comparison, gates, targets }
        };
        (1..sides.len()).map(answer).collect()
    }

    /// Holds each target's own parts of two sets against each other, if both have as many.
    fn of_targets(&self, a: &(String, Vec<RunRecord>), b: &(String, Vec<RunRecord>)) -> Vec<Comparison> {
        let (of_a, of_b) = (parts(&a.1), parts(&b.1));
        if of_a.len() != of_b.len() {
            return Vec::new();
        }
        let one = |((at, a_own), b_own): ((usize, &Vec<RunRecord>), &Vec<RunRecord>)| {
            let side = |name: &str, records: &[RunRecord]| {
                let url = records.first().map_or("", |record| record.targets[0].url.as_str());
                format!("{name}, target {} ({url})", at + 1)
            };
            let (name_a, name_b) = (side(&a.0, a_own), side(&b.0, b_own));
            let a_side = Side { name: name_a, records: a_own.iter().collect() };
            let b_side = Side { name: name_b, records: b_own.iter().collect() };
            compare(&a_side, &b_side, &self.rules)
        };
        of_a.iter().enumerate().zip(&of_b).map(one).collect()
    }
}

/// The parts of records over several targets: for each target, its part of every record. Empty unless all have as many.
fn parts(records: &[RunRecord]) -> Vec<Vec<RunRecord>> {
    let each: Vec<Vec<RunRecord>> = records.iter().map(RunRecord::parts).collect();
    let targets = each.first().map_or(0, Vec::len);
    if each.iter().any(|parts| parts.len() != targets) {
        return Vec::new();
    }
    let of = |at: usize| each.iter().map(|parts| parts[at].clone()).collect();
    (0..targets).map(of).collect()
}

/// The measures asked for; those of gates are compared in any case.
fn measures(mut measures: Vec<String>, gates: &[Gate]) -> Vec<String> {
    for gate in gates {
        if !measures.contains(&gate.measure) {
            measures.push(gate.measure.clone());
        }
    }
    measures
}
