//! The observation of a database that runs without load from Dyno.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Facts about an observation, in addition to the figures of every record.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WatchSummary {
    /// Seconds covered by counters; the rest of the window are gaps.
    pub known_s: f64,
    /// Gaps without data: the server was unreachable, or its counters were reset. At most two hundred are stored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<Gap>,
    /// Total number of gaps, including those that are not stored.
    #[serde(default)]
    pub gaps_all: u64,
    /// Distribution of each figure over the measured intervals, by metric name.
    pub spreads: BTreeMap<String, Spread>,
    /// What could not be read, each with its reason, such as a missing privilege.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<String>,
    /// Transactions that the observation itself caused in the target; the commit figures exclude them.
    pub own_commits: u64,
    /// Number of readings of counters and samples of sessions. Their cost besides commits (view blocks, executions) is part of the
    /// database's figures.
    pub looks: u64,
}

/// A gap in the observation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Gap {
    /// Its begin, in seconds after the window's begin: the last reading before it.
    pub at_s: f64,
    /// Its length in seconds, up to the next reading.
    pub seconds: f64,
    /// Why there is no data, in words.
    pub why: String,
}

/// Distribution of a figure over the measured intervals.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// Seconds over which the figure is known.
    pub seconds: f64,
    /// Its mean over that time.
    pub mean: f64,
    /// The median over time: half of the time it was not higher; within 1 %.
    pub p50: f64,
    /// The 95th percentile over time: 95 % of the time it was not higher; within 1 %.
    pub p95: f64,
    /// The largest value of one measured interval.
    pub peak: f64,
    /// When it occurred: the begin of the interval, in seconds after the window's begin.
    pub peak_at_s: f64,
    /// The largest mean over one minute, with at least 54 s of data; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busiest_minute: Option<f64>,
    /// When that minute began, in seconds after the window's begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busiest_minute_at_s: Option<f64>,
}
