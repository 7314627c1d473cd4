//! Random numbers in expressions, with the distributions of PostgreSQL's pgbench.

use std::f64::consts::TAU;

use rand_core::Rng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::draw::{Zipf, uniform};

/// A distribution of whole numbers between two limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RandomFunction {
    /// All numbers with the same probability.
    Uniform,
    /// Density e^(−bend · x), with the range mapped to 0 to 1.
    Exponential,
    /// A normal distribution around the middle, truncated at `bend` standard deviations.
    Gaussian,
    /// The k-th number in proportion to 1 ÷ k^bend.
    Zipfian,
}

/// Exponents of Zipf's law: minimum and maximum.
const PARETO: (f64, f64) = (0.001, 1_000.0);
/// Attempts for a normal distribution: more than enough if it is truncated at 2 or more standard deviations.
const TRIES: u32 = 40;

impl RandomFunction {
    /// A random number from `low` to `high`; `low` if it is the larger one.
    #[inline]
    pub(super) fn draw(self, rng: &mut Xoshiro256PlusPlus, low: i64, high: i64, bend: f64) -> i64 {
        if low >= high {
            return low;
        }
        let span = high.abs_diff(low);
        let above = match self {
            // A span of all 64 bits.
            Self::Uniform if span == u64::MAX => rng.next_u64(),
            Self::Uniform => uniform(rng, span + 1) - 1,
            Self::Zipfian => Zipf::new(span.saturating_add(1), bend.clamp(PARETO.0, PARETO.1)).draw(rng) - 1,
            Self::Exponential => share(span, exponential(rng, bend)),
            Self::Gaussian => share(span, gaussian(rng, bend)),
        };
        low.wrapping_add_unsigned(above.min(span))
    }
}

/// The number from 0 to `span` at the relative position `of_1`.
#[inline]
fn share(span: u64, of_1: f64) -> u64 {
    ((span as f64 + 1.0) * of_1) as u64
}

#[inline]
fn unit(rng: &mut Xoshiro256PlusPlus) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// Draws by inversion, truncated at 1.
fn exponential(rng: &mut Xoshiro256PlusPlus, bend: f64) -> f64 {
    let whole = -(-bend).exp_m1();
    if whole == 0.0 { unit(rng) } else { -(-unit(rng) * whole).ln_1p() / bend }
}

/// Draws by the Box–Muller method until the number is within the range.
fn gaussian(rng: &mut Xoshiro256PlusPlus, bend: f64) -> f64 {
    for _ in 0..TRIES {
        let drawn = (-2.0 * (1.0 - unit(rng)).ln()).sqrt() * (TAU * unit(rng)).cos();
        if -bend <= drawn && drawn < bend {
            return (drawn + bend) / (2.0 * bend);
        }
    }
    unit(rng)
}
