//! A part of a full series as stored beside the record. It is stored by columns, so that names occur once and similar values
//! are adjacent; it compresses to a tenth.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::SeriesPoint;
use crate::json::RecordError;

/// Which series: 0 for all targets together, otherwise the number of the target, from 1.
pub type SeriesPart = u32;

/// Significant digits of stored rates: more than counting for a second can resolve.
const DIGITS: usize = 7;

/// Consecutive intervals of one series.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SeriesChunk {
    /// The series to which they belong.
    pub part: SeriesPart,
    /// Number of the first interval, from 0.
    pub first: u64,
    /// The intervals in their order.
    pub points: Vec<SeriesPoint>,
}

/// The chunk as it is written. All columns have the same length.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Columns {
    at_s: Vec<f64>,
    seconds: Vec<f64>,
    ops: Vec<u64>,
    errors: Vec<u64>,
    p50_us: Vec<Option<f64>>,
    p99_us: Vec<Option<f64>>,
    max_us: Vec<Option<f64>>,
    metrics: BTreeMap<String, Vec<Option<f64>>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    bands: Vec<Vec<(i16, u64)>>,
}

impl SeriesChunk {
    /// The number after that of its last interval.
    pub fn end(&self) -> u64 {
        self.first + self.points.len() as u64
    }

    /// Its points as JSON. A figure that is not finite is left out.
    ///
    /// # Errors
    /// No case is known; errors of the JSON writer would appear here.
    pub fn to_json(&self) -> Result<String, RecordError> {
        let names: BTreeSet<&String> = self.points.iter().flat_map(|point| point.metrics.keys()).collect();
        let column =
            |name: &String| self.points.iter().map(|p| p.metrics.get(name).copied().map(rounded)).collect();
        let time_column = |time: fn(&SeriesPoint) -> Option<f64>| self.points.iter().map(time).collect();
        let columns = Columns {
            at_s: self.points.iter().map(|point| point.at_s).collect(),
            seconds: self.points.iter().map(|point| point.seconds).collect(),
            ops: self.points.iter().map(|point| point.ops).collect(),
            errors: self.points.iter().map(|point| point.errors).collect(),
            p50_us: time_column(|point| point.p50_us),
            p99_us: time_column(|point| point.p99_us),
            max_us: time_column(|point| point.max_us),
            metrics: names.into_iter().map(|name| (name.clone(), column(name))).collect(),
            bands: match self.points.iter().any(|point| !point.bands.is_empty()) {
                true => self.points.iter().map(|point| point.bands.clone()).collect(),
                false => Vec::new(),
            },
        };
        serde_json::to_string(&columns).map_err(|error| malformed(&error))
    }

    /// Reads points that [`SeriesChunk::to_json`] wrote; the first interval has the number `first`.
    ///
    /// # Errors
    /// The text has another structure.
    pub fn from_json(part: SeriesPart, first: u64, json: &str) -> Result<Self, RecordError> {
        let columns: Columns = serde_json::from_str(json).map_err(|error| malformed(&error))?;
        let len = columns.at_s.len();
        let times = [&columns.p50_us, &columns.p99_us, &columns.max_us];
        let fits = columns.seconds.len() == len
            && columns.ops.len() == len
            && columns.errors.len() == len
            && (columns.bands.is_empty() || columns.bands.len() == len)
            && times.into_iter().chain(columns.metrics.values()).all(|column| column.len() == len);
        if !fits {
            return Err(RecordError::Malformed { detail: "columns of a series differ in length".into() });
        }
        let point = |at: usize| SeriesPoint {
            at_s: columns.at_s[at],
            seconds: columns.seconds[at],
            ops: columns.ops[at],
            errors: columns.errors[at],
            p50_us: columns.p50_us[at],
            p99_us: columns.p99_us[at],
            max_us: columns.max_us[at],
            metrics: columns.metrics.iter().filter_map(|(name, of)| Some((name.clone(), of[at]?))).collect(),
            bands: columns.bands.get(at).cloned().unwrap_or_default(),
            slowest: None,
        };
        Ok(Self { part, first, points: (0..len).map(point).collect() })
    }
}

fn malformed(error: &serde_json::Error) -> RecordError {
    RecordError::Malformed { detail: error.to_string() }
}

fn rounded(value: f64) -> f64 {
    format!("{value:.*e}", DIGITS - 1).parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::merge::tests::points;
    use super::*;

    proptest! {
        #[test]
        fn series_chunk_round_trip_keeps_seven_digits_of_rates(all in points(0..50), first in 0u64..1 << 40) {
            let chunk = SeriesChunk { part: 2, first, points: all };
            let back = SeriesChunk::from_json(2, first, &chunk.to_json().unwrap()).unwrap();
            prop_assert_eq!(back.end(), chunk.end());
            for (was, is) in chunk.points.iter().zip(&back.points) {
                prop_assert_eq!((was.at_s, was.seconds, was.ops, was.errors), (is.at_s, is.seconds, is.ops, is.errors));
                prop_assert_eq!((was.p50_us, was.p99_us, was.max_us), (is.p50_us, is.p99_us, is.max_us));
                prop_assert_eq!(&was.bands, &is.bands);
                for (name, value) in &was.metrics {
                    prop_assert!((value - is.metrics[name]).abs() <= 1e-6 * value.abs());
                }
            }
        }
    }

    #[test]
    fn missing_interval_metrics_stay_absent_and_nan_becomes_absent() {
        let metric_map = |name: &str, value| BTreeMap::from([(name.to_owned(), value)]);
        let with = |metrics| SeriesPoint { metrics, ..SeriesPoint::default() };
        let chunk = SeriesChunk {
            part: 0,
            first: 7,
            points: vec![with(metric_map("a", 1.0)), with(metric_map("b", f64::NAN))],
        };
        let back = SeriesChunk::from_json(0, 7, &chunk.to_json().unwrap()).unwrap();
        assert_eq!((&back.points[0].metrics, back.points[1].metrics.len()), (&metric_map("a", 1.0), 0));
        let cut = chunk.to_json().unwrap().replace("\"ops\":[0,0]", "\"ops\":[0]");
        assert!(SeriesChunk::from_json(0, 7, &cut).unwrap_err().to_string().contains("differ in length"));
    }
}
