//! Wait events of sessions, from samples.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Prefix of the interval metrics with the mean number of sessions in one wait over the samples: `waiting.IO:WalSync`. In an
/// interval with samples ([`SAMPLED_ACTIVE`]) a missing wait did not occur in them.
pub const WAITING: &str = "waiting.";

/// The interval metric with the mean number of active sessions over the samples.
pub const SAMPLED_ACTIVE: &str = "sampled_active_sessions";

/// Sampled wait events of a window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Waits {
    /// The samples and their totals.
    Sampled {
        /// Number of samples in the window.
        samples: u64,
        /// Samples per second that the plan requests.
        asked_per_s: f64,
        /// Mean number of active sessions of Dyno over the samples.
        average_active_sessions: f64,
        /// Active time by class and event, largest first.
        events: Vec<WaitTime>,
        /// Other sessions that were active on the server in these samples.
        #[serde(default)]
        company: ForeignActivity,
    },
    /// No samples, and the reason.
    Absent {
        /// Why there are no samples.
        absent: String,
    },
}

/// Sessions of others that were active in the samples anywhere on the server, in the database under test or in another one.
/// Background processes of the server are not included.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ForeignActivity {
    /// The samples and their totals.
    Sampled {
        /// Mean number of other active sessions over the samples; 0 if there were none.
        average_active_sessions: f64,
        /// The other sessions, most active first.
        seen: Vec<OtherSessions>,
    },
    /// The other sessions are unknown, and why.
    Absent {
        /// Why the other sessions are unknown.
        absent: String,
    },
}

impl Default for ForeignActivity {
    fn default() -> Self {
        Self::Absent { absent: "other sessions were not looked at".into() }
    }
}

/// Other sessions of one program in one database.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OtherSessions {
    /// Their database or schema; empty if the engine does not report it.
    pub database: String,
    /// Their program, or else their user; empty if the engine does not report it.
    pub program: String,
    /// Whether it is the database under test, whose counters then include their work.
    pub here: bool,
    /// Mean number of them that were active over the samples.
    pub average_sessions: f64,
}

/// Time in one wait event, estimated from samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaitTime {
    /// The wait class: `IO`, `LWLock`, `CPU`.
    pub class: String,
    /// The event: `WalSync`; `CPU` if a session was running or waiting for a CPU.
    pub event: String,
    /// Mean number of sessions in it over the samples.
    pub average_sessions: f64,
    /// Share of all active samples, in percent.
    pub share_pct: f64,
}
