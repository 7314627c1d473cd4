//! What a database's own report says beyond counters: its load profile, its top timed events, and rows of its other sections.
//!
//! A reader of such reports looks at the first two first, so a record that was made of one keeps them in the report's own order.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a report says.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reported {
    /// DB time of the interval, s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub db_time_s: Option<f64>,
    /// The load profile, in its order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub load_profile: Vec<ReportedLoad>,
    /// The events that took most time, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub top_events: Vec<ReportedEvent>,
    /// Figures of other sections that reports are compared by: latches, services, advisories, the network of a cluster. Figures that
    /// are 0 are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<ReportedSection>,
}

/// A figure of one row of a section.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedSection {
    /// The section by the name of its list in the JSON of reports: `latches`.
    pub section: String,
    /// The row: `cache buffers chains`.
    pub row: String,
    /// The figure, its unit last: `wait_s`.
    pub figure: String,
    /// Its value; per second of the interval if `per_s`.
    pub value: f64,
    /// What one more in its last printed digit would add.
    pub step: f64,
    /// Whether it is a total of the interval, divided by its length.
    #[serde(default)]
    pub per_s: bool,
}

/// A line of the load profile.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedLoad {
    /// What it counts, with its unit in brackets: `logical reads (blocks)`.
    pub name: String,
    /// Per second.
    pub per_s: f64,
    /// What one more in the last printed digit of that would add; absent in records that do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_s_step: Option<f64>,
    /// Per transaction, where the report tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_txn: Option<f64>,
    /// What one more in the last printed digit of that would add.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_txn_step: Option<f64>,
}

/// A line of the top timed events.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedEvent {
    /// The event, or the CPU.
    pub event: String,
    /// Its wait class; empty where the report names none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub class: String,
    /// How often it was waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<f64>,
    /// Time waited in all, s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_s: Option<f64>,
    /// What one more in the last printed digit of that would add, s; absent in records that do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_step_s: Option<f64>,
    /// Mean time of a wait, µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_us: Option<f64>,
    /// How far that is known, µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_step_us: Option<f64>,
    /// Share of DB time, %; of call time in STATSPACK.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_pct: Option<f64>,
}
