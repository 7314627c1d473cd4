//! What an expression is given: the numbers that a session holds, and random ones.

use rand_core::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::own::value::{Hold, Number};

/// What the random numbers of an expression are drawn with.
pub(in crate::own) enum Key<'a> {
    /// This seed.
    Is(u64),
    /// One that is made where the expression draws something at all.
    Made(&'a mut dyn FnMut() -> u64),
}

/// What an expression is given.
pub(in crate::own) struct Given<'a> {
    hold: &'a Hold,
    key: Key<'a>,
    rng: Option<Xoshiro256PlusPlus>,
}

impl<'a> Given<'a> {
    /// What `hold` holds, and random numbers of this key.
    #[inline]
    pub(in crate::own) fn new(hold: &'a Hold, key: Key<'a>) -> Self {
        Self { hold, key, rng: None }
    }

    /// The number in `slot`.
    #[inline]
    pub(super) fn number(&self, slot: u16) -> Number {
        self.hold.number(slot)
    }

    /// Where random numbers come from, the same for the whole expression.
    #[inline]
    pub(super) fn rng(&mut self) -> &mut Xoshiro256PlusPlus {
        let key = &mut self.key;
        self.rng.get_or_insert_with(|| {
            Xoshiro256PlusPlus::seed_from_u64(match key {
                Key::Is(key) => *key,
                Key::Made(make) => make(),
            })
        })
    }
}
