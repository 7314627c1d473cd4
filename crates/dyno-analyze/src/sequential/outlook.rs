//! Whether the remaining pairs of a sequential test are likely to decide it.

use super::normal::{cumulative, two_sided_quantile};
use super::plan::{ALPHA, SequentialPlan};
use crate::compare::ratio::MedianRatio;

/// A test whose probability of a decision is below this stops.
const UNLIKELY: f64 = 0.10;

/// The normal quantile of 80 %, the power for which the detectable difference is stated.
const POWER_QUANTILE: f64 = 0.841_621;

/// What the rest of a test can be expected to show, from one look.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SequentialOutlook {
    /// Conditional power: the probability that the test decides by its last look, if the difference
    /// is as large as it now looks (Lan, Simon and Halperin 1982; Jennison and Turnbull 2000, 10.2).
    pub decides: f64,
    /// The smallest difference, %, that the test would find in 80 % of the cases.
    pub detectable_pct: f64,
}

impl SequentialOutlook {
    /// The outlook after `pairs` pairs, when the looks have used `spent` of the error rate, the last
    /// of them the level `level`. The logarithm of the ratio is taken as normal.
    pub fn new(
        plan: SequentialPlan,
        pairs: u32,
        ratio: MedianRatio,
        (level, spent): (f64, f64),
        margin_pct: f64,
    ) -> Self {
        let share = f64::from(pairs) / f64::from(plan.pairs_max.max(1));
        let (difference, margin) = (ratio.ratio.ln(), (margin_pct / 100.0).ln_1p());
        let half = (ratio.high.ln() - ratio.low.ln()) / 2.0;
        let error = half / two_sided_quantile(level);
        // Most favorable: the last look has all of the error rate that is left.
        let last_quantile = two_sided_quantile((ALPHA - spent).max(f64::MIN_POSITIVE));
        let last_error = error * share.sqrt();
        let last_half = last_quantile * last_error;
        let spread = error * (share * (1.0 - share)).sqrt();
        let below = |bound: f64| match spread > 0.0 {
            true => cumulative((bound - difference) / spread),
            false => f64::from(u8::from(difference <= bound)),
        };
        let apart = last_half.max(margin);
        let differs = below(-apart) + 1.0 - below(apart);
        let room = margin - last_half;
        let equal = if room > 0.0 { below(room) - below(-room) } else { 0.0 };
        let detectable = ((last_quantile + POWER_QUANTILE) * last_error).max(margin);
        Self { decides: (differs + equal).min(1.0), detectable_pct: 100.0 * detectable.exp_m1() }
    }

    /// Whether a decision has become so unlikely that the test stops.
    pub fn is_futile(&self) -> bool {
        self.decides < UNLIKELY
    }
}
