//! What a comparison says of a measure, at a point and over all of them.

use dyno_record::Unit;
use serde::{Deserialize, Serialize};

use super::ratio::{Ratio, RatioDraws};
use super::verdict::Verdict;
use crate::points::Better;

/// Differences up to this many percent are no matter, unless the user says otherwise: what single runs of a quiet machine
/// are apart.
pub const MARGIN_PCT: f64 = 2.0;

/// How to compare.
#[derive(Debug, Clone)]
pub struct Rules {
    /// Differences up to this many percent are no matter.
    pub margin_pct: f64,
    /// The measures to compare; none is [`MEASURES_SHOWN`](super::MEASURES_SHOWN) and whatever imported records hold.
    pub measures: Vec<String>,
}

impl Default for Rules {
    fn default() -> Self {
        Self { margin_pct: MARGIN_PCT, measures: Vec::new() }
    }
}

/// One measure at one point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// The measure: `ops_per_s`.
    pub measure: String,
    /// Its unit.
    pub unit: Unit,
    /// Median of the first side's runs; absent where a run of it cannot tell.
    pub a: Option<f64>,
    /// Median of the second side's runs.
    pub b: Option<f64>,
    /// Each of the first side's runs.
    pub a_runs: Vec<f64>,
    /// Each of the second side's runs.
    pub b_runs: Vec<f64>,
    /// How much more the second side is, in the unit.
    pub difference: Option<f64>,
    /// The same in percent of the first side; absent where that is nearly zero.
    pub difference_pct: Option<f64>,
    /// Whether others had part in the figures: of the first side, of the second.
    pub marked: (bool, bool),
    /// The 95 % interval of the difference, %; absent with one run each.
    pub interval_pct: Option<(f64, f64)>,
    /// Chance of runs ranked at least as far apart when both sides are the same; absent with one run each.
    pub p: Option<f64>,
    /// The same, adjusted for the number of points.
    pub p_adjusted: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
}

/// One point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PointCompared {
    /// The value on each axis.
    pub at: Vec<String>,
    /// Each measure, in the order asked for.
    pub measures: Vec<Compared>,
}

/// One measure over all points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Overall {
    /// The measure.
    pub measure: String,
    /// Points that have it on both sides.
    pub points: usize,
    /// Whether others had part in any of the figures.
    pub marked: bool,
    /// Geometric mean of the points' ratios, as a difference in percent.
    pub difference_pct: Option<f64>,
    /// Its 95 % interval, %; absent with one run each.
    pub interval_pct: Option<(f64, f64)>,
    /// Chance of ranks at least as far apart over all points when both sides are the same.
    pub p: Option<f64>,
    /// The point that is worst for the second side: its place in [`Comparison::points`](super::Comparison::points) and its difference in percent.
    pub worst: Option<(usize, f64)>,
    /// The verdict.
    pub verdict: Verdict,
}

/// One measure at every point.
pub(super) struct Column {
    pub(super) measure: String,
    pub(super) better: Better,
    pub(super) compared: Vec<Compared>,
    pub(super) draws: Vec<Option<RatioDraws>>,
    /// Whether it counts the run's own work.
    pub(super) run_scoped: bool,
}

pub(super) fn interval_pct(ratio: Ratio) -> (f64, f64) {
    (100.0 * (ratio.low - 1.0), 100.0 * (ratio.high - 1.0))
}
