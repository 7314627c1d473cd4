//! Parts of a database's own report beyond counters: the load profile, the top timed events, and rows of other sections.
//!
//! Readers of such reports look at the first two first, so an imported record keeps them in the report's order.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parts of a database's own report.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reported {
    /// DB time of the interval, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub db_time_s: Option<f64>,
    /// The lines of the load profile, in the report's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub load_profile: Vec<ReportedLoad>,
    /// The events with the most time, in the report's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub top_events: Vec<ReportedEvent>,
    /// Figures of other sections that comparisons of reports use: latches, services, advisories, the network of a cluster.
    /// Figures of 0 are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<ReportedSection>,
}

/// One figure of one row of a section.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedSection {
    /// The section, named like its list in the JSON of reports: `latches`.
    pub section: String,
    /// The row's name: `cache buffers chains`.
    pub row: String,
    /// The figure's name, which ends with the unit: `wait_s`.
    pub figure: String,
    /// Its value; per second of the interval if `per_s` is true.
    pub value: f64,
    /// Precision: the value of one unit in the last printed digit.
    pub step: f64,
    /// Whether it is a total of the interval divided by its length.
    #[serde(default)]
    pub per_s: bool,
}

/// One line of the load profile.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedLoad {
    /// The figure's name with the unit in parentheses: `logical reads (blocks)`.
    pub name: String,
    /// Its value per second of the interval.
    pub per_s: f64,
    /// Precision of `per_s`: the value of one unit in its last printed digit; absent in records that do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_s_step: Option<f64>,
    /// Its value per transaction, if the report has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_txn: Option<f64>,
    /// Precision of `per_txn`: the value of one unit in its last printed digit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_txn_step: Option<f64>,
}

/// One line of the top timed events.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedEvent {
    /// Name of the event, or CPU.
    pub event: String,
    /// Its wait class; empty if the report has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub class: String,
    /// Number of waits for the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<f64>,
    /// Total time waited, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_s: Option<f64>,
    /// Precision of `time_s`: one unit in its last printed digit, in seconds; absent in records that do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_step_s: Option<f64>,
    /// Mean time per wait, in µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_us: Option<f64>,
    /// Precision of `mean_us`, in µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_step_us: Option<f64>,
    /// Share of DB time in percent; in STATSPACK, of call time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_pct: Option<f64>,
}
