//! Laws of numbers within a range.

use dyno_engine::data::Permutation;
use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::draw::{Zipf, uniform};

/// Furthest from 0 that an end of a range may be: permutations take 2^62 numbers.
pub(super) const END_MAX: i64 = 1 << 61;

/// Tries at a number within the range before any of it is taken: so narrow a piece of a bell is flat.
const TRIES: u32 = 20;

/// A law of whole numbers from `low` on.
#[derive(Debug, Clone)]
pub(in crate::own) enum Whole {
    /// Each of `count` alike.
    Uniform { low: i64, count: u64 },
    /// Zipf's law over the numbers in their order, or in a scrambled one.
    Zipf { low: i64, zipf: Zipf, order: Option<Permutation> },
    /// `NURand(a, low, low + count − 1)` of TPC-C, clause 2.1.6.
    Nurand { low: i64, count: u64, a: u64, c: u64 },
    /// A curve over the numbers.
    Curve { low: i64, high: i64, curve: Curve },
}

/// A law of floating-point numbers between two ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::own) enum Curve {
    /// All alike.
    Uniform,
    /// A bell.
    Normal { mean: f64, sd: f64 },
    /// The further from the lower end, the fewer; `mean` above it, were there no upper end.
    Exponential { mean: f64 },
}

/// A uniform number in `[0, 1)`.
#[inline]
fn unit(rng: &mut Xoshiro256PlusPlus) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// `low` and one of the `count` numbers from it on, which all are below [`END_MAX`].
#[inline]
pub(super) fn nth(low: i64, from_0: u64) -> i64 {
    low.wrapping_add(from_0 as i64)
}

impl Whole {
    /// A number.
    #[inline]
    pub(super) fn draw(&self, rng: &mut Xoshiro256PlusPlus) -> i64 {
        match self {
            Self::Uniform { low, count } => nth(*low, uniform(rng, *count) - 1),
            Self::Zipf { low, zipf, order: None } => nth(*low, zipf.draw(rng) - 1),
            Self::Zipf { low, zipf, order: Some(order) } => nth(*low, order.key(zipf.draw(rng) - 1) - 1),
            Self::Nurand { low, count, a, c } => {
                let (of_a, of_all) = (uniform(rng, a + 1) - 1, uniform(rng, *count) - 1);
                // The clause counts from `low` on before it ors: so do we, with what no range below 0 has.
                let low_bits = low.unsigned_abs();
                let mixed = (of_a | (low_bits + of_all)).wrapping_add(*c);
                nth(*low, mixed % count)
            }
            Self::Curve { low, high, curve: Curve::Exponential { mean } } => {
                let above = Curve::Exponential { mean: *mean };
                (above.draw(rng, *low as f64, *high as f64 + 1.0).floor() as i64).clamp(*low, *high)
            }
            Self::Curve { low, high, curve } => {
                let drawn = curve.draw(rng, *low as f64 - 0.5, *high as f64 + 0.5);
                (drawn.round() as i64).clamp(*low, *high)
            }
        }
    }

    /// The lowest and the highest that is drawn.
    pub(super) fn ends(&self) -> (i64, i64) {
        match self {
            Self::Uniform { low, count } | Self::Nurand { low, count, .. } => (*low, nth(*low, count - 1)),
            Self::Zipf { low, zipf, .. } => (*low, nth(*low, zipf.count() - 1)),
            Self::Curve { low, high, .. } => (*low, *high),
        }
    }
}

impl Curve {
    /// A number from `low` to `high`.
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
            // By inversion, of what lies below the upper end.
            Self::Exponential { mean } => {
                let share = -(-(high - low) / mean).exp_m1();
                low - mean * (-unit(rng) * share).ln_1p()
            }
        }
    }
}
