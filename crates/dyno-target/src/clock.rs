//! The one clock: monotonic nanoseconds since the process's own origin.
//!
//! Wall-clock steps cannot touch it. A trait, so that pacing and window are tested with scripted time.

use std::time::Instant;

/// A source of monotonic time.
pub trait Clock: Send + Sync {
    /// Nanoseconds since the clock's origin; never goes backwards.
    fn now_ns(&self) -> u64;
}

/// The machine's monotonic clock (`CLOCK_MONOTONIC`).
#[derive(Debug, Clone)]
pub struct MonotonicClock {
    origin: Instant,
}

impl Default for MonotonicClock {
    fn default() -> Self {
        Self { origin: Instant::now() }
    }
}

impl Clock for MonotonicClock {
    #[inline]
    fn now_ns(&self) -> u64 {
        // 2^64 ns are 584 years.
        self.origin.elapsed().as_nanos() as u64
    }
}
