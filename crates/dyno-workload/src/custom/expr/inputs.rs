//! Inputs of an expression: the values of a session, and random numbers.

use rand_core::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::custom::value::{Number, SessionValues};

/// The seed of an expression's random numbers.
pub(in crate::custom) enum ExprSeed<'a> {
    /// This seed, known in advance.
    Is(u64),
    /// A seed that is computed only if the expression draws a random number.
    Made(&'a mut dyn FnMut() -> u64),
}

/// The inputs of an expression.
pub(in crate::custom) struct ExprContext<'a> {
    hold: &'a SessionValues,
    key: ExprSeed<'a>,
    rng: Option<Xoshiro256PlusPlus>,
}

impl<'a> ExprContext<'a> {
    /// The values in `hold`, and random numbers with this seed.
    #[inline]
    pub(in crate::custom) fn new(hold: &'a SessionValues, key: ExprSeed<'a>) -> Self {
        Self { hold, key, rng: None }
    }

    #[inline]
    pub(super) fn number(&self, slot: u16) -> Number {
        self.hold.number(slot)
    }

    /// The random generator, shared by the whole expression.
    #[inline]
    pub(super) fn rng(&mut self) -> &mut Xoshiro256PlusPlus {
        let key = &mut self.key;
        self.rng.get_or_insert_with(|| {
            Xoshiro256PlusPlus::seed_from_u64(match key {
                ExprSeed::Is(key) => *key,
                ExprSeed::Made(make) => make(),
            })
        })
    }
}
