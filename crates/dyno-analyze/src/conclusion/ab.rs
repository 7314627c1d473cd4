//! The answer of an A/B comparison: which side is better, or why that cannot be said.

use dyno_record::{RunId, Unit};
use serde::{Deserialize, Serialize};

use super::{Conclusion, Figures};
use crate::compare::{Comparison, GateResult, Overall, SIGNIFICANCE, Verdict, background_words};
use crate::number::fixed;
use crate::points::{Measure, phrase};
use crate::varied::Varied;

/// One side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AbSide {
    /// What it is called, with the settings that make it: `a (work_unit = 64)`.
    pub name: String,
    /// Its runs, valid or not.
    pub runs: Vec<RunId>,
}

/// The figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ab {
    /// The side that the other is held against.
    pub a: AbSide,
    /// The other side.
    pub b: AbSide,
    /// The comparison; absent where a side has no valid run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Comparison>,
    /// Limits that it had to hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<GateResult>,
}

/// The conclusion of the A/B comparison named `of`.
pub fn conclusion(of: &str, stopped: Option<String>, figures: Ab) -> Conclusion {
    let overall = |comparison: &Comparison| comparison.overall.iter().find(|o| o.points > 0).cloned();
    let leading = figures.comparison.as_ref().and_then(overall);
    let (line, mut words) = match (&figures.comparison, leading) {
        (Some(comparison), Some(leading)) => {
            let others = comparison.overall.iter().filter(|o| o.points > 0 && o.measure != leading.measure);
            (line(&figures, comparison, &leading), others.map(|o| other(comparison, o)).collect())
        }
        (Some(_), None) => ("no comparison: no measure is on both sides".to_owned(), Vec::new()),
        (None, _) => ("no comparison: a side has no valid run".to_owned(), Vec::new()),
    };
    words.extend(
        figures
            .gates
            .iter()
            .map(|result| format!("gate {}: {}", result.gate, if result.holds { "holds" } else { "broken" })),
    );
    if let Some(comparison) = &figures.comparison {
        words.extend(comparison.notes.iter().cloned());
        words.extend(comparison.others.iter().cloned());
        words.extend(comparison.varied.iter().map(Varied::words));
        words.extend(comparison.left_out.iter().map(|(run, why)| format!("left out: {run}, {why}")));
    }
    Conclusion::new(of, stopped, line, words, Figures::Ab(Box::new(figures)))
}

fn line(ab: &Ab, comparison: &Comparison, leading: &Overall) -> String {
    let (a, b, margin) = (&ab.a.name, &ab.b.name, fixed(comparison.margin_pct, 1));
    let mut by = by(comparison, leading);
    if !comparison.not_durable.is_empty() {
        by = format!("{by}; beware, {}", comparison.not_durable.join("; "));
    }
    match leading.verdict {
        Verdict::Faster => format!("{b} is faster than {a}: {by}"),
        Verdict::Slower => format!("{b} is slower than {a}: {by}"),
        Verdict::More => format!("{b} has more than {a}: {by}"),
        Verdict::Less => format!("{b} has less than {a}: {by}"),
        Verdict::Same => format!("{b} and {a} are the same within ± {margin} %: {by}"),
        Verdict::Unsure => {
            let why = unsure(leading, comparison.runs);
            format!("inconclusive at ±{margin} % whether {b} and {a} differ: {by}{why}")
        }
        Verdict::OneRunEach => format!("one run of each side is no verdict on {b} against {a}: {by}"),
        Verdict::Confounded => {
            let background = background_words(&comparison.background, a, b).unwrap_or_default();
            format!("confounded, no verdict on {b} against {a}: {background}; {by}")
        }
        Verdict::OthersHadPart => {
            format!("no verdict on {b} against {a}, because the figures include other load: {by}")
        }
    }
}

/// Why an interval that leaves out 0 is no verdict: as few runs lie as far apart by chance, too.
fn unsure(leading: &Overall, runs: (usize, usize)) -> String {
    let apart = leading.interval_pct.is_some_and(|(low, high)| low > 0.0 || high < 0.0);
    match leading.p.filter(|&p| apart && p > SIGNIFICANCE) {
        Some(p) => format!("; p = {} (n = {} + {})", fixed(p, 2), runs.0, runs.1),
        None => String::new(),
    }
}

/// Another measure in one sentence: `mean service time: 61.0 µs → 64.2 µs, +5.25 %: slower`.
fn other(comparison: &Comparison, overall: &Overall) -> String {
    // Rates say what they are of; times and shares do not.
    let bare = |measure: &&Measure| matches!(measure.unit, Unit::Microseconds | Unit::Percent);
    let head = Measure::find(&overall.measure).filter(bare);
    let head = head.map_or_else(String::new, |measure| format!("{}: ", measure.label));
    format!("{head}{}: {}", by(comparison, overall), overall.verdict.words())
}

/// Both sides and the difference, with what it rests on.
fn by(comparison: &Comparison, overall: &Overall) -> String {
    let mut words = String::new();
    let at = |point: &crate::compare::PointCompared| {
        point.measures.iter().find(|compared| compared.measure == overall.measure).cloned()
    };
    if let [point] = comparison.points.as_slice()
        && let Some((a, b)) = at(point).and_then(|compared| compared.a.zip(compared.b))
    {
        words = format!("{} → {}", phrase(&overall.measure, a), phrase(&overall.measure, b));
    }
    let signed = |value: f64| format!("{}{}", if value > 0.0 { "+" } else { "" }, fixed(value, 2));
    if let Some(difference) = overall.difference_pct {
        let joint = if words.is_empty() { "" } else { ", " };
        words.push_str(&format!("{joint}{} %", signed(difference)));
    }
    if let Some((low, high)) = overall.interval_pct {
        words.push_str(&format!(" (95 %: {} to {} %)", signed(low), signed(high)));
    }
    words
}
