//! Whose work a figure tells: the run's alone, or also that of others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a figure was counted over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// What the run's own sessions did, or what the database counted for its tables alone.
    Run,
    /// The database under test, whoever worked in it.
    Database,
    /// The whole database server, with all its databases and background work.
    Server,
    /// The machine, with everything that runs on it.
    Host,
}

/// Whose a figure is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Whose {
    /// What it was counted over.
    pub scope: Scope,
    /// How much of it others had, in percent, where that can be told; 0 where nobody else was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others_pct: Option<f64>,
    /// Whether it is marked wherever it is shown: it may include other load on this host or server.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub marked: bool,
    /// Where the share comes from, or why there is none, in words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}
