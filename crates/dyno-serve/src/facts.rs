//! The facts of a record that its card needs and its summary lacks.

use dyno_analyze::limited::limited;
use dyno_record::{RecordKind, RunRecord};
use dyno_report::chart::{ChartPoint, mean_of_chunks};

/// Maximum number of points in a sparkline.
pub(crate) const SPARK_POINTS: usize = 48;

/// The facts of a record that its summary lacks.
#[derive(Debug, Clone, Default)]
pub(crate) struct CardFacts {
    /// The name of a custom workload, or the source of imported figures; empty for the block workload and
    /// where nothing is executed.
    pub(crate) workload: String,
    /// The result of a watch in one sentence; empty for others.
    pub(crate) answer: String,
    /// Operations per second over the window, or commits per second of a watch.
    pub(crate) spark: Vec<f64>,
    /// The bottleneck, in a word or two; empty if unknown.
    pub(crate) limit: String,
    /// Whether the audit has warnings.
    pub(crate) is_warned: bool,
}

impl CardFacts {
    pub(crate) fn of(record: &RunRecord) -> Self {
        let points = record.series.points.iter();
        let rates: Vec<f64> = match record.kind {
            // A watch has no operations of its own.
            RecordKind::Watch => {
                points.filter_map(|point| point.metrics.get("commits_per_s").copied()).collect()
            }
            _ => points.map(dyno_record::SeriesPoint::rate_per_s).collect(),
        };
        let has_doubt = |check: &dyno_record::AuditCheck| check.status == dyno_record::CheckStatus::Warn;
        let is_run = matches!(record.kind, RecordKind::Run | RecordKind::Import);
        Self {
            workload: workload(record),
            answer: dyno_report::watch_answer(record).unwrap_or_default(),
            spark: thinned(&rates),
            limit: if is_run { limited(record).short() } else { String::new() },
            is_warned: record.audit.iter().any(has_doubt),
        }
    }
}

fn workload(record: &RunRecord) -> String {
    match (&record.imported, &record.workload) {
        (Some(source), _) => format!("{} ({})", source.file, source.format),
        (None, Some(custom)) => custom.name.clone(),
        (None, None) => String::new(),
    }
}

/// Reduces values to the points of a sparkline, each the mean of several values.
pub(crate) fn thinned(values: &[f64]) -> Vec<f64> {
    let points: Vec<ChartPoint> =
        values.iter().enumerate().map(|(at, value)| ChartPoint::at(at as f64, *value)).collect();
    mean_of_chunks(&points, SPARK_POINTS).into_iter().map(|point| point.y).collect()
}
