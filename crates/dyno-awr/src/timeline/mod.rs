//! Reports of one instance in the order of time: what is missing between them, which levels their figures keep, which
//! reports stand out within a level and what moved with them, and what goes with DB time.

mod anomaly;
mod causes;
mod correlate;
mod levels;
mod moved;
mod order;
mod plans;
mod point;
mod rates;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use anomaly::{Anomaly, OddFigure};
pub use correlate::Correlated;
pub use levels::{Span, Step};
pub use moved::Moved;
pub use point::{Point, Series};
pub use rates::{Object, Rates, Thing, What};

/// A figure that is followed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measure {
    /// Its column's name.
    pub column: &'static str,
    /// What it is called.
    pub name: &'static str,
    /// The least difference that is of any weight.
    pub weight: f64,
}

const fn measure(column: &'static str, name: &'static str, weight: f64) -> Measure {
    Measure { column, name, weight }
}

/// Figures that are followed. The first one is the load that levels are told by.
pub const MEASURES: [Measure; 14] = [
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

/// Reports that it takes to say what is usual.
pub const POINTS_MIN: usize = 8;

/// What is to be said of a point.
#[derive(Debug, Clone, PartialEq)]
pub enum Flag {
    /// Between the report before and this one is a time that is in neither.
    Gap {
        /// How many snapshots, where their numbers tell.
        snapshots: Option<u64>,
        /// How long, where the times tell.
        minutes: Option<f64>,
    },
    /// This report begins before the one before ends.
    Overlap {
        /// How many snapshots both have, where their numbers tell.
        snapshots: Option<u64>,
        /// How long, where the times tell.
        minutes: Option<f64>,
    },
    /// The numbers of snapshots do not go on from those of the report before, though the time does.
    Renumbered,
    /// The instance was started anew.
    Restart,
    /// Another report of the very same interval was left out.
    Twice {
        /// Its file.
        file: String,
    },
    /// From here on figures keep another level.
    Level(Vec<Step>),
    /// A statement runs by a plan that no report before had, though they know plans of it.
    Plan {
        /// The statement's id.
        statement: String,
        /// Plans that are new.
        new: Vec<String>,
        /// Plans before.
        before: Vec<String>,
    },
    /// Figures stand far from what is usual in their level and around them.
    Anomaly(Anomaly),
}

/// The reports of one instance in order, each with what is to be said of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// Whose.
    pub series: Series,
    /// The reports.
    pub points: Vec<(Point, Vec<Flag>)>,
    /// The levels of each of [`MEASURES`], in order.
    pub levels: Vec<Vec<Span>>,
    /// What brought each change of the load to another level, by the report that it is flagged at.
    pub causes: BTreeMap<usize, Vec<Moved>>,
    /// What goes with DB time: times by the share of its rise that they explain, counts by how close they are.
    pub correlated: Vec<Correlated>,
}

/// Orders reports and looks at each line of time.
pub fn timelines(points: Vec<Point>) -> Vec<Timeline> {
    let mut by_series: BTreeMap<Series, Vec<Point>> = BTreeMap::new();
    for point in points {
        by_series.entry(point.series.clone()).or_default().push(point);
    }
    by_series.into_iter().map(|(series, points)| timeline(series, points)).collect()
}

fn timeline(series: Series, points: Vec<Point>) -> Timeline {
    let mut flagged = order::ordered(points);
    plans::flag(&mut flagged);
    let enough = flagged.len() >= POINTS_MIN;
    let found = if enough { levels::find(&flagged) } else { levels::Found::none() };
    levels::flag(&mut flagged, &found);
    anomaly::flag(&mut flagged, &found);
    let correlated = if enough { correlate::correlated(&flagged, &found) } else { Vec::new() };
    let causes = causes::of_levels(&flagged, &found);
    Timeline { series, points: flagged, levels: found.spans(), causes, correlated }
}
