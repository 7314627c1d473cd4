//! What sessions waited for, from samples.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Sampled waits of a window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Waits {
    /// What the samples say.
    Sampled {
        /// Samples taken.
        samples: u64,
        /// Samples per second that were asked for.
        asked_per_s: f64,
        /// Sessions of Dyno that were active, on average over the samples.
        average_active_sessions: f64,
        /// Active time by class and event, largest first.
        events: Vec<WaitTime>,
    },
    /// Why there are none.
    Absent {
        /// The reason.
        absent: String,
    },
}

/// Time in one wait event, estimated from samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaitTime {
    /// The wait class: `IO`, `LWLock`, `CPU`.
    pub class: String,
    /// The event: `WalSync`; `CPU` where a session was running or waiting for a processor.
    pub event: String,
    /// Sessions in it, on average over the samples.
    pub average_sessions: f64,
    /// Share of all active samples, %.
    pub share_pct: f64,
}
