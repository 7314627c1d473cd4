//! Two intervals of databases' own reports, line by line.
//!
//! Records of such reports keep the load profile, the top events, the statistics and the parameters that a report lists. A line
//! is a difference only where both reports have it and both are of one life of one database; what stands in the way is a
//! reason of its own, so that nobody takes two databases for a change.

mod parameters;
mod sections;

use std::collections::BTreeSet;

use dyno_record::{Imported, Reported, ReportedEvent, RunRecord};

pub use self::parameters::{NAME_WIDTH, ParameterLine, ParameterList, VALUE_WIDTH, differing_parameters};
pub use self::sections::SectionLine;
use self::sections::section_lines;
use crate::reading::{Change, Reading};

/// Intervals whose lengths differ by more than this share are worth a caution.
const LENGTH_TOLERANCE: f64 = 0.1;

/// The shortest name that may be one that a text report has cut.
const CUT: usize = 24;

/// Why two intervals are not alike.
#[derive(Debug, Clone, PartialEq)]
pub enum Apart {
    /// One measurement: how it was printed is all that can differ.
    SameInterval,
    /// Of other databases.
    Database(String, String),
    /// Other kinds of report: of a cluster and of an instance, AWR and STATSPACK.
    Kind(String, String),
    /// The instance was started between them.
    Restart(String, String),
    /// Of other instances of one database.
    Instance(String, String),
    /// Under other releases.
    Release(String, String),
    /// On other hosts.
    Host(String, String),
    /// Of other lengths, min.
    Length(f64, f64),
}

impl Apart {
    /// Whether a difference would not be one of the database's: it is shown only to who asks for it all the same.
    pub fn forbids(&self) -> bool {
        matches!(self, Self::Database(..) | Self::Kind(..) | Self::Restart(..))
    }

    /// In words.
    pub fn words(&self) -> String {
        match self {
            Self::SameInterval => "both reports are of one interval of one instance: one measurement, and what differs is how it was printed".into(),
            Self::Database(a, b) => format!("other databases: {a} and {b}"),
            Self::Kind(a, b) => format!("other kinds of report: {a} and {b}"),
            Self::Restart(a, b) => format!("a restart between: started {a} and {b}, so caches and plans are of two lives"),
            Self::Instance(a, b) => format!("other instances: {a} and {b}"),
            Self::Release(a, b) => format!("other releases: {a} and {b}"),
            Self::Host(a, b) => format!("other hosts: {a} and {b}"),
            Self::Length(a, b) => format!("intervals of other lengths: {a} and {b} min; rates and means compare, totals do not"),
        }
    }
}

/// A line of the load profile in both reports.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadLine {
    /// What it counts, with its unit in brackets.
    pub name: String,
    /// Per second.
    pub per_s: Change,
    /// Per transaction.
    pub per_txn: Change,
}

/// A wait event, or the CPU, in both reports.
#[derive(Debug, Clone, PartialEq)]
pub struct EventLine {
    /// The event.
    pub name: String,
    /// Its wait class; empty where no report names one.
    pub class: String,
    /// Time waited per second of the interval, s.
    pub waited: Change,
    /// Waits per second.
    pub waits: Change,
    /// Mean time of a wait, µs.
    pub mean_us: Change,
    /// Whether the report without it lists all of its foreground events: it was not waited for.
    pub is_certain: bool,
}

/// Two intervals side by side.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Between {
    /// Why they are not alike.
    pub apart: Vec<Apart>,
    /// The load profile, in the order of the reports.
    pub load: Vec<LoadLine>,
    /// Events that are among the top ones of either, the most time first.
    pub events: Vec<EventLine>,
    /// Statistics per second, by name; what a report counts as 0 is not in its record.
    pub statistics: Vec<Change>,
    /// Rows of sections that changed, from latches to the network of a cluster.
    pub sections: Vec<SectionLine>,
    /// Parameters that differ, where both reports list parameters.
    pub parameters: Vec<ParameterLine>,
}

impl Between {
    /// Whether differences are a change of one database.
    pub fn is_comparable(&self) -> bool {
        !self.apart.iter().any(Apart::forbids)
    }
}

/// One of the two.
struct Side<'r> {
    record: &'r RunRecord,
    imported: &'r Imported,
    reported: &'r Reported,
    /// Absent where the report does not tell its length.
    seconds: Option<f64>,
}

impl<'r> Side<'r> {
    fn of(record: &'r RunRecord) -> Option<Self> {
        let imported = record.imported.as_ref()?;
        let reported = imported.reported.as_ref()?;
        let seconds = record.window.as_ref().map(|window| window.seconds).filter(|seconds| *seconds > 0.0);
        Some(Self { record, imported, reported, seconds })
    }

    fn label(&self, name: &str) -> Option<&'r str> {
        self.imported.labels.get(name).map(String::as_str).filter(|text| !text.trim().is_empty())
    }

    /// A total of the interval per second; totals are counts.
    fn rate(&self, name: &str) -> Option<Reading> {
        let total = self.record.counters.native.get(name)?;
        Some(Reading::exact(total / self.seconds?))
    }

    fn lists_events(&self) -> bool {
        self.record.counters.native.keys().any(|name| name.starts_with("foreground_"))
    }
}

/// Holds two records of reports against each other; nothing where one of them is of no report.
pub fn between(a: &RunRecord, b: &RunRecord) -> Option<Between> {
    let (a, b) = (Side::of(a)?, Side::of(b)?);
    Some(Between {
        apart: apart(&a, &b),
        load: load(&a, &b),
        events: events(&a, &b),
        statistics: statistics(&a, &b),
        sections: section_lines(&a.reported.sections, &b.reported.sections),
        parameters: parameters(&a, &b),
    })
}

fn apart(a: &Side<'_>, b: &Side<'_>) -> Vec<Apart> {
    let mut apart = Vec::new();
    let is_numbered = a.label("begin_snap").is_some() && b.label("begin_snap").is_some();
    if is_numbered && a.record.id == b.record.id {
        apart.push(Apart::SameInterval);
    }
    let other = |name: &str| {
        let (a, b) = (a.label(name)?, b.label(name)?);
        (a != b).then(|| (a.to_owned(), b.to_owned()))
    };
    // Databases may have one name; their numbers tell them apart.
    let named = other("db_name").or_else(|| other("dbid"));
    let database = named.clone().map(|(a, b)| Apart::Database(a, b));
    apart.extend(database);
    apart.extend(other("report_type").map(|(a, b)| Apart::Kind(a, b)));
    let instance = other("instance");
    // Two instances never have one start, and that is no restart.
    if named.is_none() && instance.is_none() {
        apart.extend(other("startup_time").map(|(a, b)| Apart::Restart(a, b)));
    }
    apart.extend(instance.map(|(a, b)| Apart::Instance(a, b)));
    apart.extend(other("version").map(|(a, b)| Apart::Release(a, b)));
    apart.extend(other("host").map(|(a, b)| Apart::Host(a, b)));
    if let (Some(x), Some(y)) = (a.seconds, b.seconds)
        && (x - y).abs() > LENGTH_TOLERANCE * x.max(y)
    {
        let minutes = |seconds: f64| (seconds / 0.6).round() / 100.0;
        apart.push(Apart::Length(minutes(x), minutes(y)));
    }
    apart
}

/// A figure as it was printed. Records that do not say how far it is known have at least the digits that are not zeros at its end.
fn printed(value: f64, step: Option<f64>) -> Reading {
    Reading { value, step: step.unwrap_or_else(|| last_digit(value)) }
}

/// The worth of the last digit of a number that is not 0.
fn last_digit(value: f64) -> f64 {
    let text = format!("{:e}", value.abs());
    let Some((digits, exponent)) = text.split_once('e') else { return 0.0 };
    let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if value == 0.0 { 0.0 } else { 10f64.powi(exponent - i32::try_from(decimals).unwrap_or(0)) }
}

fn load(a: &Side<'_>, b: &Side<'_>) -> Vec<LoadLine> {
    let lines = a.reported.load_profile.iter().chain(&b.reported.load_profile);
    let mut names: Vec<&str> = Vec::new();
    for line in lines {
        if !names.contains(&line.name.as_str()) {
            names.push(&line.name);
        }
    }
    let side = |side: &Side<'_>, name: &str| {
        let line = side.reported.load_profile.iter().find(|line| line.name == name);
        let per_txn = |line: &dyno_record::ReportedLoad| Some(printed(line.per_txn?, line.per_txn_step));
        (line.map(|line| printed(line.per_s, line.per_s_step)), line.and_then(per_txn))
    };
    let line = |name: &str| {
        let ((a_s, a_txn), (b_s, b_txn)) = (side(a, name), side(b, name));
        let change = |a, b| Change { name: name.to_owned(), a, b };
        LoadLine { name: name.to_owned(), per_s: change(a_s, b_s), per_txn: change(a_txn, b_txn) }
    };
    names.into_iter().map(line).collect()
}

/// What one report says of an event.
#[derive(Default)]
struct Waited {
    waited: Option<Reading>,
    waits: Option<Reading>,
    mean_us: Option<Reading>,
}

fn events(a: &Side<'_>, b: &Side<'_>) -> Vec<EventLine> {
    let mut names: Vec<(&str, &str)> = Vec::new();
    for event in a.reported.top_events.iter().chain(&b.reported.top_events) {
        match names.iter_mut().find(|(name, _)| is_same_event(name, &event.event)) {
            Some((_, class)) if class.is_empty() => *class = &event.class,
            Some(_) => {}
            None => names.push((&event.event, &event.class)),
        }
    }
    let line = |(name, class): (&str, &str)| {
        let (of_a, of_b) = (waited(a, name), waited(b, name));
        let lacks = if of_a.waited.is_none() { a } else { b };
        let change = |a, b| Change { name: name.to_owned(), a, b };
        EventLine {
            name: name.to_owned(),
            class: class.to_owned(),
            // CPU time is no event, and in no list of them.
            is_certain: lacks.lists_events() && !matches!(name, "DB CPU" | "CPU time"),
            waited: change(of_a.waited, of_b.waited),
            waits: change(of_a.waits, of_b.waits),
            mean_us: change(of_a.mean_us, of_b.mean_us),
        }
    };
    let mut lines: Vec<EventLine> = names.into_iter().map(line).collect();
    lines.sort_by(|x, y| y.waited.largest().total_cmp(&x.waited.largest()));
    lines
}

/// Of the top events, or where it is not among them of the list of all foreground events.
fn waited(side: &Side<'_>, name: &str) -> Waited {
    if let Some(event) = side.reported.top_events.iter().find(|event| is_same_event(&event.event, name)) {
        return of_top(side, event);
    }
    let listed =
        |what: &str| {
            let prefix = format!("foreground_{what}.");
            let found =
                side.record.counters.native.iter().find(|(key, _)| {
                    key.strip_prefix(&prefix).is_some_and(|event| is_same_event(event, name))
                })?;
            Some(*found.1)
        };
    let (time_s, waits) = (listed("time_s"), listed("waits"));
    let mean = time_s.zip(waits).filter(|(_, waits)| *waits > 0.0);
    Waited {
        waited: time_s.zip(side.seconds).map(|(time, s)| printed(time, None).times(1.0 / s)),
        waits: waits.zip(side.seconds).map(|(waits, s)| printed(waits, None).times(1.0 / s)),
        mean_us: mean.map(|(time, waits)| printed(time, None).times(1e6 / waits)),
    }
}

fn of_top(side: &Side<'_>, event: &ReportedEvent) -> Waited {
    let per_s = |reading: Reading| side.seconds.map(|seconds| reading.times(1.0 / seconds));
    Waited {
        waited: event.time_s.and_then(|time| per_s(printed(time, event.time_step_s))),
        waits: event.waits.and_then(|waits| per_s(printed(waits, None))),
        mean_us: event.mean_us.map(|mean| printed(mean, event.mean_step_us)),
    }
}

/// Names of one event, either of which may be cut by a text report.
pub fn is_same_event(a: &str, b: &str) -> bool {
    a == b || (a.len() >= CUT && b.starts_with(a)) || (b.len() >= CUT && a.starts_with(b))
}

fn statistics(a: &Side<'_>, b: &Side<'_>) -> Vec<Change> {
    // Times and counts of events have a word and a point before the name, which no statistic has.
    let is_statistic = |name: &&String| !name.starts_with("foreground_") && !name.starts_with("background_");
    let native = |side: &Side<'_>| side.record.counters.native.keys().filter(is_statistic).cloned().collect();
    let (of_a, of_b): (BTreeSet<String>, BTreeSet<String>) = (native(a), native(b));
    // Where one report has no statistics, none of them is in the other one only.
    if of_a.is_empty() || of_b.is_empty() {
        return Vec::new();
    }
    let names = of_a.union(&of_b);
    names.map(|name| Change { name: name.clone(), a: a.rate(name), b: b.rate(name) }).collect()
}

fn parameters(a: &Side<'_>, b: &Side<'_>) -> Vec<ParameterLine> {
    let list = |side: &Side<'_>| {
        let settings = side.record.targets.first().map(|target| &target.identity.settings);
        let parameters = settings.into_iter().flatten().map(|(name, value)| (name.clone(), value.clone()));
        // Records that do not say which form their report had may be of text.
        let is_text = side.label("form").is_none_or(|form| form == "text");
        ParameterList { is_text, parameters: parameters.collect() }
    };
    differing_parameters(&list(a), &list(b))
}

#[cfg(test)]
mod tests;
