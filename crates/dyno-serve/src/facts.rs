//! What a record says for its card that its summary does not.

use dyno_analyze::limited::limited;
use dyno_record::{Kind, RunRecord};
use dyno_report::chart::{Point, mean_of_chunks};

/// Points of a sparkline.
pub(crate) const SPARK_POINTS: usize = 48;

/// What a record says that its summary does not.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    /// Throughput over the window.
    pub(crate) spark: Vec<f64>,
    /// What limits, in a word or two.
    pub(crate) limit: String,
    /// Whether the audit has warnings.
    pub(crate) is_warned: bool,
    /// What the record is of.
    pub(crate) kind: &'static str,
}

impl Facts {
    pub(crate) fn of(record: &RunRecord) -> Self {
        let rates: Vec<f64> = record.series.points.iter().map(dyno_record::SeriesPoint::rate_per_s).collect();
        let has_doubt = |check: &dyno_record::AuditCheck| check.status == dyno_record::CheckStatus::Warn;
        let kind = match record.kind {
            Kind::Watch => "watch",
            Kind::Component => "component",
            _ => "",
        };
        let is_run = kind.is_empty();
        Self {
            spark: thinned(&rates),
            limit: if is_run { limited(record).short() } else { String::new() },
            is_warned: record.audit.iter().any(has_doubt),
            kind,
        }
    }
}

/// As many points as a sparkline has room for, each the mean of a stretch.
pub(crate) fn thinned(values: &[f64]) -> Vec<f64> {
    let points: Vec<Point> =
        values.iter().enumerate().map(|(at, value)| Point::at(at as f64, *value)).collect();
    mean_of_chunks(&points, SPARK_POINTS).into_iter().map(|point| point.y).collect()
}
