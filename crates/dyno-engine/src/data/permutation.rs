//! Puts keys in random order by arithmetic, without a shuffled list.

use super::mix;

/// Rounds of the Feistel network; four are enough for keys without visible order.
const ROUNDS: u64 = 4;

/// A random order of the keys `1..=len`: a bijection from insert positions to keys.
///
/// A balanced Feistel network over the next even power of two, walked until it falls inside the range (Black
/// and Rogaway, Ciphers with Arbitrary Finite Domains, CT-RSA 2002). Needs no memory, so any part of the
/// order can be made by any loader.
#[derive(Debug, Clone, Copy)]
pub struct Permutation {
    len: u64,
    half_bits: u32,
    seed: u64,
}

impl Permutation {
    /// The order of `1..=len` that belongs to `seed`.
    ///
    /// # Panics
    /// `len` is above 2^62; no table has so many rows.
    pub fn new(len: u64, seed: u64) -> Self {
        assert!(len <= 1 << 62, "a table of more than 2^62 rows cannot be");
        let bits = u64::BITS - len.saturating_sub(1).leading_zeros();
        Self { len, half_bits: bits.div_ceil(2).max(1), seed: mix(seed ^ 0x7065_726d) }
    }

    /// The key at insert position `position` (from 0).
    pub fn key(&self, position: u64) -> u64 {
        debug_assert!(position < self.len);
        let mut x = position;
        loop {
            x = self.round_trip(x);
            if x < self.len {
                return x + 1;
            }
        }
    }

    fn round_trip(&self, x: u64) -> u64 {
        let mask = (1u64 << self.half_bits) - 1;
        let (mut left, mut right) = (x >> self.half_bits, x & mask);
        for round in 0..ROUNDS {
            let mixed = mix(right ^ self.seed.wrapping_add(round << 56)) & mask;
            (left, right) = (right, left ^ mixed);
        }
        left << self.half_bits | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn permutation_yields_each_key_once(len in 1u64..5_000, seed: u64) {
            let order = Permutation::new(len, seed);
            let mut is_seen = vec![false; usize::try_from(len).unwrap()];
            for position in 0..len {
                let key = order.key(position);
                prop_assert!((1..=len).contains(&key));
                let slot = &mut is_seen[usize::try_from(key - 1).unwrap()];
                prop_assert!(!*slot, "key {key} came twice");
                *slot = true;
            }
        }
    }

    #[test]
    fn neighboring_keys_are_stored_far_apart() {
        let len = 10_000;
        let order = Permutation::new(len, 42);
        let mut position_of = vec![0u64; 10_001];
        for position in 0..len {
            position_of[order.key(position) as usize] = position;
        }
        let near = position_of[1..].windows(2).filter(|pair| pair[0].abs_diff(pair[1]) <= 10).count();
        // In a random order, about 20 of 10,000 neighbors lie within ten positions of each other.
        assert!(near < 60, "{near} of 9,999 neighbouring keys are stored within ten rows of each other");
    }

    #[test]
    fn permutation_with_other_seed_has_other_order() {
        let (a, b) = (Permutation::new(1_000, 1), Permutation::new(1_000, 2));
        let same = (0..1_000).filter(|&p| a.key(p) == b.key(p)).count();
        assert!(same < 20, "{same} of 1,000 positions hold the same key");
    }
}
