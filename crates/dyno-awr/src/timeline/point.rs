//! The data that a timeline keeps of a report.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::DateTime;

use super::{MEASURES, Rates};
use crate::number::PrintedNumber;
use crate::report::{AwrReport, AwrReportKind};
use crate::row::{AwrOutputRow, AwrValue};
use crate::table::AwrFormat;
use crate::timestamp::parse_timestamp;

/// Identifies the reports that belong to one timeline.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AwrSeriesKey {
    /// The kind of reports; those of clusters and of instances are never mixed.
    pub kind: AwrReportKind,
    /// The database: its DBID, or its name where there is none.
    pub database: String,
    /// The instance; a star for clusters.
    pub instance: String,
}

/// One report of a timeline.
#[derive(Debug, Clone, PartialEq)]
pub struct AwrTimelinePoint {
    pub series: AwrSeriesKey,
    pub db_name: Option<String>,
    pub file: String,
    /// Whether it is an HTML report, which has more digits and complete names.
    pub html: bool,
    /// Ids of the first and last snapshot.
    pub snaps: Option<(u64, u64)>,
    pub begin: Option<DateTime>,
    pub end: Option<DateTime>,
    pub minutes: Option<f64>,
    /// When the instance was started, as printed.
    pub startup: Option<String>,
    /// Values of [`MEASURES`], in the same order.
    pub values: Vec<Option<PrintedNumber>>,
    /// The event with the longest time.
    pub top_event: Option<String>,
    /// Its other rates per second: events, statements, segments, counters.
    pub rates: Rates,
    /// Seconds that foreground sessions waited per second, by wait class as printed. Where only
    /// classes of all sessions are printed, those are used.
    pub classes: BTreeMap<String, f64>,
    /// Plans of statements by id.
    pub plans: BTreeMap<String, BTreeSet<String>>,
}

impl AwrTimelinePoint {
    /// Extracts from a report what a timeline needs.
    pub fn of(report: &AwrReport) -> Self {
        let line = AwrOutputRow { report, instance: None };
        let text = |name: &str| match line.value(name) {
            AwrValue::Text(text) => Some(text),
            AwrValue::Number(reading) => Some(format!("{:.0}", reading.value)),
            AwrValue::Absent => None,
        };
        let value = |name: &str| match line.value(name) {
            AwrValue::Number(reading) => Some(reading),
            _ => None,
        };
        let snap = |name: &str| report.value(name).map(|id| id as u64);
        Self {
            series: AwrSeriesKey {
                kind: report.kind,
                database: text("dbid").or_else(|| text("db_name")).unwrap_or_default(),
                instance: text("instance").unwrap_or_default(),
            },
            db_name: text("db_name"),
            file: report.file.clone(),
            html: report.form == AwrFormat::Html,
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

    /// The value of a measure, by its index in [`MEASURES`].
    pub fn value(&self, measure: usize) -> Option<f64> {
        self.values.get(measure).copied().flatten().map(|reading| reading.value)
    }
}

/// Time waited by class, from the events that are not idle; empty where the report does not class
/// its events.
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
    parse_timestamp(report.word(name).or_else(|| of_instance().map(String::as_str))?)
}
