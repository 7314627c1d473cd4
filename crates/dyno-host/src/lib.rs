//! Describes the machine ([`facts`]) and measures what it does ([`HostObserver`], [`HostDelta`]).
//!
//! Everything except a [`profile`] and [another machine](remote) comes from Linux files (`/proc`, `/sys`), read
//! without privileges and without other programs. What cannot be read is left out, never guessed. On other
//! systems that is everything, and the facts say so.
//!
//! | folder | job |
//! | --- | --- |
//! | `parse` | one file per kernel format: text in, numbers out, tested with texts of several kernels |
//! | `locate` | the mount and the devices of a path |
//! | `facts` | the description of the machine |
//! | `snapshot`, `counted`, `observer` | all counters at one moment |
//! | `remote`, `tree` | facts and counters of another machine |
//! | `processors` | who used the processors: this program, the database, or others |
//! | `profile` | which functions used the processors, as sampled by `perf` |
//! | `delta`, `rates`, `named` | the difference of two snapshots, as figures and under the names of records |

mod allowed;
mod counted;
mod delta;
mod facts;
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
pub mod remote;
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
