//! Counters of another machine, and the moments around them.

use serde::{Deserialize, Serialize};

use crate::snapshot::HostSnapshot;

/// What a machine's own clock said, ns since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FarTime {
    /// Before its counters were read.
    pub begin_ns: u64,
    /// After that.
    pub end_ns: u64,
    /// How much later than it said it may have been: clocks that tell whole seconds.
    pub resolution_ns: u64,
}

/// A snapshot of another machine. It may travel as bytes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// The counters.
    pub snapshot: HostSnapshot,
    /// When they were asked for, by the clock of whoever asked.
    pub asked_ns: u64,
    /// When they were there.
    pub answered_ns: u64,
    /// The same by the machine's own clock; absent where it does not tell.
    pub far: Option<FarTime>,
    /// Whether the counters were read between the two moments of its own clock, and not only somewhere around.
    pub within_far: bool,
}
