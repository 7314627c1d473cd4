//! The one clock: monotonic nanoseconds since the process's own origin.
//!
//! Wall-clock steps cannot touch it. A trait, so that pacing and window are tested with scripted time.

use std::time::{Duration, Instant};

/// A source of monotonic time.
pub trait Clock: Send + Sync {
    /// Nanoseconds since the clock's origin; never goes backwards.
    fn now_ns(&self) -> u64;

    /// Puts the calling thread to sleep until `deadline_ns`, or until it is unparked; may return early.
    fn park_until(&self, deadline_ns: u64) {
        let left_ns = deadline_ns.saturating_sub(self.now_ns());
        if left_ns > 0 {
            std::thread::park_timeout(Duration::from_nanos(left_ns));
        }
    }
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
