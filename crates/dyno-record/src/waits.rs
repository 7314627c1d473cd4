//! What sessions waited for, from samples.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the metrics of an interval begin with that hold the sessions in one wait, on average over the samples in it:
/// `waiting.IO:WalSync`. Of an interval with samples ([`SAMPLED_ACTIVE`]) a wait that is not there was not seen.
pub const WAITING: &str = "waiting.";

/// The metric of an interval that holds the sessions at work, on average over the samples in it.
pub const SAMPLED_ACTIVE: &str = "sampled_active_sessions";

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
        /// Who else was at work on the server in these samples.
        #[serde(default)]
        company: Company,
    },
    /// Why there are none.
    Absent {
        /// The reason.
        absent: String,
    },
}

/// Sessions that are not the run's, as the samples found them at work anywhere on the server: in the database under test or in
/// another. Background processes of the server are none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Company {
    /// What the samples say.
    Sampled {
        /// Other sessions that were active, on average over the samples; 0 where there were none.
        average_active_sessions: f64,
        /// Who they were, most active first.
        seen: Vec<OtherSessions>,
    },
    /// Why nobody could tell.
    Absent {
        /// The reason.
        absent: String,
    },
}

impl Default for Company {
    fn default() -> Self {
        Self::Absent { absent: "other sessions were not looked at".into() }
    }
}

/// Other sessions of one program in one database.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OtherSessions {
    /// The database or schema that they were in; empty where the engine does not tell.
    pub database: String,
    /// The program, or else the user; empty where the engine does not tell.
    pub program: String,
    /// Whether that is the database under test, so that its own counters hold their work.
    pub here: bool,
    /// How many of them were active, on average over the samples.
    pub average_sessions: f64,
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
