//! Counters of another machine, with the times around the reading.

use serde::{Deserialize, Serialize};

use crate::snapshot::HostSnapshot;

/// Times of a machine's own clock, ns since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteTime {
    /// Before its counters were read.
    pub begin_ns: u64,
    /// After its counters were read.
    pub end_ns: u64,
    /// Largest amount by which the true time may be later: clocks with whole seconds.
    pub resolution_ns: u64,
}

/// A snapshot of another machine. It can be serialized.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TimedHostSnapshot {
    pub snapshot: HostSnapshot,
    /// When the caller sent the request, ns on its own clock.
    pub asked_ns: u64,
    /// When the answer was complete, ns on the caller's clock.
    pub answered_ns: u64,
    /// The times of the machine's own clock; absent where it does not report them.
    pub far: Option<RemoteTime>,
    /// Whether the counters were read between the two times of its own clock, not only near them.
    pub within_far: bool,
}
