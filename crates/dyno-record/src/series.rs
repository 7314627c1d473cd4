//! The series of intervals over a window, and its reduction for long windows.
//!
//! | file | job |
//! | --- | --- |
//! | `merge` | combines two intervals into one without inventing data |
//! | `overview` | reduces a series of any length to a bounded number of points |
//! | `chunk` | a part of the full series, as stored separately from the record |

mod chunk;
mod merge;
mod overview;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use chunk::{SeriesChunk, SeriesPart};
pub use merge::Merge;
pub use overview::{OVERVIEW_POINTS_MAX, SeriesOverview};

/// The series of a window: one point per interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// Time between two points, in seconds.
    pub interval_s: f64,
    /// The points in order, without gaps: an interval in which no operation ended is a point with 0 ops.
    pub points: Vec<SeriesPoint>,
    /// The full series, stored in chunks beside the record; present if `points` are an overview with several intervals per point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full: Option<FullSeries>,
}

impl Series {
    /// A series of `points`, each of which combines `intervals_per_point` of the `intervals` measured ones of `interval_s` seconds.
    pub fn thinned(
        points: Vec<SeriesPoint>,
        interval_s: f64,
        intervals_per_point: u64,
        intervals: u64,
    ) -> Self {
        let full =
            (intervals_per_point > 1).then_some(FullSeries { interval_s, points: intervals, lacks: None });
        Self { interval_s: interval_s * intervals_per_point as f64, points, full }
    }

    /// Length of the measured intervals in seconds; shorter than that of the points in an overview.
    pub fn measured_interval_s(&self) -> f64 {
        self.full.as_ref().map_or(self.interval_s, |full| full.interval_s)
    }

    /// Number of intervals that were measured.
    pub fn intervals(&self) -> u64 {
        self.full.as_ref().map_or(self.points.len() as u64, |full| full.points)
    }
}

/// The full series behind a record's overview.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FullSeries {
    /// Time between two points, in seconds.
    pub interval_s: f64,
    /// Number of points in the full series.
    pub points: u64,
    /// Why some of them could not be stored; absent if all are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lacks: Option<String>,
}

/// One interval of a series.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeriesPoint {
    /// Begin of the interval, in seconds after the window's begin.
    pub at_s: f64,
    /// Length in seconds; the last interval may be shorter.
    pub seconds: f64,
    /// Number of operations that ended in it.
    pub ops: u64,
    /// Number of operations that failed in it.
    pub errors: u64,
    /// Median response time, µs, two significant digits.
    pub p50_us: Option<f64>,
    /// 99th percentile of response time, µs, two significant digits.
    pub p99_us: Option<f64>,
    /// Largest response time, µs, two significant digits.
    pub max_us: Option<f64>,
    /// Rates of database and host counters in this interval, by metric name.
    pub metrics: BTreeMap<String, f64>,
    /// Operations by response time: for each band ([`band_of_us`]) with operations, its number, rising, and the count. Absent in
    /// records of versions that did not store them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bands: Vec<(i16, u64)>,
    /// In an overview, the measured interval with the lowest throughput within this point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowest: Option<Slowest>,
}

impl SeriesPoint {
    /// Operations per second; 0 if the interval has no length.
    pub fn rate_per_s(&self) -> f64 {
        if self.seconds > 0.0 { self.ops as f64 / self.seconds } else { 0.0 }
    }

    /// Adds results that a session reported after the interval was taken as final.
    pub fn add_late(&mut self, late: &Self) {
        self.ops += late.ops;
        self.errors += late.errors;
        self.max_us = [self.max_us, late.max_us].into_iter().flatten().reduce(f64::max);
        add_bands(&mut self.bands, &late.bands);
    }
}

/// Number of response time bands per power of ten.
pub const BANDS_PER_DECADE: f64 = 6.0;

/// The band of a response time in µs: band *b* extends from 10^(b ÷ 6) µs to the next one.
pub fn band_of_us(us: f64) -> i16 {
    // A time of zero is in the band of 1 ns, the shortest time that a clock can measure.
    (us.max(1e-3).log10() * BANDS_PER_DECADE).floor() as i16
}

/// Lower and upper end of a band, in µs.
pub fn band_us(band: i16) -> (f64, f64) {
    let end = |band: f64| 10f64.powf(band / BANDS_PER_DECADE);
    (end(f64::from(band)), end(f64::from(band) + 1.0))
}

/// Adds the counts of `added` to those of `bands`; both are sorted by band.
pub(crate) fn add_bands(bands: &mut Vec<(i16, u64)>, added: &[(i16, u64)]) {
    for (band, count) in added {
        match bands.binary_search_by_key(band, |(known, _)| *known) {
            Ok(at) => bands[at].1 = bands[at].1.saturating_add(*count),
            Err(at) => bands.insert(at, (*band, *count)),
        }
    }
}

/// The measured interval with the lowest throughput in one point of an overview.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Slowest {
    /// Its begin, in seconds after the window's begin.
    pub at_s: f64,
    /// Its length in seconds, as measured.
    pub seconds: f64,
    /// Number of operations that ended in it.
    pub ops: u64,
}

impl Slowest {
    /// Operations per second; 0 if the interval has no length.
    pub fn rate_per_s(&self) -> f64 {
        if self.seconds > 0.0 { self.ops as f64 / self.seconds } else { 0.0 }
    }
}
