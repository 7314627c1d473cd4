//! Gates: limits that a comparison must keep, for use in scripts (`ops_per_s >= -3%`).

use serde::{Deserialize, Serialize};

use super::RunComparison;
use super::overall::nothing;

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

/// The result of a gate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GateResult {
    pub gate: ComparisonGate,
    /// The difference that was compared with the limit, %. Absent where the measure is missing or
    /// nearly zero on the first side only; the gate then fails. Nearly zero on both sides is a
    /// difference of 0.
    pub difference_pct: Option<f64>,
    /// Whether the difference keeps the limit.
    pub holds: bool,
    /// Whether the whole interval is on the same side of the limit, so another set of runs would
    /// give the same result.
    pub certain: bool,
    /// Whether the figures include background activity, or it differs between the sides; then no
    /// result is certain.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub marked: bool,
}

impl ComparisonGate {
    /// Compares the difference with the limit. The difference decides; the interval only says how
    /// certain that is.
    pub fn check(&self, comparison: &RunComparison) -> GateResult {
        let overall = comparison.overall.iter().find(|overall| overall.measure == self.measure);
        // Nearly zero everywhere is no difference, even if rounding would give a percentage.
        let at = comparison
            .points
            .iter()
            .flat_map(|point| point.measures.iter().find(|c| c.measure == self.measure));
        let mut complete = at.filter(|c| c.a.is_some() && c.b.is_some()).peekable();
        let nothing = complete.peek().is_some() && complete.all(nothing);
        let (difference, interval) = match (overall, self.worst) {
            (None, _) => (None, None),
            (Some(_), _) if nothing => (Some(0.0), Some((0.0, 0.0))),
            (Some(overall), false) => (overall.difference_pct, overall.interval_pct),
            (Some(overall), true) => {
                let worst = overall.worst.map(|(point, _)| &comparison.points[point]);
                let compared = worst.and_then(|p| p.measures.iter().find(|c| c.measure == self.measure));
                (compared.and_then(|c| c.difference_pct), compared.and_then(|c| c.interval_pct))
            }
        };
        let within = |difference: f64| match self.bound {
            // A limit of -3% is kept by a shown -3.0, regardless of binary fractions.
            GateDirection::AtLeast => difference >= self.limit_pct - 1e-9,
            GateDirection::AtMost => difference <= self.limit_pct + 1e-9,
        };
        let holds = difference.is_some_and(within);
        let marked = overall.is_some_and(|overall| overall.marked) || !comparison.background.is_empty();
        let certain =
            !marked && interval.is_some_and(|(low, high)| within(low) == holds && within(high) == holds);
        GateResult { gate: self.clone(), difference_pct: difference, holds, certain, marked }
    }
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
