//! Random moments that can be had again: each is drawn from the seed, the lane and the number of the kill.

use std::time::{SystemTime, UNIX_EPOCH};

/// The seed of all draws; said by each pass.
pub(crate) const SEED: &str = "DYNO_FAULTS_SEED";

/// The seed that is asked for, or another one each time.
pub(crate) fn seed() -> u64 {
    let asked = std::env::var(SEED).ok().and_then(|seed| seed.parse().ok());
    asked.unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        now.as_millis() as u64 % 1_000_000_000
    })
}

/// A generator, splitmix64.
pub(crate) struct Draw(u64);

impl Draw {
    /// The draws of one kill.
    pub(crate) fn of(seed: u64, lane: &str, number: u64) -> Self {
        let mut state = seed;
        for byte in lane.bytes() {
            state = (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
        Self(state ^ number.wrapping_mul(0xD6E8_FEB8_6659_FD93))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Evenly from 0 to 1.
    pub(crate) fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// One or the other.
    pub(crate) fn coin(&mut self) -> bool {
        self.next() & 1 == 1
    }
}
