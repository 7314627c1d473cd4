//! Metrics: figures of a run with units.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The unit of a figure; it is displayed as a short name: `blocks/s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Unit {
    /// A number of events or objects.
    #[serde(rename = "count")]
    Count,
    /// A number of database blocks.
    #[serde(rename = "blocks")]
    Blocks,
    /// A number of bytes, not scaled.
    #[serde(rename = "bytes")]
    Bytes,
    /// A number of table rows.
    #[serde(rename = "rows")]
    Rows,
    /// A length of time in microseconds.
    #[serde(rename = "us")]
    Microseconds,
    /// A length of time in seconds.
    #[serde(rename = "s")]
    Seconds,
    /// A number of events per second.
    #[serde(rename = "1/s")]
    PerSecond,
    /// A number of blocks per second.
    #[serde(rename = "blocks/s")]
    BlocksPerSecond,
    /// A number of bytes per second.
    #[serde(rename = "bytes/s")]
    BytesPerSecond,
    /// Megabytes (10⁶ bytes) per second.
    #[serde(rename = "MB/s")]
    MegabytesPerSecond,
    /// A number of rows per second.
    #[serde(rename = "rows/s")]
    RowsPerSecond,
    /// A share in percent, 0 to 100.
    #[serde(rename = "%")]
    Percent,
    /// Sessions, on average over the window.
    #[serde(rename = "sessions")]
    Sessions,
}

dyno_plan::names! {
    /// The short name for display: `blocks/s`.
    Unit {
        Count = "count", Blocks = "blocks", Bytes = "bytes", Rows = "rows", Microseconds = "us", Seconds = "s",
        PerSecond = "1/s", BlocksPerSecond = "blocks/s", BytesPerSecond = "bytes/s",
        MegabytesPerSecond = "MB/s", RowsPerSecond = "rows/s", Percent = "%", Sessions = "sessions"
    }
}

/// Below this, a figure is a rounding error of its computation: no unit here has such small values.
const DUST: f64 = 1e-9;

/// `value`, or 0 where it is only a rounding error, also a negative zero.
pub fn without_dust(value: f64) -> f64 {
    if value.abs() < DUST { 0.0 } else { value }
}

/// One figure of a run: its value and unit, or the reason for its absence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Metric {
    /// A figure that was measured.
    Value {
        /// Its value in the given unit.
        value: f64,
        /// The unit of the value.
        unit: Unit,
    },
    /// A figure without a value.
    Absent {
        /// Why there is no value.
        absent: String,
    },
}

impl Metric {
    /// The value; `None` if the metric is absent.
    pub fn value(&self) -> Option<f64> {
        match self {
            Self::Value { value, .. } => Some(*value),
            Self::Absent { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_errors_are_zero_and_small_figures_stay() {
        assert_eq!(without_dust(5.752450904793556e-15), 0.0);
        assert!(without_dust(-0.0).is_sign_positive());
        assert_eq!(without_dust(-0.001), -0.001);
    }
}
