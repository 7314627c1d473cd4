//! The normal distribution.

use crate::compare::rank::two_sided;

/// Probability that a standard normal variable is at most `z`.
pub(super) fn cumulative(z: f64) -> f64 {
    let tail = two_sided(z) / 2.0;
    if z < 0.0 { tail } else { 1.0 - tail }
}

/// The distance that a standard normal variable exceeds with the probability `level`, both sides
/// together. By bisection.
pub(super) fn two_sided_quantile(level: f64) -> f64 {
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        if two_sided(middle) > level { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_quantiles_match_published_values() {
        for (level, z) in [(0.05, 1.959_963_985), (0.01, 2.575_829_304), (0.2, 1.281_551_566)] {
            assert!((two_sided_quantile(level) - z).abs() < 1e-8, "{level}");
        }
        assert!((cumulative(-1.0) - 0.158_655_254).abs() < 1e-8);
        assert!((cumulative(1.0) + cumulative(-1.0) - 1.0).abs() < 1e-12);
    }
}
