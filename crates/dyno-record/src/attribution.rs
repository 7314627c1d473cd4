//! Attribution of figures: the run's own activity, or also that of others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The scope over which a figure was counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AttributionScope {
    /// The run's own sessions, or counters for the test tables only.
    Run,
    /// The database under test, including all other sessions in it.
    Database,
    /// The whole database server, with all databases and background processes.
    Server,
    /// The host, with everything that runs on it.
    Host,
}

/// Attribution of one figure: whose activity it includes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Attribution {
    /// The scope over which the figure was counted.
    pub scope: AttributionScope,
    /// The share of background activity in percent; 0 if there was none, absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others_pct: Option<f64>,
    /// Whether displays mark it, because it may include other load on this host or server.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub marked: bool,
    /// How the share was determined, or why it is unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}
