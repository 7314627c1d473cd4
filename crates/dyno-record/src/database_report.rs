//! Figures of a report that the database wrote about the time of a run.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metric::Metric;
use crate::reported::Reported;

/// What a report of the database says of the time between two snapshots, taken when the window began and when it
/// ended: an AWR report.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DatabaseReport {
    /// The name of the report: `AWR snapshots 17 to 18`.
    pub name: String,
    /// Time between its snapshots, in seconds, as precise as the report prints it; absent if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Its figures, under the names of the run's own metrics.
    pub metrics: BTreeMap<String, Metric>,
    /// Its load profile and top timed events.
    pub reported: Reported,
}
