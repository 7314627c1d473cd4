//! Distributions of numbers within a range.

use dyno_engine::data::Permutation;
use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::draw::{Zipf, uniform};

/// The largest absolute value of a range's limit: permutations support 2^62 numbers.
pub(super) const END_MAX: i64 = 1 << 61;

/// Attempts to draw within the range before it is drawn uniformly: so narrow a part of a normal distribution
/// is flat.
const TRIES: u32 = 20;

/// A distribution of whole numbers from `low` on.
#[derive(Debug, Clone)]
pub(in crate::custom) enum WholeDistribution {
    /// Each of `count` numbers with the same probability.
    Uniform { low: i64, count: u64 },
    /// Zipf's law over the numbers in order, or in a permuted order.
    Zipf { low: i64, zipf: Zipf, order: Option<Permutation> },
    /// `NURand(a, low, low + count − 1)` of TPC-C, clause 2.1.6.
    Nurand { low: i64, count: u64, a: u64, c: u64 },
    /// A continuous curve over the numbers.
    Curve { low: i64, high: i64, curve: RealDistribution },
}

/// A distribution of floating-point numbers between two limits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::custom) enum RealDistribution {
    /// All numbers with the same probability.
    Uniform,
    /// A normal distribution, restricted to the range.
    Normal { mean: f64, sd: f64 },
    /// An exponential distribution from the lower limit; `mean` is the distance from it without the upper
    /// limit.
    Exponential { mean: f64 },
}

/// A uniform number in `[0, 1)`.
#[inline]
fn unit(rng: &mut Xoshiro256PlusPlus) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// The number at distance `from_0` from `low`; all numbers are below [`END_MAX`].
#[inline]
pub(super) fn nth(low: i64, from_0: u64) -> i64 {
    low.wrapping_add(from_0 as i64)
}

impl WholeDistribution {
    #[inline]
    pub(super) fn draw(&self, rng: &mut Xoshiro256PlusPlus) -> i64 {
        match self {
            Self::Uniform { low, count } => nth(*low, uniform(rng, *count) - 1),
            Self::Zipf { low, zipf, order: None } => nth(*low, zipf.draw(rng) - 1),
            Self::Zipf { low, zipf, order: Some(order) } => nth(*low, order.key(zipf.draw(rng) - 1) - 1),
            Self::Nurand { low, count, a, c } => {
                let (of_a, of_all) = (uniform(rng, a + 1) - 1, uniform(rng, *count) - 1);
                // The clause counts from `low` before it applies OR. Do the same, with bits that no range
                // below 0 has.
                let low_bits = low.unsigned_abs();
                let mixed = (of_a | (low_bits + of_all)).wrapping_add(*c);
                nth(*low, mixed % count)
            }
            Self::Curve { low, high, curve: RealDistribution::Exponential { mean } } => {
                let above = RealDistribution::Exponential { mean: *mean };
                (above.draw(rng, *low as f64, *high as f64 + 1.0).floor() as i64).clamp(*low, *high)
            }
            Self::Curve { low, high, curve } => {
                let drawn = curve.draw(rng, *low as f64 - 0.5, *high as f64 + 0.5);
                (drawn.round() as i64).clamp(*low, *high)
            }
        }
    }

    /// The smallest and the largest number that can be drawn.
    pub(super) fn ends(&self) -> (i64, i64) {
        match self {
            Self::Uniform { low, count } | Self::Nurand { low, count, .. } => (*low, nth(*low, count - 1)),
            Self::Zipf { low, zipf, .. } => (*low, nth(*low, zipf.count() - 1)),
            Self::Curve { low, high, .. } => (*low, *high),
        }
    }
}

impl RealDistribution {
    /// Draws a number from `low` to `high`.
    #[inline]
    pub(super) fn draw(&self, rng: &mut Xoshiro256PlusPlus, low: f64, high: f64) -> f64 {
        match *self {
            Self::Uniform => low + unit(rng) * (high - low),
            Self::Normal { mean, sd } => {
                for _ in 0..TRIES {
                    // Box and Muller, A Note on the Generation of Random Normal Deviates, 1958.
                    let radius = (-2.0 * (1.0 - unit(rng)).ln()).sqrt();
                    let drawn = mean + sd * radius * (std::f64::consts::TAU * unit(rng)).cos();
                    if low <= drawn && drawn < high {
                        return drawn;
                    }
                }
                low + unit(rng) * (high - low)
            }
            // Inversion, restricted to values below the upper limit.
            Self::Exponential { mean } => {
                let share = -(-(high - low) / mean).exp_m1();
                low - mean * (-unit(rng) * share).ln_1p()
            }
        }
    }
}
