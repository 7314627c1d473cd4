//! The conclusion of an A/B test: which side is better, or why it is inconclusive.

use dyno_record::{RunId, Unit};
use serde::{Deserialize, Serialize};

use super::sequential::SequentialResult;
use super::{Conclusion, ConclusionFigures, pairs};
use crate::compare::{
    ComparisonVerdict, GateResult, OverallComparison, RunComparison, SIGNIFICANCE, background_words,
};
use crate::number::fixed;
use crate::points::{Measure, phrase};
use crate::varied::RepeatVariation;

/// One side of the A/B test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AbSide {
    /// Its name, with the settings that define it: `a (work_unit = 64)`.
    pub name: String,
    /// Its runs, valid or not.
    pub runs: Vec<RunId>,
}

/// The figures behind the conclusion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AbResult {
    /// The baseline, with which the other side is compared.
    pub a: AbSide,
    pub b: AbSide,
    /// The comparison; absent where a side has no valid run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<RunComparison>,
    /// Limits that it had to keep.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<GateResult>,
    /// How the test stopped by itself; absent where its number of pairs was fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequential: Option<SequentialResult>,
    /// The server settings that differ between the sides, as `--setting` takes them: `work_mem=4MB,64MB`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub server_settings: Vec<String>,
}

impl AbResult {
    /// The measure that decides: the first that both sides have; absent without a comparison.
    pub fn leading(&self) -> Option<&OverallComparison> {
        self.comparison.as_ref()?.overall.iter().find(|overall| overall.points > 0)
    }
}

/// The conclusion of the A/B test named `of`.
pub fn conclusion(campaign_id: &str, stopped: Option<String>, figures: AbResult) -> Conclusion {
    let leading = figures.leading().cloned();
    let names = (figures.a.name.as_str(), figures.b.name.as_str());
    let (line, mut words) = match (&figures.comparison, leading) {
        (Some(comparison), Some(leading)) => {
            let secondary_measures =
                comparison.overall.iter().filter(|o| o.points > 0 && o.measure != leading.measure);
            (
                headline_words(names, comparison, &leading),
                secondary_measures.map(|o| other_measure_words(comparison, o)).collect(),
            )
        }
        (Some(_), None) => ("no comparison: no measure is on both sides".to_owned(), Vec::new()),
        (None, _) => ("no comparison: a side has no valid run".to_owned(), Vec::new()),
    };
    if let Some(sequential) = &figures.sequential {
        words.insert(0, sequential.sentence());
    }
    words.extend(
        figures.gates.iter().map(|result| format!("gate {}: {}", result.gate, result.outcome().words())),
    );
    if let Some(comparison) = &figures.comparison {
        words.extend(comparison.notes.iter().cloned());
        words.extend(comparison.others.iter().cloned());
        words.extend(comparison.varied.iter().map(RepeatVariation::words));
        words.extend(comparison.left_out.iter().map(|(run, why)| format!("left out: {run}, {why}")));
    }
    let next = pairs::next(campaign_id, &figures);
    let figures = ConclusionFigures::Ab(Box::new(figures));
    Conclusion::new(campaign_id, stopped, line, words, figures).followed_by(next)
}

/// The leading measure of a comparison as a headline: which side is better, by how much, or that it
/// is inconclusive; with interval, p and runs.
pub fn headline(comparison: &RunComparison) -> String {
    let Some(leading) = comparison.overall.iter().find(|overall| overall.points > 0) else {
        return "no comparison: no measure is on both sides at the same point".to_owned();
    };
    let words = headline_words((&comparison.a, &comparison.b), comparison, leading);
    match leading.p.filter(|_| !words.contains("; p ")) {
        Some(p) => format!("{words}{}", chance_words(p, comparison.runs)),
        None => words,
    }
}

fn headline_words((a, b): (&str, &str), comparison: &RunComparison, leading: &OverallComparison) -> String {
    let margin = fixed(comparison.margin_pct, 1);
    let mut difference_text = difference_words(comparison, leading);
    if !comparison.not_durable.is_empty() {
        difference_text = format!("{difference_text}; caution ({})", comparison.not_durable.join("; "));
    }
    if !comparison.unequal_work.is_empty() {
        let keys = comparison.unequal_work.join(" and ");
        let differ = if comparison.unequal_work.len() == 1 { "differs" } else { "differ" };
        return format!(
            "operations of {b} and {a} are not the same work ({keys} {differ}), so rates of them do not show which side is faster: {difference_text}"
        );
    }
    match leading.verdict {
        ComparisonVerdict::Faster => format!("{b} is faster than {a}: {difference_text}"),
        ComparisonVerdict::Slower => format!("{b} is slower than {a}: {difference_text}"),
        ComparisonVerdict::More => format!("{b} has more than {a}: {difference_text}"),
        ComparisonVerdict::Less => format!("{b} has less than {a}: {difference_text}"),
        ComparisonVerdict::Same => format!("{b} and {a} are equal within ± {margin} %: {difference_text}"),
        ComparisonVerdict::Unsure => {
            let why = unsure(leading, comparison.runs);
            format!("inconclusive at ±{margin} % whether {b} and {a} differ: {difference_text}{why}")
        }
        ComparisonVerdict::OneRunEach => {
            format!("no verdict on {b} against {a} from one run of each side: {difference_text}")
        }
        ComparisonVerdict::Confounded => {
            let background = background_words(&comparison.background, a, b).unwrap_or_default();
            format!("confounded, no verdict on {b} against {a}: {background}; {difference_text}")
        }
        ComparisonVerdict::OthersHadPart => {
            format!(
                "no verdict on {b} against {a}, because the figures include other load: {difference_text}"
            )
        }
    }
}

/// Why an interval without 0 gives no verdict: this few runs may differ as much by chance.
fn unsure(leading: &OverallComparison, runs: (usize, usize)) -> String {
    let apart = leading.interval_pct.is_some_and(|(low, high)| low > 0.0 || high < 0.0);
    match leading.p.filter(|&p| apart && p > SIGNIFICANCE) {
        Some(p) => chance_words(p, runs),
        None => String::new(),
    }
}

fn chance_words(p: f64, runs: (usize, usize)) -> String {
    let p =
        if p < 0.001 { "< 0.001".to_owned() } else { format!("= {}", fixed(p, if p < 0.1 { 3 } else { 2 })) };
    format!("; p {p} (n = {} + {})", runs.0, runs.1)
}

/// Another measure in one sentence: `mean service time: 61.0 µs → 64.2 µs, +5.25 %: slower`.
fn other_measure_words(comparison: &RunComparison, overall: &OverallComparison) -> String {
    // The unit of a rate names what it counts; the units of times and shares do not.
    let bare = |measure: &&Measure| matches!(measure.unit, Unit::Microseconds | Unit::Percent);
    let head = Measure::find(&overall.measure).filter(bare);
    let head = head.map_or_else(String::new, |measure| format!("{}: ", measure.label));
    format!("{head}{}: {}", difference_words(comparison, overall), overall.verdict.words())
}

/// Both sides and the difference, with its interval and runs.
fn difference_words(comparison: &RunComparison, overall: &OverallComparison) -> String {
    let mut words = String::new();
    let at = |point: &crate::compare::PointComparison| {
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
        let kind = comparison.interval_words();
        words.push_str(&format!(" ({kind}: {} to {} %)", signed(low), signed(high)));
    }
    words
}
