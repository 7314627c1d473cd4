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
    /// Sessions that blocked others at the readings, those that blocked longest first; at most twenty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blockers: Vec<LockBlocker>,
    /// The longest transactions that were open at the readings, longest first; at most ten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transactions: Vec<LongTransaction>,
}

/// A session at the head of a wait chain: others waited for its locks, and it waited for nobody.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LockBlocker {
    /// Its process or connection id on the server.
    pub session: String,
    /// Program, user and host, as far as they are known.
    pub name: String,
    /// What it did when it blocked most: `idle in transaction`, `Sleep`; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub state: String,
    /// The locked object, if the server names it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub object: String,
    /// The first reading at which it blocked, in seconds after the window's begin.
    pub from_s: f64,
    /// The last reading at which it blocked, in seconds after the window's begin.
    pub until_s: f64,
    /// Number of readings at which it blocked; there is one in each interval.
    pub readings: u64,
    /// Most sessions that waited for it at one reading, directly or behind another one.
    pub waiting_max: u64,
    /// Most sessions in one chain behind it.
    pub chain_max: u64,
}

/// A transaction that was open at a reading.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LongTransaction {
    /// The process or connection id of its session on the server.
    pub session: String,
    /// Program, user and host, as far as they are known.
    pub name: String,
    /// What the session did at the last reading; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub state: String,
    /// Its age at that reading, in seconds by the server's clock.
    pub age_s: f64,
    /// That reading, in seconds after the window's begin.
    pub at_s: f64,
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
