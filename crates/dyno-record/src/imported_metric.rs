//! What somebody else measured while a run went on: a cloud's metrics of a managed database, whose host nobody can look at.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A metric of elsewhere over the time of a run. It is shown beside the run's own figures and never mixed in: no figure, check or
/// conclusion uses it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ImportedMetric {
    /// What its source calls it: `CPUUtilization`.
    pub name: String,
    /// What it is of, as its source calls that: an instance; empty where it does not tell.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub of: String,
    /// How its values were made of what was measured in each period: `Average`; empty where its source does not tell.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub statistic: String,
    /// Its unit, as its source calls it: `Percent`; empty where it does not tell.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unit: String,
    /// The file that it was read from, without its folder.
    pub file: String,
    /// How long each of its periods is, s; absent where nobody tells, and then its values are of moments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period_s: Option<f64>,
    /// Whether the length of its periods was found from its times alone.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_period_found: bool,
    /// Periods that have a part of the window in them, in the order of time.
    pub points: Vec<ImportedPoint>,
    /// What its values were in periods that are wholly in the window; absent where none is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<ImportedWithin>,
    /// Rows of the file before the window and behind it, of which nothing is kept.
    pub outside: (u64, u64),
}

/// A value of a period.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ImportedPoint {
    /// When the period begins, s after the window began by the source's own clock; below 0 where it begins before.
    pub at_s: f64,
    /// The value.
    pub value: f64,
}

/// Values of periods that are wholly in the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ImportedWithin {
    /// How many.
    pub periods: u64,
    /// Their mean.
    pub mean: f64,
    /// The least of them.
    pub least: f64,
    /// The most.
    pub most: f64,
}

impl ImportedMetric {
    /// Whether both are of the same thing: then the newer stands for the older.
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.name, &self.of, &self.statistic) == (&other.name, &other.of, &other.statistic)
    }
}

fn is_false(value: &bool) -> bool {
    !value
}
