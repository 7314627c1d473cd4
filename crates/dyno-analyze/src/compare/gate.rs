//! Gates: limits that a comparison must keep, for use in scripts (`ops_per_s >= -3%`).

use serde::{Deserialize, Serialize};

use super::overall::{nothing, stratified};
use super::rank::mann_whitney;
use super::verdict::{SAME_RUNS_MIN, SIGNIFICANCE, adjusted};
use super::{MeasureComparison, RunComparison};

/// Longest text of a gate, in characters.
const CHARS_MAX: usize = 200;

/// The direction of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum GateDirection {
    /// The difference is at least the limit.
    #[serde(rename = ">=")]
    AtLeast,
    /// The difference is at most the limit.
    #[serde(rename = "<=")]
    AtMost,
}

/// One limit for a measure of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparisonGate {
    /// Whether the limit applies to the worst point instead of the mean over the points.
    pub worst: bool,
    /// The measure, for example `ops_per_s`.
    pub measure: String,
    pub bound: GateDirection,
    /// The limit: a difference in percent of the first side.
    pub limit_pct: f64,
}

/// The text of a gate is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid gate {text:?}: {problem}")]
pub struct GateError {
    pub text: String,
    /// What is wrong with it.
    pub problem: &'static str,
}

impl GateError {
    /// How to write a gate.
    pub const HINT: &'static str = "write [worst] MEASURE >= PERCENT% or <=, such as \"ops_per_s >= -3%\" or \"worst service_p99_us <= 10%\"";
}

impl std::str::FromStr for ComparisonGate {
    type Err = GateError;

    fn from_str(text: &str) -> Result<Self, GateError> {
        let wrong = |problem| GateError { text: text.chars().take(CHARS_MAX).collect(), problem };
        if text.len() > CHARS_MAX {
            return Err(wrong("it is too long"));
        }
        let (left, bound, right) = if let Some((left, right)) = text.split_once(">=") {
            (left, GateDirection::AtLeast, right)
        } else if let Some((left, right)) = text.split_once("<=") {
            (left, GateDirection::AtMost, right)
        } else {
            return Err(wrong(">= or <= is missing"));
        };
        let words: Vec<&str> = left.split_whitespace().collect();
        let (worst, measure) = match words.as_slice() {
            [measure] => (false, *measure),
            ["worst", measure] => (true, *measure),
            [] => return Err(wrong("it names no measure")),
            _ => return Err(wrong("there is more than one word before the limit")),
        };
        if !measure.chars().all(|c| c.is_alphanumeric() || "_.-".contains(c)) {
            return Err(wrong("the measure is not a name"));
        }
        let number = right.trim().strip_suffix('%').ok_or_else(|| wrong("the limit does not end in %"))?;
        let limit_pct: f64 = number.trim().parse().map_err(|_| wrong("the limit is not a number"))?;
        if !limit_pct.is_finite() {
            return Err(wrong("the limit is not a number"));
        }
        Ok(Self { worst, measure: measure.to_owned(), bound, limit_pct })
    }
}

impl std::fmt::Display for ComparisonGate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let worst = if self.worst { "worst " } else { "" };
        let bound = match self.bound {
            GateDirection::AtLeast => ">=",
            GateDirection::AtMost => "<=",
        };
        write!(f, "{worst}{} {bound} {}%", self.measure, self.limit_pct)
    }
}

/// What the runs say about a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateOutcome {
    /// The runs show that the limit is kept.
    Passed,
    /// The runs show that the limit is not kept, or a side lacks the measure.
    Failed,
    /// Other runs could give the opposite result.
    NotDecided,
}

impl GateOutcome {
    /// The outcome as shown in tables.
    pub fn words(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::NotDecided => "not decided",
        }
    }
}

/// The result of a gate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GateResult {
    pub gate: ComparisonGate,
    /// The difference that was compared with the limit, %. Absent where the measure is missing or
    /// nearly zero on the first side only; the gate then fails. Nearly zero on both sides is a
    /// difference of 0.
    pub difference_pct: Option<f64>,
    /// Its 95 % interval, %; absent with one run each, and in records of versions that did not store
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_pct: Option<(f64, f64)>,
    /// Probability of ranks at least as far apart if the second side lay exactly at the limit; absent
    /// with one run each, and in records of versions that did not store it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// Whether the difference keeps the limit, decided or not.
    pub holds: bool,
    /// Whether the runs decide: the whole interval is on one side of the limit, and the rank test
    /// agrees.
    pub certain: bool,
    /// Whether the figures include background activity, or it differs between the sides; then no
    /// result is certain.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub marked: bool,
}

impl GateResult {
    /// What the runs say. A gate that chance may have passed or failed is not decided.
    pub fn outcome(&self) -> GateOutcome {
        match (self.difference_pct, self.certain, self.holds) {
            (None, _, _) => GateOutcome::Failed,
            (Some(_), false, _) => GateOutcome::NotDecided,
            (Some(_), true, true) => GateOutcome::Passed,
            (Some(_), true, false) => GateOutcome::Failed,
        }
    }
}

/// A difference with what is known of its certainty.
#[derive(Debug, Clone, Copy)]
struct GateEvidence {
    difference_pct: f64,
    interval_pct: Option<(f64, f64)>,
    p: Option<f64>,
}

impl ComparisonGate {
    fn keeps(&self, difference_pct: f64) -> bool {
        match self.bound {
            // A limit of -3% is kept by a shown -3.0, regardless of binary fractions.
            GateDirection::AtLeast => difference_pct >= self.limit_pct - 1e-9,
            GateDirection::AtMost => difference_pct <= self.limit_pct + 1e-9,
        }
    }

    /// The first side's runs, moved to the limit.
    fn at_limit(&self, runs: &[f64]) -> Vec<f64> {
        runs.iter().map(|value| value * (1.0 + self.limit_pct / 100.0)).collect()
    }

    /// Whether the runs show that the limit is kept, or that it is not; `None` if they show neither.
    fn decided(&self, evidence: &GateEvidence) -> Option<bool> {
        let (low, high) = evidence.interval_pct?;
        let keeps = self.keeps(low);
        (keeps == self.keeps(high) && evidence.p? <= SIGNIFICANCE).then_some(keeps)
    }

    /// Compares the difference with the limit. The result is certain if the whole interval is on one
    /// side of the limit, and a rank test of the second side against the first side, moved to the
    /// limit, agrees.
    pub fn check(&self, comparison: &RunComparison) -> GateResult {
        let at = comparison.points.iter();
        let at = at.flat_map(|point| point.measures.iter().find(|c| c.measure == self.measure));
        let complete: Vec<&MeasureComparison> = at.filter(|c| c.a.is_some() && c.b.is_some()).collect();
        let overall = comparison.overall.iter().find(|overall| overall.measure == self.measure);
        let marked = overall.is_some_and(|overall| overall.marked && !overall.run_scoped)
            || !comparison.background.is_empty();
        let mut result = GateResult {
            gate: self.clone(),
            difference_pct: None,
            interval_pct: None,
            p: None,
            holds: false,
            certain: false,
            marked,
        };
        // Nearly zero everywhere is no difference, even if rounding would give a percentage.
        if !complete.is_empty() && complete.iter().all(|compared| nothing(compared)) {
            let runs = complete.iter().map(|c| c.a_runs.len().min(c.b_runs.len())).min();
            result.difference_pct = Some(0.0);
            result.holds = self.keeps(0.0);
            result.certain = !marked && runs.is_some_and(|runs| runs >= SAME_RUNS_MIN);
            return result;
        }
        let evidence = match self.worst {
            true => self.at_worst(overall.and_then(|overall| overall.worst), comparison, &complete),
            false => overall.and_then(|overall| {
                let evidence = GateEvidence {
                    difference_pct: overall.difference_pct?,
                    interval_pct: overall.interval_pct,
                    p: self.over_all(&complete),
                };
                Some((evidence, self.decided(&evidence)))
            }),
        };
        let Some((evidence, decided)) = evidence else { return result };
        let decided = decided.filter(|_| !marked);
        GateResult {
            difference_pct: Some(evidence.difference_pct),
            interval_pct: evidence.interval_pct,
            p: evidence.p,
            holds: decided.unwrap_or_else(|| self.keeps(evidence.difference_pct)),
            certain: decided.is_some(),
            ..result
        }
    }

    fn over_all(&self, complete: &[&MeasureComparison]) -> Option<f64> {
        let moved: Vec<(Vec<f64>, &[f64])> =
            complete.iter().map(|c| (self.at_limit(&c.a_runs), c.b_runs.as_slice())).collect();
        match moved.as_slice() {
            [(a, b)] => is_repeated(a, b).then(|| mann_whitney(a, b))?.map(|test| test.p),
            many => stratified(many.iter().map(|(a, b)| (a.as_slice(), *b))),
        }
    }

    /// The evidence of the worst point. All points must show that they keep the limit; one that shows
    /// that it does not decides, with its probability adjusted for the number of points.
    fn at_worst(
        &self,
        worst: Option<(usize, f64)>,
        comparison: &RunComparison,
        complete: &[&MeasureComparison],
    ) -> Option<(GateEvidence, Option<bool>)> {
        let chances: Vec<Option<f64>> = complete.iter().map(|compared| self.over_all(&[compared])).collect();
        let evidence = |compared: &MeasureComparison, p| {
            Some(GateEvidence {
                difference_pct: compared.difference_pct?,
                interval_pct: compared.interval_pct,
                p,
            })
        };
        let decided = |chances: &[Option<f64>]| -> Vec<Option<bool>> {
            let each = complete.iter().zip(chances);
            each.map(|(compared, p)| self.decided(&evidence(compared, *p)?)).collect()
        };
        let is_broken = decided(&adjusted(&chances)).contains(&Some(false));
        let is_kept = decided(&chances).iter().all(|kept| *kept == Some(true));
        let point = &comparison.points[worst?.0];
        let shown = point.measures.iter().find(|compared| compared.measure == self.measure)?;
        let p = self.over_all(&[shown]);
        Some((evidence(shown, p)?, if is_broken { Some(false) } else { is_kept.then_some(true) }))
    }
}

fn is_repeated(a: &[f64], b: &[f64]) -> bool {
    a.len().max(b.len()) > 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn comparison_gates_are_parsed() {
        let gate: ComparisonGate = "ops_per_s >= -3%".parse().unwrap();
        assert_eq!((gate.worst, gate.bound, gate.limit_pct), (false, GateDirection::AtLeast, -3.0));
        let gate: ComparisonGate = " worst service_p99_us<=10.5 % ".parse().unwrap();
        assert_eq!((gate.worst, gate.measure.as_str(), gate.limit_pct), (true, "service_p99_us", 10.5));
    }

    #[test]
    fn invalid_gate_error_states_the_reason() {
        for (text, part) in [
            ("ops_per_s > 3%", "is missing"),
            (">= 3%", "no measure"),
            ("ops_per_s >= 3", "end in %"),
            ("ops_per_s >= x%", "not a number"),
            ("ops_per_s >= inf%", "not a number"),
            ("the ops_per_s >= 3%", "more than one"),
            ("ops;x >= 3%", "not a name"),
        ] {
            let error = text.parse::<ComparisonGate>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn gate_parser_never_panics_on_any_text(text in ".{0,60}") {
            let _ = text.parse::<ComparisonGate>();
        }

        #[test]
        fn displayed_host_spec_parses_back(worst: bool, measure in "[a-z][a-z0-9_]{0,12}", least: bool, limit in -1e6f64..1e6) {
            let bound = if least { GateDirection::AtLeast } else { GateDirection::AtMost };
            prop_assume!(measure != "worst");
            let gate = ComparisonGate { worst, measure, bound, limit_pct: limit };
            prop_assert_eq!(gate.to_string().parse::<ComparisonGate>().unwrap(), gate);
        }
    }
}
