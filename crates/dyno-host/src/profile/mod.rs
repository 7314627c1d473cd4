//! A profile of all processors over an interval, taken by the program `perf`.
//!
//! `perf record` samples what runs on each processor into a file that has no name, so nothing is left of it however this
//! program ends; afterwards `perf script` turns the samples into text, which is read line by line and added up in bounded
//! memory. Both stamp samples with the clock that [`monotonic_ns`] reads, so that the interval is cut by time and not by when
//! a busy machine got round to obeying.

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

/// Samples per second and processor that are asked for at most: a prime, so that it keeps no step with what works by a clock.
const FREQUENCY_HZ_MAX: u32 = 199;
/// Samples that an interval may come to before they are taken less often: about a kilobyte each.
const SAMPLES_MAX: f64 = 200_000.0;

/// Nanoseconds of the clock that samples are stamped with, `CLOCK_MONOTONIC`.
pub fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}

/// Processors of this machine that are online; absent when it does not tell.
pub fn cpus_online() -> Option<u32> {
    list::count(&Root::system().text("sys/devices/system/cpu/online")?).filter(|cpus| *cpus > 0)
}

/// How often each of `cpus` processors is sampled over an interval of `seconds`, per second: less often the more samples
/// there would be.
pub fn frequency_hz(cpus: u32, seconds: f64) -> u32 {
    let fitting = SAMPLES_MAX / (f64::from(cpus.max(1)) * seconds.max(1.0));
    (fitting as u32).clamp(1, FREQUENCY_HZ_MAX)
}

/// An interval that a profile is cut to, on the clock of [`monotonic_ns`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Its first nanosecond.
    pub begin_ns: u64,
    /// The first nanosecond behind it.
    pub end_ns: u64,
}

impl Cut {
    fn seconds(self) -> f64 {
        self.end_ns.saturating_sub(self.begin_ns) as f64 / 1e9
    }
}
