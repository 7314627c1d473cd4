//! The window interval by interval, and what becomes of it when it is long.
//!
//! | file | job |
//! | --- | --- |
//! | `merge` | two stretches of time as one, with nothing made up |
//! | `overview` | a series of any length in a bounded number of points |
//! | `chunk` | a stretch of the full series, as it is stored apart from the record |

mod chunk;
mod merge;
mod overview;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use chunk::{Chunk, Part};
pub use merge::Merge;
pub use overview::{OVERVIEW_POINTS_MAX, Overview};

/// The series of a window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// Spacing in seconds.
    pub interval_s: f64,
    /// One point per interval, in order, none left out: an interval in which nothing ended is a point with 0 ops.
    pub points: Vec<SeriesPoint>,
    /// Where `points` are an overview, each of several measured intervals: the series as it was measured, which is stored in
    /// chunks beside the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full: Option<FullSeries>,
}

impl Series {
    /// A series of `points`, each of which stands for `each` of `intervals` measured ones of `interval_s`.
    pub fn thinned(points: Vec<SeriesPoint>, interval_s: f64, each: u64, intervals: u64) -> Self {
        let full = (each > 1).then_some(FullSeries { interval_s, points: intervals, lacks: None });
        Self { interval_s: interval_s * each as f64, points, full }
    }

    /// Spacing of what was measured, s: finer than that of the points where these are an overview.
    pub fn measured_interval_s(&self) -> f64 {
        self.full.as_ref().map_or(self.interval_s, |full| full.interval_s)
    }

    /// Intervals that were measured.
    pub fn intervals(&self) -> u64 {
        self.full.as_ref().map_or(self.points.len() as u64, |full| full.points)
    }
}

/// The series as it was measured, of which a record holds an overview.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FullSeries {
    /// Spacing in seconds.
    pub interval_s: f64,
    /// Its points.
    pub points: u64,
    /// Why some of them could not be stored; absent where all are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lacks: Option<String>,
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
    /// Operations by response time, as they were counted: the number of each band ([`band_of_us`]) that has any, rising, and
    /// how many. Absent in records of versions that did not keep them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bands: Vec<(i16, u64)>,
    /// Of a point of an overview, the measured interval in it with the least throughput.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowest: Option<Slowest>,
}

impl SeriesPoint {
    /// Operations per second; 0 of no time.
    pub fn rate_per_s(&self) -> f64 {
        if self.seconds > 0.0 { self.ops as f64 / self.seconds } else { 0.0 }
    }

    /// What is reported after the interval was taken for final: operations of it that a session reports late.
    pub fn add_late(&mut self, late: &Self) {
        self.ops += late.ops;
        self.errors += late.errors;
        self.max_us = [self.max_us, late.max_us].into_iter().flatten().reduce(f64::max);
        add_bands(&mut self.bands, &late.bands);
    }
}

/// Bands of response time for each power of ten.
pub const BANDS_PER_DECADE: f64 = 6.0;

/// The band that a response time in µs lies in: band *b* reaches from 10^(b ÷ 6) µs to the next.
pub fn band_of_us(us: f64) -> i16 {
    // What takes no time at all is in the lowest band that a clock can tell, 1 ns.
    (us.max(1e-3).log10() * BANDS_PER_DECADE).floor() as i16
}

/// Both ends of a band, µs.
pub fn band_us(band: i16) -> (f64, f64) {
    let end = |band: f64| 10f64.powf(band / BANDS_PER_DECADE);
    (end(f64::from(band)), end(f64::from(band) + 1.0))
}

/// Adds the counts of `others` to those of `bands`; both rise.
pub(crate) fn add_bands(bands: &mut Vec<(i16, u64)>, others: &[(i16, u64)]) {
    for (band, count) in others {
        match bands.binary_search_by_key(band, |(known, _)| *known) {
            Ok(at) => bands[at].1 = bands[at].1.saturating_add(*count),
            Err(at) => bands.insert(at, (*band, *count)),
        }
    }
}

/// The measured interval with the least throughput in a point of an overview.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Slowest {
    /// Its begin, seconds after the window began.
    pub at_s: f64,
    /// Its length in seconds.
    pub seconds: f64,
    /// Operations that ended in it.
    pub ops: u64,
}

impl Slowest {
    /// Operations per second; 0 of no time.
    pub fn rate_per_s(&self) -> f64 {
        if self.seconds > 0.0 { self.ops as f64 / self.seconds } else { 0.0 }
    }
}
