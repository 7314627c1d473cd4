//! The facts of a record that its card needs and its summary lacks.

use dyno_analyze::limited::limited;
use dyno_record::{RecordKind, RunRecord};
use dyno_report::chart::{ChartPoint, mean_of_chunks};

/// Maximum number of points in a sparkline.
pub(crate) const SPARK_POINTS: usize = 48;

/// The facts of a record that its summary lacks.
#[derive(Debug, Clone, Default)]
pub(crate) struct CardFacts {
    /// The workload: the name of a custom one, or the share of updates; empty where nothing is executed.
    pub(crate) workload: String,
    /// Throughput over the window, operations per second.
    pub(crate) spark: Vec<f64>,
    /// The bottleneck, in a word or two; empty if unknown.
    pub(crate) limit: String,
    /// Whether the audit has warnings.
    pub(crate) is_warned: bool,
    /// The kind of the record, as on the card.
    pub(crate) kind: &'static str,
}

impl CardFacts {
    pub(crate) fn of(record: &RunRecord) -> Self {
        let rates: Vec<f64> = record.series.points.iter().map(dyno_record::SeriesPoint::rate_per_s).collect();
        let has_doubt = |check: &dyno_record::AuditCheck| check.status == dyno_record::CheckStatus::Warn;
        let kind = match record.kind {
            RecordKind::Watch => "watch",
            RecordKind::Component => "component",
            _ => "",
        };
        let is_run = kind.is_empty();
        Self {
            workload: if is_run { workload(record) } else { String::new() },
            spark: thinned(&rates),
            limit: if is_run { limited(record).short() } else { String::new() },
            is_warned: record.audit.iter().any(has_doubt),
            kind,
        }
    }
}

/// The workload of a run in a few words.
fn workload(record: &RunRecord) -> String {
    match (&record.workload, record.plan.workload.update_pct) {
        _ if record.imported.is_some() => String::new(),
        (Some(custom), _) => custom.name.clone(),
        (None, 0) => "block reads".to_owned(),
        (None, update_pct) => format!("{update_pct} % updates"),
    }
}

/// Reduces values to the points of a sparkline, each the mean of several values.
pub(crate) fn thinned(values: &[f64]) -> Vec<f64> {
    let points: Vec<ChartPoint> =
        values.iter().enumerate().map(|(at, value)| ChartPoint::at(at as f64, *value)).collect();
    mean_of_chunks(&points, SPARK_POINTS).into_iter().map(|point| point.y).collect()
}
