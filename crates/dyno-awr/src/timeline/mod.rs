//! Analyzes reports of one instance over time. It finds gaps between them, the levels of their
//! figures, outliers within a level with what changed then, and what correlates with DB time.

mod anomaly;
mod causes;
mod changes;
mod correlate;
mod levels;
mod order;
mod plans;
mod point;
mod rates;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use anomaly::{Anomaly, OddFigure};
pub use changes::AwrRateDeviation;
pub use correlate::Correlated;
pub use levels::{AwrLevelChange, AwrLevelSpan};
pub use point::{AwrSeriesKey, AwrTimelinePoint};
pub use rates::{AwrObject, AwrRateKind, AwrRateSubject, Rates};

/// A figure that is followed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AwrMeasure {
    /// The column's name in output.
    pub column: &'static str,
    /// The name used in sentences.
    pub name: &'static str,
    /// The smallest difference that is relevant, in its unit.
    pub weight: f64,
}

const fn measure(column: &'static str, name: &'static str, weight: f64) -> AwrMeasure {
    AwrMeasure { column, name, weight }
}

/// Figures that are followed. The first one is the load, by which levels are defined.
pub const MEASURES: [AwrMeasure; 14] = [
    measure("aas", "active sessions", 0.05),
    measure("cpu_busy_pct", "CPU %", 1.0),
    measure("unaccounted_pct", "DB time unaccounted %", 2.0),
    measure("lio_per_s", "logical reads/s", 50.0),
    measure("read_iops", "read IOPS", 5.0),
    measure("write_iops", "write IOPS", 5.0),
    measure("read_mib_per_s", "read MiB/s", 1.0),
    measure("redo_mib_per_s", "redo MiB/s", 0.1),
    measure("read_ms", "read ms", 0.1),
    measure("log_file_sync_ms", "log file sync ms", 0.1),
    measure("txn_per_s", "transactions/s", 1.0),
    measure("executes_per_s", "executions/s", 10.0),
    measure("load_profile_per_s.hard_parses", "hard parses/s", 1.0),
    measure("load_profile_per_s.logons", "logons/s", 0.1),
];

/// Fewest reports that define what is usual.
pub const POINTS_MIN: usize = 8;

/// A finding about a point.
#[derive(Debug, Clone, PartialEq)]
pub enum Flag {
    /// Time between the report before and this one is in neither.
    Gap {
        /// Number of missing snapshots, where their ids show it.
        snapshots: Option<u64>,
        /// Length of the gap, where the times show it.
        minutes: Option<f64>,
    },
    /// This report begins before the previous one ends.
    Overlap {
        /// Number of common snapshots, where their ids show it.
        snapshots: Option<u64>,
        /// Length of the overlap, where the times show it.
        minutes: Option<f64>,
    },
    /// The snapshot ids do not continue those of the report before, though the time does.
    Renumbered,
    /// The instance was restarted before this report.
    Restart,
    /// Another report of the same interval was left out.
    Twice {
        /// Name of the report that was left out.
        file: String,
    },
    /// From this report on, figures have another level.
    Level(Vec<AwrLevelChange>),
    /// A statement uses a plan that no report before had, though they list plans of it.
    Plan {
        statement: String,
        /// Plans that were not used before.
        new: Vec<String>,
        /// Plans in the reports before.
        before: Vec<String>,
    },
    /// Figures differ much from what is usual in their level and around them.
    Anomaly(Anomaly),
}

/// The reports of one instance in order, each with its findings.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// The series to which the reports belong.
    pub series: AwrSeriesKey,
    pub points: Vec<(AwrTimelinePoint, Vec<Flag>)>,
    /// The levels of each of [`MEASURES`], in order.
    pub levels: Vec<Vec<AwrLevelSpan>>,
    /// The causes of each change of the load to another level, by the report that has the flag.
    pub causes: BTreeMap<usize, Vec<AwrRateDeviation>>,
    /// What correlates with DB time: times by their share of its rise, counts by the strength of
    /// the correlation.
    pub correlated: Vec<Correlated>,
}

/// Sorts reports into series, and analyzes each of them.
pub fn timelines(points: Vec<AwrTimelinePoint>) -> Vec<Timeline> {
    let mut by_series: BTreeMap<AwrSeriesKey, Vec<AwrTimelinePoint>> = BTreeMap::new();
    for point in points {
        by_series.entry(point.series.clone()).or_default().push(point);
    }
    by_series.into_iter().map(|(series, points)| timeline(series, points)).collect()
}

fn timeline(series: AwrSeriesKey, points: Vec<AwrTimelinePoint>) -> Timeline {
    let mut flagged = order::ordered(points);
    plans::flag(&mut flagged);
    let enough = flagged.len() >= POINTS_MIN;
    let level_map = if enough { levels::find(&flagged) } else { levels::AwrFigureLevels::none() };
    levels::flag(&mut flagged, &level_map);
    anomaly::flag(&mut flagged, &level_map);
    let correlated = if enough { correlate::correlated(&flagged, &level_map) } else { Vec::new() };
    let causes = causes::of_levels(&flagged, &level_map);
    Timeline { series, points: flagged, levels: level_map.spans(), causes, correlated }
}
