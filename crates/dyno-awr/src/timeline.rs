//! Reports of one instance in the order of time: what is missing between them, and which stand out.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use jiff::civil::DateTime;

use crate::moment::moment;
use crate::report::{Kind, Report};
use crate::row::{Line, Value};
use crate::table::Form;

/// Figures that are followed, by their columns' names, and what they are called.
pub const MEASURES: [(&str, &str); 13] = [
    ("aas", "active sessions"),
    ("cpu_busy_pct", "CPU %"),
    ("lio_per_s", "logical reads/s"),
    ("read_iops", "read IOPS"),
    ("write_iops", "write IOPS"),
    ("read_mib_per_s", "read MiB/s"),
    ("redo_mib_per_s", "redo MiB/s"),
    ("read_ms", "read ms"),
    ("log_file_sync_ms", "log file sync ms"),
    ("txn_per_s", "transactions/s"),
    ("executes_per_s", "executions/s"),
    ("load_profile_per_s.hard_parses", "hard parses/s"),
    ("load_profile_per_s.logons", "logons/s"),
];

/// Whose reports belong to one line of time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Series {
    /// What kind of reports; those of clusters and of instances are never mixed.
    pub kind: Kind,
    /// The database: its DBID, or its name where there is none.
    pub database: String,
    /// The instance; a star for clusters.
    pub instance: String,
}

/// One report on the line.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Whose it is.
    pub series: Series,
    /// The database's name.
    pub db_name: Option<String>,
    /// Its file.
    pub file: String,
    /// Whether it came as HTML, which has more digits and whole names.
    pub html: bool,
    /// First and last snapshot.
    pub snaps: Option<(u64, u64)>,
    /// When it begins.
    pub begin: Option<DateTime>,
    /// Its length.
    pub minutes: Option<f64>,
    /// When the instance was started, as printed.
    pub startup: Option<String>,
    /// Values of [`MEASURES`].
    pub values: Vec<Option<f64>>,
    /// What took most time.
    pub top_event: Option<String>,
}

impl Point {
    /// What a line of time needs of a report.
    pub fn of(report: &Report) -> Self {
        let line = Line { report, instance: None };
        let text = |name: &str| match line.value(name) {
            Value::Text(text) => Some(text),
            Value::Number(reading) => Some(format!("{:.0}", reading.value)),
            Value::Absent => None,
        };
        let value = |name: &str| match line.value(name) {
            Value::Number(reading) => Some(reading.value),
            _ => None,
        };
        let snap = |name: &str| report.value(name).map(|id| id as u64);
        Self {
            series: Series {
                kind: report.kind,
                database: text("dbid").or_else(|| text("db_name")).unwrap_or_default(),
                instance: text("instance").unwrap_or_default(),
            },
            db_name: text("db_name"),
            file: report.file.clone(),
            html: report.form == Form::Html,
            snaps: snap("begin_snap").zip(snap("end_snap")),
            begin: begin(report),
            minutes: report.value("elapsed_min"),
            startup: text("startup_time"),
            values: MEASURES.iter().map(|(name, _)| value(name)).collect(),
            top_event: text("top_event"),
        }
    }
}

/// A cluster's report has the times of its instances only.
fn begin(report: &Report) -> Option<DateTime> {
    let of_instance = || report.instances.first().and_then(|instance| instance.words.get("begin_time"));
    moment(report.word("begin_time").or_else(|| of_instance().map(String::as_str))?)
}

/// What is to be said of a point.
#[derive(Debug, Clone, PartialEq)]
pub enum Flag {
    /// Snapshots between the report before and this one are in neither.
    Gap {
        /// How many.
        snapshots: u64,
    },
    /// This report begins before the one before ends.
    Overlap {
        /// How many snapshots both have.
        snapshots: u64,
    },
    /// The instance was started anew.
    Restart,
    /// Another report of the very same interval was left out.
    Twice {
        /// Its file.
        file: String,
    },
    /// A figure stands far from those of the other reports.
    Outlier {
        /// Which of [`MEASURES`].
        measure: usize,
        /// Its value.
        value: f64,
        /// What is usual.
        median: f64,
        /// How far, in robust standard deviations; negative below.
        score: f64,
    },
}

/// The reports of one instance in order, each with what is to be said of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// Whose.
    pub series: Series,
    /// The reports.
    pub points: Vec<(Point, Vec<Flag>)>,
}

/// Robust standard deviations from the median beyond which a figure stands out (Iglewicz and Hoaglin, "How to Detect and
/// Handle Outliers", 1993, recommend 3.5 for the modified z-score).
pub const SCORE_MAX: f64 = 3.5;

/// Reports that it takes to say what is usual.
pub const POINTS_MIN: usize = 8;

/// A median absolute deviation times this is the standard deviation of a normal distribution.
const MAD_TO_SIGMA: f64 = 1.4826;

/// Least spread that counts, as a share of the median: where almost all values are equal, a hair's breadth is no anomaly.
const SPREAD_MIN: f64 = 0.05;

/// Orders reports and looks at each line of time.
pub fn timelines(points: Vec<Point>) -> Vec<Timeline> {
    let mut by_series: BTreeMap<Series, Vec<Point>> = BTreeMap::new();
    for point in points {
        by_series.entry(point.series.clone()).or_default().push(point);
    }
    by_series.into_iter().map(|(series, points)| timeline(series, points)).collect()
}

fn timeline(series: Series, mut points: Vec<Point>) -> Timeline {
    points.sort_by(order);
    let mut flagged: Vec<(Point, Vec<Flag>)> = Vec::with_capacity(points.len());
    for point in points {
        let Some((last, flags)) = flagged.last_mut() else {
            flagged.push((point, Vec::new()));
            continue;
        };
        if last.snaps.is_some() && last.snaps == point.snaps {
            flags.push(Flag::Twice { file: point.file });
            continue;
        }
        let flags = between(last, &point);
        flagged.push((point, flags));
    }
    outliers(&mut flagged);
    Timeline { series, points: flagged }
}

/// By snapshot, by time where there is none; of two reports of one interval the HTML one first.
fn order(a: &Point, b: &Point) -> Ordering {
    let by_snap = a.snaps.cmp(&b.snaps);
    by_snap.then(a.begin.cmp(&b.begin)).then(b.html.cmp(&a.html)).then(a.file.cmp(&b.file))
}

fn between(last: &Point, next: &Point) -> Vec<Flag> {
    let mut flags = Vec::new();
    if let (Some((_, end)), Some((begin, _))) = (last.snaps, next.snaps) {
        match begin.cmp(&end) {
            Ordering::Greater => flags.push(Flag::Gap { snapshots: begin - end }),
            Ordering::Less => flags.push(Flag::Overlap { snapshots: end - begin }),
            Ordering::Equal => {}
        }
    }
    if let (Some(last), Some(next)) = (&last.startup, &next.startup)
        && last != next
    {
        flags.push(Flag::Restart);
    }
    flags
}

fn outliers(points: &mut [(Point, Vec<Flag>)]) {
    for measure in 0..MEASURES.len() {
        let values: Vec<f64> = points.iter().filter_map(|(point, _)| point.values[measure]).collect();
        if values.len() < POINTS_MIN {
            continue;
        }
        let median = median(values.clone());
        let mad = self::median(values.iter().map(|value| (value - median).abs()).collect());
        let sigma = (MAD_TO_SIGMA * mad).max(SPREAD_MIN * median.abs());
        if sigma <= 0.0 {
            continue;
        }
        for (point, flags) in points.iter_mut() {
            let Some(value) = point.values[measure] else { continue };
            let score = (value - median) / sigma;
            if score.abs() > SCORE_MAX {
                flags.push(Flag::Outlier { measure, value, median, score });
            }
        }
    }
    for (_, flags) in points {
        // The farthest first; what is no outlier keeps its place before them.
        flags.sort_by(|a, b| score_of(b).total_cmp(&score_of(a)));
    }
}

fn score_of(flag: &Flag) -> f64 {
    match flag {
        Flag::Outlier { score, .. } => score.abs(),
        _ => f64::INFINITY,
    }
}

/// The middle of the values; the mean of the two middle ones where their number is even.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() % 2 {
        0 if middle > 0 => (values[middle - 1] + values[middle]) / 2.0,
        0 => 0.0,
        _ => values[middle],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(begin: u64, end: u64, aas: f64) -> Point {
        let mut values = vec![None; MEASURES.len()];
        values[0] = Some(aas);
        Point {
            series: Series { kind: Kind::Awr, database: "1".into(), instance: "a".into() },
            db_name: None,
            file: format!("{begin}-{end}"),
            html: true,
            snaps: Some((begin, end)),
            begin: None,
            minutes: None,
            startup: Some("x".into()),
            values,
            top_event: None,
        }
    }

    #[test]
    fn gaps_overlaps_restarts_and_doubles_are_flagged() {
        let restarted = Point { startup: Some("y".into()), ..point(9, 10, 1.0) };
        let text = Point { html: false, file: "text".into(), ..point(1, 2, 1.0) };
        let all = timelines(vec![restarted, point(4, 6, 1.0), text, point(1, 2, 1.0), point(5, 9, 1.0)]);
        let flags: Vec<_> = all[0].points.iter().map(|(_, flags)| flags.clone()).collect();
        assert_eq!(flags[0], [Flag::Twice { file: "text".into() }]);
        assert_eq!(flags[1], [Flag::Gap { snapshots: 2 }]);
        assert_eq!(flags[2], [Flag::Overlap { snapshots: 1 }]);
        assert_eq!(flags[3], [Flag::Restart]);
    }

    #[test]
    fn one_that_stands_out_is_flagged_and_no_other() {
        let mut points: Vec<Point> = (0..20).map(|i| point(i, i + 1, 10.0 + (i % 3) as f64 * 0.2)).collect();
        points[7].values[0] = Some(40.0);
        let all = timelines(points);
        let flagged: Vec<usize> = (0..20).filter(|&i| !all[0].points[i].1.is_empty()).collect();
        assert_eq!(flagged, [7]);
        assert!(matches!(all[0].points[7].1[0], Flag::Outlier { measure: 0, score, .. } if score > 10.0));
    }

    #[test]
    fn few_or_equal_reports_have_no_outliers() {
        let few: Vec<Point> = (0..5).map(|i| point(i, i + 1, i as f64 * 100.0)).collect();
        assert!(timelines(few)[0].points.iter().all(|(_, flags)| flags.is_empty()));
        let mut equal: Vec<Point> = (0..20).map(|i| point(i, i + 1, 5.0)).collect();
        equal[3].values[0] = Some(5.1);
        assert!(timelines(equal)[0].points.iter().all(|(_, flags)| flags.is_empty()));
    }
}
