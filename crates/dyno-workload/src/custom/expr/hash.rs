//! Hashes and pseudo-random permutations as in PostgreSQL's pgbench: equal input gives equal numbers.

use rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoroshiro128StarStar;

/// FNV-1a of the eight bytes of `value`, lowest byte first. `seed` changes the basis.
pub(super) fn fnv1a(value: i64, seed: i64) -> i64 {
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(PRIME);
    value.to_le_bytes().into_iter().fold(BASIS ^ seed.cast_unsigned(), mix).cast_signed()
}

/// MurmurHash2 with 64 bits (A. Appleby) of the eight bytes of `value`.
pub(super) fn murmur2(value: i64, seed: i64) -> i64 {
    const MUL: u64 = 0xc6a4_a793_5bd1_e995;
    let folded = |x: u64| x ^ (x >> 47);
    let block = folded(value.cast_unsigned().wrapping_mul(MUL)).wrapping_mul(MUL);
    let hash = (seed.cast_unsigned() ^ MUL.wrapping_mul(8)) ^ block;
    folded(folded(hash.wrapping_mul(MUL)).wrapping_mul(MUL)).cast_signed()
}

const ROUNDS: u32 = 6;

/// The position of `number` in a permutation of 0 to `count` − 1 that depends on `seed`; 0 if `count` is not
/// positive.
pub(super) fn permute(number: i64, count: i64, seed: i64) -> i64 {
    if count < 2 {
        return 0;
    }
    let mut rng = Xoroshiro128StarStar::seed_from_u64(seed.cast_unsigned());
    let count = count.cast_unsigned();
    let mut place = number.cast_unsigned() % count;
    // The largest power of 2 that is not above `count`: each round mixes at least half of the numbers.
    let bits = count.ilog2();
    let mask = (1u64 << bits) - 1;
    for _ in 0..ROUNDS {
        let mut mixed = |x: u64| {
            let (odd, turn) = ((rng.next_u64() & mask) | 1, rng.next_u64() & mask);
            let x_mixed = (x.wrapping_mul(odd) ^ turn) & mask;
            if x <= mask { ((x_mixed << 1) & mask) | (x_mixed >> (bits - 1)) } else { x }
        };
        place = mixed(place);
        place = count - 1 - mixed(count - 1 - place);
        place = ((u128::from(place) + u128::from(up_to(&mut rng, count - 1))) % u128::from(count)) as u64;
    }
    place.cast_signed()
}

/// A random number from 0 to `most`, by rejection of random bits.
fn up_to(rng: &mut Xoroshiro128StarStar, most: u64) -> u64 {
    loop {
        let drawn = rng.next_u64() >> most.leading_zeros();
        if drawn <= most {
            return drawn;
        }
    }
}
