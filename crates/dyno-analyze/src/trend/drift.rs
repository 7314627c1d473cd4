//! Detects a drift: whether runs rise or fall over time, and by how much.

use serde::Serialize;

use crate::compare::rank::two_sided;
use crate::compare::ratio::median;

/// Fewest runs for a drift: the normal approximation of the test needs about ten.
const RUNS_MIN: usize = 10;

/// Most runs; older ones are left out, because the slope compares every pair.
const RUNS_MAX: usize = 2_000;

/// The drift of a measure over runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Drift {
    /// Number of runs that were examined.
    pub runs: usize,
    /// The slope's share of the median, from the first run to the last, %.
    pub total_pct: f64,
    /// Probability of as many ordered pairs in runs of random order (Mann 1945, Kendall; corrected
    /// for ties and continuity).
    pub p: f64,
}

/// The drift of `values`, the oldest first; absent with fewer than ten runs, or where the median is
/// 0.
pub fn drift(values: &[f64]) -> Option<Drift> {
    let values = &values[values.len().saturating_sub(RUNS_MAX)..];
    let runs = values.len();
    if runs < RUNS_MIN {
        return None;
    }
    let mut slopes = Vec::with_capacity(runs * (runs - 1) / 2);
    let mut in_order = 0i64;
    for (i, &earlier) in values.iter().enumerate() {
        for (j, &later) in values.iter().enumerate().skip(i + 1) {
            slopes.push((later - earlier) / (j - i) as f64);
            in_order += i64::from(later > earlier) - i64::from(later < earlier);
        }
    }
    let middle = median(&mut values.to_vec());
    // The median of all pairs' slopes (Theil 1950, Sen 1968) is robust against a few outliers.
    let slope = median(&mut slopes);
    let total_pct = 100.0 * slope * (runs - 1) as f64 / middle.abs();
    total_pct.is_finite().then(|| Drift { runs, total_pct, p: kendall(values, in_order) })
}

fn kendall(values: &[f64], in_order: i64) -> f64 {
    let weight = |n: f64| n * (n - 1.0) * (2.0 * n + 5.0);
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let ties: f64 = sorted.chunk_by(|x, y| x == y).map(|tie| weight(tie.len() as f64)).sum();
    let variance = (weight(values.len() as f64) - ties) / 18.0;
    if variance <= 0.0 {
        return 1.0;
    }
    two_sided((in_order.abs() as f64 - 1.0).max(0.0) / variance.sqrt()).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straight_line_drifts_by_its_slope() {
        let values: Vec<f64> = (0..11).map(|i| 100.0 - f64::from(i)).collect();
        let drift = drift(&values).unwrap();
        assert!((drift.total_pct + 100.0 * 10.0 / 95.0).abs() < 1e-9);
        assert!(drift.p < 0.001);
    }

    /// S = 31 of n = 10 without ties has z = 30 ÷ √125 = 2.683 and p = 0.0073 (Gilbert 1987, 16.4: the formula).
    #[test]
    fn drift_p_value_matches_the_formula() {
        let values = [1.0, 3.0, 2.0, 4.0, 6.0, 5.0, 8.0, 10.0, 9.0, 7.0];
        let drift = drift(&values).unwrap();
        let z: f64 = 32.0 / 125.0f64.sqrt();
        assert!((drift.p - two_sided(z)).abs() < 1e-12, "{}", drift.p);
    }

    #[test]
    fn noise_and_few_runs_show_no_drift() {
        assert!(drift(&[5.0; 9]).is_none());
        assert_eq!(drift(&[5.0; 12]).unwrap().p, 1.0);
        assert!(drift(&[0.0; 12]).is_none());
    }
}
