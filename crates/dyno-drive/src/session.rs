//! What one session has measured, as it hands it in: a plain value, so that it can come from anywhere.
//!
//! All that a record says of sessions is made of these and of what their threads have added up, but for the intervals of the
//! series, which come while they work.

use dyno_record::ErrorTally;
use serde::{Deserialize, Serialize};

use crate::life::Life;
use crate::marks::Marks;

/// What one session has measured by itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SessionResult {
    /// The place of the session's target.
    pub(crate) target: usize,
    pub(crate) life: Life,
    pub(crate) errors: Vec<ErrorTally>,
    pub(crate) moments: Moments,
    /// What the snapshots at the window's two ends hold of this session.
    pub(crate) marks: [Marks; 2],
}

/// The session's own moments, on the run's clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[repr(C)]
pub(crate) struct Moments {
    /// End of the last operation that counted.
    pub(crate) last_ns: u64,
    /// Just before the first operation (closed loop), or when the schedule began (open loop).
    pub(crate) start_ns: Option<u64>,
    /// Since when what it does counts, and until when it did.
    pub(crate) edge_ns: [Option<u64>; 2],
}
