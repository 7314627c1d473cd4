//! A range of numbers from which keys are drawn, with its distribution.

use dyno_engine::data::{Permutation, mix};
use dyno_plan::{KeyDistribution, WorkloadSettings};
use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::zipf::Zipf;

/// Numbers `1..=n` and their distribution.
#[derive(Debug, Clone)]
pub(super) struct KeySpace {
    n: u64,
    law: KeySpaceDistribution,
}

#[derive(Debug, Clone)]
enum KeySpaceDistribution {
    Uniform,
    /// Zipf's law: the k-th number of this permutation is the k-th most frequent.
    Scrambled(Zipf, Permutation),
    /// Zipf's law: the last number is the most frequent.
    Latest(Zipf),
}

/// Separates the seed of the popularity order from the seed of the load order.
const POPULARITY: u64 = 0x706f_7075;

impl KeySpace {
    /// The numbers `1..=n` with the distribution of `workload`. Which numbers are frequent depends on the data only, so it is the
    /// same for all sessions and runs.
    pub(super) fn new(n: u64, workload: &WorkloadSettings, data_seed: u64) -> Self {
        let zipf = || Zipf::new(n, workload.zipf_exponent);
        let law = match workload.keys {
            KeyDistribution::Uniform => KeySpaceDistribution::Uniform,
            KeyDistribution::Zipf => {
                KeySpaceDistribution::Scrambled(zipf(), Permutation::new(n, mix(data_seed ^ POPULARITY)))
            }
            KeyDistribution::Latest => KeySpaceDistribution::Latest(zipf()),
        };
        Self { n, law }
    }

    pub(super) fn len(&self) -> u64 {
        self.n
    }

    /// Draws a number by the distribution.
    #[inline]
    pub(super) fn draw(&self, rng: &mut Xoshiro256PlusPlus) -> u64 {
        match &self.law {
            KeySpaceDistribution::Uniform => uniform(rng, self.n),
            KeySpaceDistribution::Scrambled(zipf, order) => order.key(zipf.draw(rng) - 1),
            KeySpaceDistribution::Latest(zipf) => self.n + 1 - zipf.draw(rng),
        }
    }
}

/// A uniform number in `1..=n`, by multiplication instead of a modulo (Lemire, Fast Random Integer Generation in an
/// Interval, 2019; without its rejection step the bias is below n ÷ 2^64).
#[inline]
pub(crate) fn uniform(rng: &mut Xoshiro256PlusPlus, n: u64) -> u64 {
    ((u128::from(rng.next_u64()) * u128::from(n)) >> 64) as u64 + 1
}
