//! Reproducible random times: each is derived from the seed, the series and the number of the kill.

use std::time::{SystemTime, UNIX_EPOCH};

/// The seed of all draws; each pass prints it.
pub(crate) const SEED: &str = "DYNO_FAULTS_SEED";

/// The configured seed, or a new one each time.
pub(crate) fn seed() -> u64 {
    let requested_seed = std::env::var(SEED).ok().and_then(|seed| seed.parse().ok());
    requested_seed.unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        now.as_millis() as u64 % 1_000_000_000
    })
}

/// A splitmix64 random number generator.
pub(crate) struct KillDraw(u64);

impl KillDraw {
    /// The draws for one kill.
    pub(crate) fn for_kill(seed: u64, lane: &str, number: u64) -> Self {
        let mut state = seed;
        for byte in lane.bytes() {
            state = (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
        Self(state ^ number.wrapping_mul(0xD6E8_FEB8_6659_FD93))
    }

    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number evenly distributed from 0 to 1.
    pub(crate) fn fraction(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// True or false with equal probability.
    pub(crate) fn next_bool(&mut self) -> bool {
        self.next_u64() & 1 == 1
    }
}
