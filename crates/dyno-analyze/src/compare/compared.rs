//! The result of a comparison for one measure, at a point and over all points.

use dyno_record::Unit;
use serde::{Deserialize, Serialize};

use super::ratio::{MedianRatio, RatioDraws};
use super::verdict::ComparisonVerdict;
use crate::points::Better;

/// Default margin in percent: differences up to it are not significant. Single runs of a quiet
/// machine differ by this much.
pub const MARGIN_PCT: f64 = 2.0;

/// How two sides are compared.
#[derive(Debug, Clone)]
pub struct ComparisonRules {
    /// Differences up to this many percent are not significant.
    pub margin_pct: f64,
    /// The measures to compare; empty means [`MEASURES_SHOWN`](super::MEASURES_SHOWN) and all
    /// measures of imported records.
    pub measures: Vec<String>,
}

impl Default for ComparisonRules {
    fn default() -> Self {
        Self { margin_pct: MARGIN_PCT, measures: Vec::new() }
    }
}

/// One measure at one point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeasureComparison {
    /// The measure, for example `ops_per_s`.
    pub measure: String,
    pub unit: Unit,
    /// Median of the first side's runs; absent unless each run has the measure.
    pub a: Option<f64>,
    /// Median of the second side's runs.
    pub b: Option<f64>,
    /// Each of the first side's runs.
    pub a_runs: Vec<f64>,
    /// Each of the second side's runs.
    pub b_runs: Vec<f64>,
    /// The second side minus the first, in the unit.
    pub difference: Option<f64>,
    /// The same in percent of the first side; absent where that is nearly zero.
    pub difference_pct: Option<f64>,
    /// Whether the figures include background activity: of the first side, of the second.
    pub marked: (bool, bool),
    /// The 95 % interval of the difference, %; absent with one run each.
    pub interval_pct: Option<(f64, f64)>,
    /// Probability of ranks at least as far apart when both sides are the same; absent with one run
    /// each.
    pub p: Option<f64>,
    /// The same probability, adjusted for the number of points.
    pub p_adjusted: Option<f64>,
    pub verdict: ComparisonVerdict,
}

/// One point with all its measures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PointComparison {
    /// The value on each axis.
    pub at: Vec<String>,
    /// Each measure, in the requested order.
    pub measures: Vec<MeasureComparison>,
}

/// One measure over all points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OverallComparison {
    pub measure: String,
    /// Points that have the measure on both sides.
    pub points: usize,
    /// Whether any of the figures includes background activity.
    pub marked: bool,
    /// Whether it counts the run's own work only, so a mark means background activity beside it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub run_scoped: bool,
    /// Geometric mean of the points' ratios, as a difference in percent.
    pub difference_pct: Option<f64>,
    /// Its 95 % interval, %; absent with one run each.
    pub interval_pct: Option<(f64, f64)>,
    /// Probability of ranks at least as far apart over all points when both sides are the same.
    pub p: Option<f64>,
    /// The worst point for the second side: its place in
    /// [`RunComparison::points`](super::RunComparison::points) and its difference in percent.
    pub worst: Option<(usize, f64)>,
    pub verdict: ComparisonVerdict,
}

/// One measure at every point.
pub(crate) struct ComparisonColumn {
    pub(crate) measure: String,
    pub(crate) better: Better,
    pub(crate) compared: Vec<MeasureComparison>,
    pub(crate) draws: Vec<Option<RatioDraws>>,
    /// Whether it counts the run's own work only.
    pub(crate) run_scoped: bool,
}

pub(super) fn interval_pct(ratio: MedianRatio) -> (f64, f64) {
    (100.0 * (ratio.low - 1.0), 100.0 * (ratio.high - 1.0))
}
