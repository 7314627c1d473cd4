//! How a database was looked at that did its own work.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is known of a watch beside the figures that every record has.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Watched {
    /// Seconds of which counters tell; the rest of the window are gaps.
    pub known_s: f64,
    /// Stretches of which nobody knows anything: the server was away, or its counters started anew. The first two hundred.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<Gap>,
    /// How many gaps there were in all.
    #[serde(default)]
    pub gaps_all: u64,
    /// How each figure went over the measured intervals, by the name of its metric.
    pub spreads: BTreeMap<String, Spread>,
    /// What could not be read, each with its reason, such as a privilege that lacks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<String>,
    /// Transactions that looking on itself has made in the target; they are not in the figure of commits.
    pub own_commits: u64,
    /// Readings of counters and samples of sessions that were taken. What they cost beside commits (blocks of views, executions)
    /// is in the database's figures.
    pub looks: u64,
}

/// A stretch of which nothing is known.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Gap {
    /// Its begin, seconds after the window began: the last reading before it.
    pub at_s: f64,
    /// Its length, s, up to the first reading behind it.
    pub seconds: f64,
    /// Why.
    pub why: String,
}

/// How a figure went over the measured intervals.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// Seconds over which it was known.
    pub seconds: f64,
    /// Its mean over that time.
    pub mean: f64,
    /// Half of the time it was not above this; within 1 %.
    pub p50: f64,
    /// 95 % of the time it was not above this; within 1 %.
    pub p95: f64,
    /// The most in one measured interval.
    pub peak: f64,
    /// When that was: the begin of the interval, seconds after the window began.
    pub peak_at_s: f64,
    /// The most over a minute, wherever it begins, of which at least 54 s were seen; absent where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busiest_minute: Option<f64>,
    /// When that minute began, seconds after the window began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busiest_minute_at_s: Option<f64>,
}
