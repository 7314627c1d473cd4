//! A range of numbers that keys are drawn from, and by which law.

use dyno_engine::data::{Permutation, mix};
use dyno_plan::{Keys, Workload};
use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::zipf::Zipf;

/// Numbers `1..=n` and the law by which one is drawn.
#[derive(Debug, Clone)]
pub(super) struct Space {
    n: u64,
    law: Law,
}

#[derive(Debug, Clone)]
enum Law {
    Uniform,
    /// The k-th number of this order is the k-th most popular one.
    Scrambled(Zipf, Permutation),
    /// The last number is the most popular one.
    Latest(Zipf),
}

/// Tells the order of popularity from that of the load.
const POPULARITY: u64 = 0x706f_7075;

impl Space {
    /// The numbers `1..=n`, drawn as `workload` says. Which ones are popular belongs to the data: all sessions find the same
    /// ones, and so does the next run.
    pub(super) fn new(n: u64, workload: &Workload, data_seed: u64) -> Self {
        let zipf = || Zipf::new(n, workload.zipf_exponent);
        let law = match workload.keys {
            Keys::Uniform => Law::Uniform,
            Keys::Zipf => Law::Scrambled(zipf(), Permutation::new(n, mix(data_seed ^ POPULARITY))),
            Keys::Latest => Law::Latest(zipf()),
        };
        Self { n, law }
    }

    pub(super) fn len(&self) -> u64 {
        self.n
    }

    /// A number.
    #[inline]
    pub(super) fn draw(&self, rng: &mut Xoshiro256PlusPlus) -> u64 {
        match &self.law {
            Law::Uniform => uniform(rng, self.n),
            Law::Scrambled(zipf, order) => order.key(zipf.draw(rng) - 1),
            Law::Latest(zipf) => self.n + 1 - zipf.draw(rng),
        }
    }
}

/// A uniform number in `1..=n`, by multiplication instead of a modulo (Lemire, Fast Random Integer Generation in an
/// Interval, 2019; without its rejection step the bias is below n ÷ 2^64).
#[inline]
pub(crate) fn uniform(rng: &mut Xoshiro256PlusPlus, n: u64) -> u64 {
    ((u128::from(rng.next_u64()) * u128::from(n)) >> 64) as u64 + 1
}
