//! Profiles all processors over an interval with the program `perf`.
//!
//! `perf record` samples each processor into a file without a name, so nothing is left of it however this
//! program ends. Afterwards `perf script` converts the samples to text, which is read line by line and
//! aggregated in bounded memory. Samples carry the time of [`monotonic_ns`], so the interval is cut by time
//! and not by when a busy machine executed the commands.

mod family;
mod fold;
mod perf;
mod read;
mod refused;
mod script;
mod tables;
mod tree;

#[cfg(test)]
mod live_tests;
#[cfg(test)]
mod tests;

pub use perf::Perf;

use crate::files::Root;
use crate::parse::list;

/// The highest sampling rate per second and processor: a prime, so that it does not run in step with periodic
/// work.
const FREQUENCY_HZ_MAX: u32 = 199;
/// Samples of an interval above which the rate is reduced: each takes about a kilobyte.
const SAMPLES_MAX: f64 = 200_000.0;

/// The time of the clock of the samples, `CLOCK_MONOTONIC`, ns.
pub fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}

/// Processors of this machine that are online; absent if unknown.
pub fn cpus_online() -> Option<u32> {
    list::count(&Root::system().text("sys/devices/system/cpu/online")?).filter(|cpus| *cpus > 0)
}

/// Samples per second for each of `cpus` processors over an interval of `seconds`; lower where there would be
/// too many.
pub fn frequency_hz(cpus: u32, seconds: f64) -> u32 {
    let fitting = SAMPLES_MAX / (f64::from(cpus.max(1)) * seconds.max(1.0));
    (fitting as u32).clamp(1, FREQUENCY_HZ_MAX)
}

/// The interval of a profile, on the clock of [`monotonic_ns`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProfileWindow {
    /// Its first nanosecond.
    pub begin_ns: u64,
    /// The first nanosecond after it.
    pub end_ns: u64,
}

impl ProfileWindow {
    fn seconds(self) -> f64 {
        self.end_ns.saturating_sub(self.begin_ns) as f64 / 1e9
    }
}
