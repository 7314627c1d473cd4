//! Metrics: figures of a run with their units.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A unit of a figure. Shown as its short name: `blocks/s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Unit {
    /// A plain count.
    #[serde(rename = "count")]
    Count,
    /// Database blocks.
    #[serde(rename = "blocks")]
    Blocks,
    /// Bytes.
    #[serde(rename = "bytes")]
    Bytes,
    /// Rows.
    #[serde(rename = "rows")]
    Rows,
    /// Microseconds.
    #[serde(rename = "us")]
    Microseconds,
    /// Seconds.
    #[serde(rename = "s")]
    Seconds,
    /// Events per second.
    #[serde(rename = "1/s")]
    PerSecond,
    /// Blocks per second.
    #[serde(rename = "blocks/s")]
    BlocksPerSecond,
    /// Bytes per second.
    #[serde(rename = "bytes/s")]
    BytesPerSecond,
    /// Megabytes (10⁶ bytes) per second.
    #[serde(rename = "MB/s")]
    MegabytesPerSecond,
    /// Rows per second.
    #[serde(rename = "rows/s")]
    RowsPerSecond,
    /// Percent.
    #[serde(rename = "%")]
    Percent,
    /// Sessions, on average over the window.
    #[serde(rename = "sessions")]
    Sessions,
}

dyno_plan::names! {
    /// The short name: `blocks/s`.
    Unit {
        Count = "count", Blocks = "blocks", Bytes = "bytes", Rows = "rows", Microseconds = "us", Seconds = "s",
        PerSecond = "1/s", BlocksPerSecond = "blocks/s", BytesPerSecond = "bytes/s",
        MegabytesPerSecond = "MB/s", RowsPerSecond = "rows/s", Percent = "%", Sessions = "sessions"
    }
}

/// One figure of a run: its value and unit, or why there is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Metric {
    /// The figure.
    Value {
        /// Its value.
        value: f64,
        /// Its unit.
        unit: Unit,
    },
    /// Why there is none.
    Absent {
        /// The reason.
        absent: String,
    },
}

impl Metric {
    /// The value, if there is one.
    pub fn value(&self) -> Option<f64> {
        match self {
            Self::Value { value, .. } => Some(*value),
            Self::Absent { .. } => None,
        }
    }
}
