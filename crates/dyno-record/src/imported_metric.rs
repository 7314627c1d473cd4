//! Metrics that another system measured during a run: a cloud's metrics of a managed database, whose host Dyno cannot observe.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An external metric over the time of a run. Dyno shows it beside the run's own figures and uses it in no figure, check or
/// conclusion.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ImportedMetric {
    /// The name in its source: `CPUUtilization`.
    pub name: String,
    /// The instance that it describes, as the source names it; empty if the source does not say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub of: String,
    /// How each period was aggregated, such as `Average`; empty if the source does not say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub statistic: String,
    /// Its unit, as the source names it, such as `Percent`; empty if the source does not say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unit: String,
    /// The name of the imported file, without its folder.
    pub file: String,
    /// The length of its periods in seconds; absent if unknown, in which case each value is of one moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period_s: Option<f64>,
    /// Whether the length of the periods was derived from its times alone.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_period_found: bool,
    /// The periods that overlap the window, in order of time.
    pub points: Vec<ImportedPoint>,
    /// Statistics over the periods that lie entirely in the window; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<ImportedWithin>,
    /// Rows of the file before and after the window, which are not stored.
    pub outside: (u64, u64),
}

/// The value of one period.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ImportedPoint {
    /// Start of the period in seconds after the window's begin, by the source's clock; negative if earlier.
    pub at_s: f64,
    /// Its value in the metric's unit.
    pub value: f64,
}

/// Statistics over the periods that lie entirely in the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ImportedWithin {
    /// The number of these periods.
    pub periods: u64,
    /// The mean of their values.
    pub mean: f64,
    /// The smallest of their values.
    pub least: f64,
    /// The largest of their values.
    pub most: f64,
}

impl ImportedMetric {
    /// Whether both describe the same metric, so that the newer one replaces the older.
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.name, &self.of, &self.statistic) == (&other.name, &other.of, &other.statistic)
    }
}

fn is_false(value: &bool) -> bool {
    !value
}
