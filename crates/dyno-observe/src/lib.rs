//! Readings of a database and its machine, and the figures between two of them.
//!
//! A run and an observation from outside share this: what one reading contains, how other machines are read,
//! what samples of sessions add up to, and how figures follow from two readings. What reads, and when, is
//! theirs.

mod counter_watchdog;
mod cover;
mod cumulative;
pub mod machine;
pub mod metrics;
mod remote_hosts;
mod samples;
mod snapshot;
mod statement_observation;
mod statement_totals;
mod table_observation;

pub use counter_watchdog::CounterWatchdog;
pub use cover::CoveredSeconds;
pub use cumulative::CumulativeCounters;
pub use remote_hosts::{RemoteHost, RemoteHostReading, RemoteHostThread};
pub use samples::{SessionSamples, WaitCounts};
pub use snapshot::{OWN_COMMITS, TargetSnapshot, add_overhead};
pub use statement_observation::StatementObservation;
pub use table_observation::TableObservation;
