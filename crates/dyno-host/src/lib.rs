//! The machine: what it is ([`facts`]) and what it did between two moments ([`HostObserver`], [`HostDelta`]).
//!
//! Everything but a [`profile`], and [another machine](far), comes from files that Linux keeps (`/proc`, `/sys`), read without privileges and without
//! calling other programs. What cannot be read is left out, never guessed; on other systems that is everything, and the facts say so.
//!
//! | folder | job |
//! | --- | --- |
//! | `parse` | one file per format of the kernel: text in, numbers out, tested with texts of several kernels |
//! | `locate` | which mount and which devices lie behind a path |
//! | `facts` | what the machine is |
//! | `snapshot`, `counted`, `observer` | all counters at one moment |
//! | `far`, `tree` | the same of a machine that is not this one |
//! | `processors` | who had the processors: this program, the database, or others |
//! | `profile` | what ran on the processors, by function, as the program `perf` saw it |
//! | `delta`, `rates`, `named` | what moved between two moments, as figures and under the names that records use |

mod allowed;
mod counted;
mod delta;
mod facts;
pub mod far;
mod files;
mod locate;
mod named;
mod observer;
pub mod page_cache;
mod parse;
mod process_address;
mod processors;
pub mod profile;
mod rates;
mod snapshot;
mod tree;

#[cfg(test)]
mod live_tests;

pub use allowed::CpuQuota;
pub use delta::HostDelta;
pub use facts::facts;
pub use observer::HostObserver;
pub use parse::cpu::{CpuStat, CpuTimes};
pub use parse::disk::DiskCounters;
pub use parse::memory::{Memory, VmCounters};
pub use parse::net::NetworkCounters;
pub use parse::nfs::NfsCounters;
pub use parse::pressure::Pressure;
pub use process_address::ProcessAddress;
pub use processors::{ProcessTimes, ProcessorShares};
pub use rates::{CpuShare, DeviceRates, NetworkRates, NfsRates, PressurePct, ProcessCpu};
pub use snapshot::HostSnapshot;
