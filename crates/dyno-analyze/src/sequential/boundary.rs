//! The boundary of the rank test at one look, and the interval that it gives.

use super::normal::two_sided_quantile;
use crate::compare::ratio::MedianRatio;

/// Most runs of both sides together for which the distribution of U is exact.
const EXACT_RUNS_MAX: usize = 40;

/// When the rank test at one look decides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Boundary {
    /// The probability of crossing it when the sides are alike, at most.
    pub level: f64,
    /// The rank test rejects when the smaller of U and its mirror image is at most this.
    critical: usize,
}

impl Boundary {
    /// The boundary for this many runs of each side whose level is at most `level`; absent where not
    /// even a complete separation of the sides has so small a probability.
    pub(super) fn new(runs: (usize, usize), level: f64) -> Option<Self> {
        let (a, b) = runs;
        if a == 0 || b == 0 || !(level > 0.0 && level < 1.0) {
            return None;
        }
        if a + b > EXACT_RUNS_MAX {
            // Mann and Whitney 1947: the normal approximation, with correction for continuity.
            let pairs = (a * b) as f64;
            let deviation = (pairs * (a + b + 1) as f64 / 12.0).sqrt();
            let critical = pairs / 2.0 - 0.5 - two_sided_quantile(level) * deviation;
            return (critical >= 0.0).then_some(Self { level, critical: critical as usize });
        }
        let mut cumulated = 0.0;
        let mut boundary = None;
        for (critical, probability) in distribution(a, b).into_iter().enumerate() {
            cumulated += probability;
            if 2.0 * cumulated > level {
                break;
            }
            boundary = Some(Self { level: 2.0 * cumulated, critical });
        }
        boundary
    }

    /// The ratio of the second side `b` to the first side `a`: that of the medians, with the ratios
    /// that the test of this look does not reject (Hodges and Lehmann 1963). Absent where a value is
    /// not above zero.
    ///
    /// The interval leaves out 1 exactly where the test rejects that both sides are alike. Ties count
    /// against a rejection, so they do not raise the level.
    pub fn ratio(&self, a: &[f64], b: &[f64]) -> Option<MedianRatio> {
        if a.is_empty() || b.is_empty() || !a.iter().chain(b).all(|v| v.is_finite() && *v > 0.0) {
            return None;
        }
        let mut logs: Vec<f64> = a.iter().flat_map(|a| b.iter().map(move |b| (b / a).ln())).collect();
        logs.sort_unstable_by(f64::total_cmp);
        let (low, high) = (*logs.get(self.critical)?, *logs.iter().rev().nth(self.critical)?);
        let median = |values: &[f64]| crate::compare::ratio::median(&mut values.to_vec());
        let ratio = median(b) / median(a);
        Some(MedianRatio { ratio, low: low.exp().min(ratio), high: high.exp().max(ratio) })
    }
}

/// The probability of each value of U without ties when the sides are alike: the recursion of Mann
/// and Whitney (Annals of Mathematical Statistics 18, 1947), over the runs of the first side.
fn distribution(a: usize, b: usize) -> Vec<f64> {
    // ways[n][u]: the arrangements of n runs of the first side among all of the second.
    let mut ways = vec![vec![0.0f64; a * b + 1]; a + 1];
    ways[0][0] = 1.0;
    // A run of the first side may exceed 0 to b runs of the second; equal counts are one arrangement.
    for exceeded in 0..=b {
        for n in 1..=a {
            for u in exceeded..=a * b {
                ways[n][u] += ways[n - 1][u - exceeded];
            }
        }
    }
    let total: f64 = ways[a].iter().sum();
    ways.swap_remove(a).into_iter().map(|count| count / total).collect()
}
