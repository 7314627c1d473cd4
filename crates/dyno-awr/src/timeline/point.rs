//! What a line of time keeps of a report.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::DateTime;

use super::{MEASURES, Rates};
use crate::moment::moment;
use crate::number::Reading;
use crate::report::{AwrReport, Kind};
use crate::row::{Line, Value};
use crate::table::Form;

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
    /// When it ends.
    pub end: Option<DateTime>,
    /// Its length.
    pub minutes: Option<f64>,
    /// When the instance was started, as printed.
    pub startup: Option<String>,
    /// Values of [`MEASURES`].
    pub values: Vec<Option<Reading>>,
    /// What took most time.
    pub top_event: Option<String>,
    /// What else it tells per second: events, statements, segments, counters.
    pub rates: Rates,
    /// Seconds that foreground sessions waited per second, by wait class as printed; where only classes of all sessions are printed, of all.
    pub classes: BTreeMap<String, f64>,
    /// Plans of statements by their ids.
    pub plans: BTreeMap<String, BTreeSet<String>>,
}

impl Point {
    /// What a line of time needs of a report.
    pub fn of(report: &AwrReport) -> Self {
        let line = Line { report, instance: None };
        let text = |name: &str| match line.value(name) {
            Value::Text(text) => Some(text),
            Value::Number(reading) => Some(format!("{:.0}", reading.value)),
            Value::Absent => None,
        };
        let value = |name: &str| match line.value(name) {
            Value::Number(reading) => Some(reading),
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
            begin: at(report, "begin_time"),
            end: at(report, "end_time"),
            minutes: report.value("elapsed_min"),
            startup: text("startup_time"),
            values: MEASURES.iter().map(|measure| value(measure.column)).collect(),
            top_event: text("top_event"),
            rates: Rates::of(report),
            classes: classes(report),
            plans: report.plans.clone(),
        }
    }

    /// The value of a measure, by its place in [`MEASURES`].
    pub fn value(&self, measure: usize) -> Option<f64> {
        self.values.get(measure).copied().flatten().map(|reading| reading.value)
    }
}

/// Time waited by class, from the events that are not idle; none where the report does not class its events.
fn classes(report: &AwrReport) -> BTreeMap<String, f64> {
    let mut classes = BTreeMap::new();
    let seconds = report.value("elapsed_min").map(|min| min * 60.0).filter(|s| *s > 0.0);
    let lists = [&report.foreground_wait_classes, &report.wait_classes];
    let list = lists.into_iter().find(|list| !list.is_empty());
    let (Some(seconds), Some(list)) = (seconds, list) else { return classes };
    for class in list.iter().filter(|class| class.name != "DB CPU") {
        if let Some(time) = class.time_s {
            classes.insert(class.name.clone(), time.value / seconds);
        }
    }
    classes
}

/// A cluster's report has the times of its instances only.
fn at(report: &AwrReport, name: &str) -> Option<DateTime> {
    let of_instance = || report.instances.first().and_then(|instance| instance.words.get(name));
    moment(report.word(name).or_else(|| of_instance().map(String::as_str))?)
}
