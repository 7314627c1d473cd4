//! Draws from Zipf's law exactly, without a table.
//!
//! Rejection-inversion after W. Hörmann and G. Derflinger, *Rejection-Inversion to Generate Variates from Monotone Discrete
//! Distributions*, ACM TOMACS 6 (3), 1996: a draw from the integral of the density, rounded, and rejected if the step lies below
//! the curve. Time and memory are constant for any number of keys and any exponent above 0.

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Draws ranks `1..=n` in proportion to `1 ÷ rank^exponent`.
#[derive(Debug, Clone, Copy)]
pub struct Zipf {
    n: f64,
    exponent: f64,
    /// The integral of the density from 1 to 1.5, without the first rank's share; then to n + 0.5.
    low: f64,
    high: f64,
    /// Distance from a rank within which a draw is certainly below the curve.
    sure: f64,
}

/// `ln(1 + x) ÷ x`, which is 1 − x ÷ 2 + … near 0.
fn ln1p_ratio(x: f64) -> f64 {
    if x.abs() > 1e-8 { x.ln_1p() / x } else { 1.0 - x * 0.5 }
}

/// `(e^x − 1) ÷ x`, which is 1 + x ÷ 2 + … near 0.
fn expm1_ratio(x: f64) -> f64 {
    if x.abs() > 1e-8 { x.exp_m1() / x } else { 1.0 + x * 0.5 }
}

impl Zipf {
    /// The distribution over `n` ranks.
    pub fn new(n: u64, exponent: f64) -> Self {
        let mut zipf = Self { n: n.max(1) as f64, exponent, low: 0.0, high: 0.0, sure: 0.0 };
        zipf.low = zipf.integral(1.5) - 1.0;
        zipf.high = zipf.integral(zipf.n + 0.5);
        zipf.sure = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.density(2.0));
        zipf
    }

    /// The number of ranks, `n`.
    pub fn count(&self) -> u64 {
        self.n as u64
    }

    /// Draws a rank from 1 to `n`.
    #[inline]
    pub fn draw(&self, rng: &mut Xoshiro256PlusPlus) -> u64 {
        loop {
            // 53 random bits: uniform in [0, 1).
            let uniform = (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
            let area = self.high + uniform * (self.low - self.high);
            let x = self.inverse(area);
            let rank = (x + 0.5).floor().clamp(1.0, self.n);
            if rank - x <= self.sure || area >= self.integral(rank + 0.5) - self.density(rank) {
                return rank as u64;
            }
        }
    }

    fn density(&self, x: f64) -> f64 {
        (-self.exponent * x.ln()).exp()
    }

    /// The integral of `t^−exponent` from 1 to `x`, which is `ln x` for exponent 1.
    fn integral(&self, x: f64) -> f64 {
        let ln = x.ln();
        expm1_ratio((1.0 - self.exponent) * ln) * ln
    }

    fn inverse(&self, area: f64) -> f64 {
        // Rounding can make it slightly less than −1, where the logarithm is undefined.
        let t = (area * (1.0 - self.exponent)).max(-1.0);
        (ln1p_ratio(t) * area).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand_core::SeedableRng as _;

    /// Pearson's chi-square of `draws` draws against the distribution, over bins that each expect at least 20, with its degrees of
    /// freedom.
    fn chi_square(n: u64, exponent: f64, seed: u64, draws: u32) -> (f64, f64) {
        let zipf = Zipf::new(n, exponent);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut counts = vec![0u32; n as usize];
        for _ in 0..draws {
            counts[zipf.draw(&mut rng) as usize - 1] += 1;
        }
        let weights: Vec<f64> = (1..=n).map(|rank| (rank as f64).powf(-exponent)).collect();
        let total: f64 = weights.iter().sum();
        let (mut sum, mut bins) = (0.0, 0u32);
        let (mut expected, mut seen) = (0.0, 0.0);
        for (weight, count) in weights.iter().zip(&counts) {
            expected += weight / total * f64::from(draws);
            seen += f64::from(*count);
            if expected >= 20.0 {
                sum += (seen - expected).powi(2) / expected;
                bins += 1;
                (expected, seen) = (0.0, 0.0);
            }
        }
        (sum, f64::from(bins.saturating_sub(1).max(1)))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn zipf_ranks_have_expected_frequencies(n in 1u64..400, exponent in 0.01f64..4.0, seed: u64) {
            let (chi, freedom) = chi_square(n, exponent, seed, 20_000);
            // The mean is the degrees of freedom and the variance twice that: six standard deviations, plus a margin for small values.
            prop_assert!(chi <= freedom + 6.0 * (2.0 * freedom).sqrt() + 12.0, "chi² {chi} with {freedom}");
        }

        #[test]
        fn zipf_rank_is_always_in_range(n in 1u64..=1_000_000_000_000, exponent in 0.01f64..=10.0, seed: u64) {
            let zipf = Zipf::new(n, exponent);
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            for _ in 0..50 {
                prop_assert!((1..=n).contains(&zipf.draw(&mut rng)));
            }
        }
    }

    #[test]
    fn zipf_draws_pass_chi_square_test() {
        // The seeds are fixed, so these cannot fail by chance: 99.9th percentile by Wilson and Hilferty.
        for (n, exponent) in [(1_000, 0.5), (1_000, 0.99), (1_000, 1.0), (1_000, 1.2), (100, 2.0), (7, 1.0)] {
            let (chi, k) = chi_square(n, exponent, 11, 1_000_000);
            let limit = k * (1.0 - 2.0 / (9.0 * k) + 3.09 * (2.0 / (9.0 * k)).sqrt()).powi(3);
            assert!(chi < limit, "n {n}, exponent {exponent}: chi² {chi}, limit {limit}");
        }
    }
}
