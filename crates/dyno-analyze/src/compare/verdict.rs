//! The verdict on one measure: which side is better, or that it is inconclusive.

use serde::{Deserialize, Serialize};

use super::ratio::MedianRatio;
use crate::points::Better;

/// Largest probability, adjusted for the number of points, at which sides count as different.
pub const SIGNIFICANCE: f64 = 0.05;

/// Fewest runs of each side for "same": with fewer, the interval shows the spread of the runs and
/// little of the median.
pub(super) const SAME_RUNS_MIN: usize = 3;

/// The verdict on one measure: how the second side compares with the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ComparisonVerdict {
    /// The second side is better by more than the margin.
    Faster,
    /// The second side is worse by more than the margin.
    Slower,
    /// It is higher by more than the margin, for a measure without a better direction.
    More,
    /// It is lower by more than the margin, for such a measure.
    Less,
    /// Any difference lies within the margin.
    Same,
    /// The runs would decide, but the figures of a side include background activity, or that cannot
    /// be excluded.
    OthersHadPart,
    /// The runs would decide, but others worked more during the runs of one side.
    Confounded,
    /// The runs do not decide.
    Unsure,
    /// There is one run of each side, which never decides.
    OneRunEach,
}

impl ComparisonVerdict {
    /// The verdict where background activity differs between the sides.
    pub(crate) fn confounded(self) -> Self {
        match self {
            told @ (Self::Unsure | Self::OneRunEach | Self::OthersHadPart) => told,
            _ => Self::Confounded,
        }
    }

    /// The verdict as shown in tables.
    pub fn words(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::More => "more",
            Self::Less => "less",
            Self::Same => "equal",
            Self::OthersHadPart => "includes other load",
            Self::Confounded => "confounded",
            Self::Unsure => "inconclusive",
            Self::OneRunEach => "one run each: no verdict",
        }
    }
}

/// What is known of one measure at one point, or over all points.
#[derive(Debug, Clone, Copy)]
pub(super) struct VerdictEvidence {
    /// Fewest runs of each side at any point.
    pub(super) runs: (usize, usize),
    /// Most runs of either side at any point.
    pub(super) runs_max: usize,
    pub(super) ratio: Option<MedianRatio>,
    /// Probability of the observed ranks if the sides are alike, adjusted.
    pub(super) p: Option<f64>,
    /// Whether both sides are nearly zero, so there is neither a ratio nor a difference.
    pub(super) near_zero: bool,
    /// Whether the figures include background activity.
    pub(super) marked: bool,
}

/// Decides the verdict. Different: the rank test and the interval both say so, beyond the margin.
/// Same: the interval lies within the margin.
pub(super) fn judge(evidence: &VerdictEvidence, better: Better, margin_pct: f64) -> ComparisonVerdict {
    match judge_unmarked(evidence, better, margin_pct) {
        told @ (ComparisonVerdict::Unsure | ComparisonVerdict::OneRunEach) => told,
        _ if evidence.marked => ComparisonVerdict::OthersHadPart,
        told => told,
    }
}

fn judge_unmarked(evidence: &VerdictEvidence, better: Better, margin_pct: f64) -> ComparisonVerdict {
    if evidence.runs_max <= 1 {
        return ComparisonVerdict::OneRunEach;
    }
    let enough = evidence.runs.0 >= SAME_RUNS_MIN && evidence.runs.1 >= SAME_RUNS_MIN;
    let Some(ratio) = evidence.ratio else {
        // Without a ratio, the only possible finding is that both sides are nearly zero.
        return if evidence.near_zero && enough {
            ComparisonVerdict::Same
        } else {
            ComparisonVerdict::Unsure
        };
    };
    let [middle, low, high] = [ratio.ratio, ratio.low, ratio.high].map(|ratio| 100.0 * (ratio - 1.0));
    if enough && low >= -margin_pct && high <= margin_pct {
        return ComparisonVerdict::Same;
    }
    let apart = evidence.p.is_some_and(|p| p <= SIGNIFICANCE) && (low > 0.0 || high < 0.0);
    if !apart || middle.abs() <= margin_pct {
        return ComparisonVerdict::Unsure;
    }
    match (better, middle > 0.0) {
        (Better::Higher, true) | (Better::Lower, false) => ComparisonVerdict::Faster,
        (Better::Higher, false) | (Better::Lower, true) => ComparisonVerdict::Slower,
        (Better::Neither, true) => ComparisonVerdict::More,
        (Better::Neither, false) => ComparisonVerdict::Less,
    }
}

/// Adjusts the probabilities of many tests, so at most the stated share of the differences reported
/// is false (Benjamini and Hochberg 1995). Where nothing differs, this is as strict as a correction
/// for the number of tests.
pub(crate) fn adjusted(chances: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut order: Vec<(usize, f64)> =
        chances.iter().enumerate().filter_map(|(i, p)| Some((i, (*p)?))).collect();
    order.sort_by(|x, y| x.1.total_cmp(&y.1));
    let tests = order.len() as f64;
    let mut adjusted = vec![None; chances.len()];
    let mut smallest = 1.0f64;
    for (rank, &(i, p)) in order.iter().enumerate().rev() {
        smallest = smallest.min(p * tests / (rank + 1) as f64);
        adjusted[i] = Some(smallest);
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(runs: usize, low: f64, middle: f64, high: f64, p: f64) -> VerdictEvidence {
        VerdictEvidence {
            runs: (runs, runs),
            runs_max: runs,
            ratio: Some(MedianRatio { ratio: middle, low, high }),
            p: Some(p),
            near_zero: false,
            marked: false,
        }
    }

    #[test]
    fn one_run_per_side_never_gives_verdict() {
        let clear = evidence(1, 0.5, 0.5, 0.5, 0.0);
        assert_eq!(judge(&clear, Better::Higher, 2.0), ComparisonVerdict::OneRunEach);
    }

    #[test]
    fn verdict_depends_on_direction_of_measure() {
        let less = evidence(5, 0.85, 0.88, 0.91, 0.01);
        assert_eq!(judge(&less, Better::Higher, 2.0), ComparisonVerdict::Slower);
        assert_eq!(judge(&less, Better::Lower, 2.0), ComparisonVerdict::Faster);
        assert_eq!(judge(&less, Better::Neither, 2.0), ComparisonVerdict::Less);
        let more = evidence(5, 1.05, 1.06, 1.07, 0.01);
        assert_eq!(judge(&more, Better::Higher, 2.0), ComparisonVerdict::Faster);
    }

    #[test]
    fn verdict_is_qualified_if_values_include_foreign_activity() {
        let more = VerdictEvidence { marked: true, ..evidence(5, 1.05, 1.06, 1.07, 0.01) };
        assert_eq!(judge(&more, Better::Higher, 2.0), ComparisonVerdict::OthersHadPart);
        let same = VerdictEvidence { marked: true, ..evidence(9, 0.985, 0.99, 0.995, 0.001) };
        assert_eq!(judge(&same, Better::Higher, 2.0), ComparisonVerdict::OthersHadPart);
        let single_run = VerdictEvidence { marked: true, ..evidence(1, 0.5, 0.5, 0.5, 0.0) };
        assert_eq!(judge(&single_run, Better::Higher, 2.0), ComparisonVerdict::OneRunEach);
    }

    #[test]
    fn near_zero_on_both_sides_is_same() {
        let nothing =
            |runs| VerdictEvidence { near_zero: true, ratio: None, ..evidence(runs, 1.0, 1.0, 1.0, 0.01) };
        assert_eq!(judge(&nothing(3), Better::Neither, 2.0), ComparisonVerdict::Same);
        assert_eq!(judge(&nothing(2), Better::Neither, 2.0), ComparisonVerdict::Unsure, "two runs");
    }

    #[test]
    fn verdict_is_unsure_where_tests_disagree() {
        assert_eq!(
            judge(&evidence(3, 0.85, 0.88, 0.91, 0.1), Better::Higher, 2.0),
            ComparisonVerdict::Unsure,
            "few runs"
        );
        assert_eq!(
            judge(&evidence(5, 0.85, 0.92, 1.01, 0.04), Better::Higher, 2.0),
            ComparisonVerdict::Unsure,
            "wide"
        );
        assert_eq!(
            judge(&evidence(9, 0.96, 0.985, 0.99, 0.01), Better::Higher, 2.0),
            ComparisonVerdict::Unsure,
            "near"
        );
    }

    #[test]
    fn difference_within_margin_is_same_even_if_significant() {
        assert_eq!(
            judge(&evidence(9, 0.985, 0.99, 0.995, 0.001), Better::Higher, 2.0),
            ComparisonVerdict::Same
        );
        assert_eq!(
            judge(&evidence(2, 0.999, 1.0, 1.001, 1.0), Better::Higher, 2.0),
            ComparisonVerdict::Unsure,
            "two runs"
        );
    }

    /// The example of Benjamini and Hochberg (1995), table 1: at 5 % four of fifteen are significant.
    #[test]
    fn p_values_are_adjusted_as_published() {
        let p = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719,
            0.6528, 0.7590, 1.0,
        ];
        let adjusted = adjusted(&p.map(Some));
        assert_eq!(adjusted.iter().filter(|p| p.unwrap() <= 0.05).count(), 4);
        assert!((adjusted[3].unwrap() - 0.0095 * 15.0 / 4.0).abs() < 1e-12);
        assert_eq!(super::adjusted(&[None, Some(0.2)]), [None, Some(0.2)]);
    }
}
