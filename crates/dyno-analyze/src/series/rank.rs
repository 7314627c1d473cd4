//! Finds figures that change together: Spearman's rank correlation, which requires neither
//! linearity nor a normal distribution.

use crate::compare::rank::two_sided;

/// Fewest pairs for a correlation.
pub const PAIRS_MIN: usize = 8;

/// How strongly two series change together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Correlation {
    /// Spearman's coefficient: 1 where both always rise together, -1 where one falls when the other rises.
    pub rho: f64,
    /// Probability of a coefficient as far from 0 in independent series.
    pub p: f64,
}

/// The ranks of `values` from 1; equal values share the mean of their ranks.
pub fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    for tie in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let middle = first as f64 + (tie.len() + 1) as f64 / 2.0;
        tie.iter().for_each(|&at| ranks[at] = middle);
        first += tie.len();
    }
    ranks
}

/// The rank correlation of pairs; absent with too few of them, or where one side is constant.
pub fn correlation(x: &[f64], y: &[f64]) -> Option<Correlation> {
    if x.len() != y.len() || x.len() < PAIRS_MIN {
        return None;
    }
    let (x, y) = (ranks(x), ranks(y));
    let mean = (x.len() + 1) as f64 / 2.0;
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>();
    let (xx, yy) = (product(&x, &x), product(&y, &y));
    if xx <= 0.0 || yy <= 0.0 {
        return None;
    }
    let rho = (product(&x, &y) / (xx * yy).sqrt()).clamp(-1.0, 1.0);
    // The variance of Fisher's transform of a rank correlation is 1.06/(n - 3) (Fieller, Hartley and Pearson 1957).
    let z = rho.abs().min(1.0 - 1e-12).atanh() * ((x.len() - 3) as f64 / 1.06).sqrt();
    Some(Correlation { rho, p: two_sided(z).min(1.0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ten pairs of IQ and hours of television in Wikipedia's article on Spearman's coefficient: ρ = -29/165.
    #[test]
    fn rank_correlation_matches_textbook_example() {
        let iq = [106.0, 100.0, 86.0, 101.0, 99.0, 103.0, 97.0, 113.0, 112.0, 110.0];
        let hours = [7.0, 27.0, 2.0, 50.0, 28.0, 29.0, 20.0, 12.0, 6.0, 17.0];
        let spearman = correlation(&iq, &hours).unwrap();
        assert!((spearman.rho + 29.0 / 165.0).abs() < 1e-12, "{}", spearman.rho);
        assert!((0.6..0.7).contains(&spearman.p), "{}", spearman.p);
    }

    #[test]
    fn ties_share_ranks_and_constant_series_has_no_correlation() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [3.5, 1.0, 3.5, 2.0]);
        let rising: Vec<f64> = (0..20).map(f64::from).collect();
        let cubes: Vec<f64> = rising.iter().map(|x| -x.powi(3)).collect();
        assert!((correlation(&rising, &cubes).unwrap().rho + 1.0).abs() < 1e-12);
        assert!(correlation(&rising, &[5.0; 20]).is_none());
        assert!(correlation(&rising[..5], &cubes[..5]).is_none());
    }
}
