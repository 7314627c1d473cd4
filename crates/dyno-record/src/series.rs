//! The window second by second.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The series of a window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// Spacing in seconds.
    pub interval_s: f64,
    /// One point per interval, in order, none left out: an interval in which nothing ended is a point with 0 ops.
    pub points: Vec<SeriesPoint>,
}

/// One interval of a series.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeriesPoint {
    /// Begin of the interval, seconds after the window began.
    pub at_s: f64,
    /// Length in seconds; the last may be shorter.
    pub seconds: f64,
    /// Operations that ended in it.
    pub ops: u64,
    /// Operations that failed in it.
    pub errors: u64,
    /// Median response time, µs, two significant digits.
    pub p50_us: Option<f64>,
    /// 99th percentile of response time, µs, two significant digits.
    pub p99_us: Option<f64>,
    /// Largest response time, µs, two significant digits.
    pub max_us: Option<f64>,
    /// Rates of database and host counters in this interval, by metric name.
    pub metrics: BTreeMap<String, f64>,
}
