//! Compares two intervals of databases' own reports, line by line.
//!
//! Records of such reports keep the load profile, the top events, the statistics and the parameters
//! that a report lists. A line is a difference only where both reports have it, and both cover the
//! same instance of one database without a restart. Every obstacle to a comparison has its own
//! reason, so two databases are not mistaken for a change.

mod parameters;
mod sections;

use std::collections::BTreeSet;

use dyno_record::{ImportSource, Reported, ReportedEvent, RunRecord};

pub use self::parameters::{NAME_WIDTH, ParameterLine, ParameterList, VALUE_WIDTH, differing_parameters};
pub use self::sections::SectionLine;
use self::sections::section_lines;
use crate::reading::{PrintedNumber, ReadingChange};

/// Share by which the lengths of two intervals may differ without a caution.
const LENGTH_TOLERANCE: f64 = 0.1;

/// The shortest name that a text report may have truncated.
const CUT: usize = 24;

/// Why two intervals are not comparable.
#[derive(Debug, Clone, PartialEq)]
pub enum IntervalMismatch {
    /// Both are the same measurement: only the way they were printed can differ.
    SameInterval,
    Database(String, String),
    /// Different kinds of report: of a cluster and of an instance, AWR and STATSPACK.
    Kind(String, String),
    /// The instance was restarted between them.
    Restart(String, String),
    /// Different instances of one database.
    Instance(String, String),
    Release(String, String),
    Host(String, String),
    /// The intervals have different lengths, in minutes.
    Length(f64, f64),
}

impl IntervalMismatch {
    /// Whether a difference would not be a change of one database. It is then shown only on
    /// request.
    pub fn forbids(&self) -> bool {
        matches!(self, Self::Database(..) | Self::Kind(..) | Self::Restart(..))
    }

    pub fn words(&self) -> String {
        match self {
            Self::SameInterval => "both reports cover the same interval of the same instance: they are one \
                measurement, printed differently"
                .into(),
            Self::Database(a, b) => format!("different databases: {a} and {b}"),
            Self::Kind(a, b) => format!("different kinds of report: {a} and {b}"),
            Self::Restart(a, b) => {
                format!("a restart in between: started {a} and {b}, so caches and plans were built anew")
            }
            Self::Instance(a, b) => format!("different instances: {a} and {b}"),
            Self::Release(a, b) => format!("different releases: {a} and {b}"),
            Self::Host(a, b) => format!("different hosts: {a} and {b}"),
            Self::Length(a, b) => format!(
                "intervals of different lengths: {a} and {b} min; rates and means compare, totals do not"
            ),
        }
    }
}

/// A line of the load profile in both reports.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadLine {
    /// What it counts, with its unit in parentheses.
    pub name: String,
    pub per_s: ReadingChange,
    pub per_txn: ReadingChange,
}

/// A wait event, or the CPU, in both reports.
#[derive(Debug, Clone, PartialEq)]
pub struct EventLine {
    pub name: String,
    /// Its wait class; empty where neither report names one.
    pub class: String,
    /// Time waited per second of the interval, s.
    pub waited: ReadingChange,
    pub waits: ReadingChange,
    /// Mean time of a wait, µs.
    pub mean_us: ReadingChange,
    /// Whether the report without the event lists all of its foreground events, so no session
    /// waited for it.
    pub is_certain: bool,
}

/// Two intervals side by side.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct IntervalComparison {
    /// Why they are not comparable.
    pub mismatches: Vec<IntervalMismatch>,
    /// The load profile, in the order of the reports.
    pub load: Vec<LoadLine>,
    /// Events that are among the top ones of either report, the longest first.
    pub events: Vec<EventLine>,
    /// Statistics per second, by name. A statistic of 0 is not in a record.
    pub statistics: Vec<ReadingChange>,
    /// Rows of sections that changed, from latches to the cluster interconnect.
    pub sections: Vec<SectionLine>,
    /// Parameters that differ, where both reports list parameters.
    pub parameters: Vec<ParameterLine>,
}

impl IntervalComparison {
    /// Whether the differences are changes of one database.
    pub fn is_comparable(&self) -> bool {
        !self.mismatches.iter().any(IntervalMismatch::forbids)
    }
}

/// One of the two reports.
struct ReportSide<'r> {
    record: &'r RunRecord,
    imported: &'r ImportSource,
    reported: &'r Reported,
    /// Absent where the report does not state its length.
    seconds: Option<f64>,
}

impl<'r> ReportSide<'r> {
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
    fn rate(&self, name: &str) -> Option<PrintedNumber> {
        let total = self.record.counters.native.get(name)?;
        Some(PrintedNumber::exact(total / self.seconds?))
    }

    fn lists_events(&self) -> bool {
        self.record.counters.native.keys().any(|name| name.starts_with("foreground_"))
    }
}

/// Compares two records of reports; `None` where one of them is not from a report.
pub fn compare_intervals(a: &RunRecord, b: &RunRecord) -> Option<IntervalComparison> {
    let (a, b) = (ReportSide::of(a)?, ReportSide::of(b)?);
    Some(IntervalComparison {
        mismatches: find_mismatches(&a, &b),
        load: load(&a, &b),
        events: events(&a, &b),
        statistics: statistics(&a, &b),
        sections: section_lines(&a.reported.sections, &b.reported.sections),
        parameters: parameters(&a, &b),
    })
}

fn find_mismatches(a: &ReportSide<'_>, b: &ReportSide<'_>) -> Vec<IntervalMismatch> {
    let mut apart = Vec::new();
    let is_numbered = a.label("begin_snap").is_some() && b.label("begin_snap").is_some();
    if is_numbered && a.record.id == b.record.id {
        apart.push(IntervalMismatch::SameInterval);
    }
    let other = |name: &str| {
        let (a, b) = (a.label(name)?, b.label(name)?);
        (a != b).then(|| (a.to_owned(), b.to_owned()))
    };
    // Databases may share a name; their ids distinguish them.
    let named = other("db_name").or_else(|| other("dbid"));
    let database = named.clone().map(|(a, b)| IntervalMismatch::Database(a, b));
    apart.extend(database);
    apart.extend(other("report_type").map(|(a, b)| IntervalMismatch::Kind(a, b)));
    let instance = other("instance");
    // Two instances always have different start times, which is no restart.
    if named.is_none() && instance.is_none() {
        apart.extend(other("startup_time").map(|(a, b)| IntervalMismatch::Restart(a, b)));
    }
    apart.extend(instance.map(|(a, b)| IntervalMismatch::Instance(a, b)));
    apart.extend(other("version").map(|(a, b)| IntervalMismatch::Release(a, b)));
    apart.extend(other("host").map(|(a, b)| IntervalMismatch::Host(a, b)));
    if let (Some(x), Some(y)) = (a.seconds, b.seconds)
        && (x - y).abs() > LENGTH_TOLERANCE * x.max(y)
    {
        let minutes = |seconds: f64| (seconds / 0.6).round() / 100.0;
        apart.push(IntervalMismatch::Length(minutes(x), minutes(y)));
    }
    apart
}

/// A figure as it was printed. Records without a known precision have at least the digits before
/// their trailing zeros.
fn printed(value: f64, step: Option<f64>) -> PrintedNumber {
    PrintedNumber { value, step: step.unwrap_or_else(|| last_digit(value)) }
}

/// The place value of the last digit of a number that is not 0.
fn last_digit(value: f64) -> f64 {
    let text = format!("{:e}", value.abs());
    let Some((digits, exponent)) = text.split_once('e') else { return 0.0 };
    let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if value == 0.0 { 0.0 } else { 10f64.powi(exponent - i32::try_from(decimals).unwrap_or(0)) }
}

fn load(a: &ReportSide<'_>, b: &ReportSide<'_>) -> Vec<LoadLine> {
    let lines = a.reported.load_profile.iter().chain(&b.reported.load_profile);
    let mut names: Vec<&str> = Vec::new();
    for line in lines {
        if !names.contains(&line.name.as_str()) {
            names.push(&line.name);
        }
    }
    let side = |side: &ReportSide<'_>, name: &str| {
        let line = side.reported.load_profile.iter().find(|line| line.name == name);
        let per_txn = |line: &dyno_record::ReportedLoad| Some(printed(line.per_txn?, line.per_txn_step));
        (line.map(|line| printed(line.per_s, line.per_s_step)), line.and_then(per_txn))
    };
    let line = |name: &str| {
        let ((a_s, a_txn), (b_s, b_txn)) = (side(a, name), side(b, name));
        let change = |a, b| ReadingChange { name: name.to_owned(), a, b };
        LoadLine { name: name.to_owned(), per_s: change(a_s, b_s), per_txn: change(a_txn, b_txn) }
    };
    names.into_iter().map(line).collect()
}

/// What one report states about an event.
#[derive(Default)]
struct EventTimes {
    waited: Option<PrintedNumber>,
    waits: Option<PrintedNumber>,
    mean_us: Option<PrintedNumber>,
}

fn events(a: &ReportSide<'_>, b: &ReportSide<'_>) -> Vec<EventLine> {
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
        let change = |a, b| ReadingChange { name: name.to_owned(), a, b };
        EventLine {
            name: name.to_owned(),
            class: class.to_owned(),
            // CPU time is no event, so no event list contains it.
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

/// The event from the top events, or else from the list of all foreground events.
fn waited(side: &ReportSide<'_>, name: &str) -> EventTimes {
    if let Some(event) = side.reported.top_events.iter().find(|event| is_same_event(&event.event, name)) {
        return of_top(side, event);
    }
    let listed =
        |what: &str| {
            let prefix = format!("foreground_{what}.");
            let entry =
                side.record.counters.native.iter().find(|(key, _)| {
                    key.strip_prefix(&prefix).is_some_and(|event| is_same_event(event, name))
                })?;
            Some(*entry.1)
        };
    let (time_s, waits) = (listed("time_s"), listed("waits"));
    let mean = time_s.zip(waits).filter(|(_, waits)| *waits > 0.0);
    EventTimes {
        waited: time_s.zip(side.seconds).map(|(time, s)| printed(time, None).times(1.0 / s)),
        waits: waits.zip(side.seconds).map(|(waits, s)| printed(waits, None).times(1.0 / s)),
        mean_us: mean.map(|(time, waits)| printed(time, None).times(1e6 / waits)),
    }
}

fn of_top(side: &ReportSide<'_>, event: &ReportedEvent) -> EventTimes {
    let per_s = |reading: PrintedNumber| side.seconds.map(|seconds| reading.times(1.0 / seconds));
    EventTimes {
        waited: event.time_s.and_then(|time| per_s(printed(time, event.time_step_s))),
        waits: event.waits.and_then(|waits| per_s(printed(waits, None))),
        mean_us: event.mean_us.map(|mean| printed(mean, event.mean_step_us)),
    }
}

/// Whether two names denote one event; a text report may have truncated either.
pub fn is_same_event(a: &str, b: &str) -> bool {
    a == b || (a.len() >= CUT && b.starts_with(a)) || (b.len() >= CUT && a.starts_with(b))
}

fn statistics(a: &ReportSide<'_>, b: &ReportSide<'_>) -> Vec<ReadingChange> {
    // Times and counts of events have a prefix and a dot before the name; statistics have none.
    let is_statistic = |name: &&String| !name.starts_with("foreground_") && !name.starts_with("background_");
    let native =
        |side: &ReportSide<'_>| side.record.counters.native.keys().filter(is_statistic).cloned().collect();
    let (of_a, of_b): (BTreeSet<String>, BTreeSet<String>) = (native(a), native(b));
    // Where one report has no statistics, none counts as missing there.
    if of_a.is_empty() || of_b.is_empty() {
        return Vec::new();
    }
    let names = of_a.union(&of_b);
    names.map(|name| ReadingChange { name: name.clone(), a: a.rate(name), b: b.rate(name) }).collect()
}

fn parameters(a: &ReportSide<'_>, b: &ReportSide<'_>) -> Vec<ParameterLine> {
    let list = |side: &ReportSide<'_>| {
        let settings = side.record.targets.first().map(|target| &target.identity.settings);
        let parameters = settings.into_iter().flatten().map(|(name, value)| (name.clone(), value.clone()));
        // Records that do not state the form of their report may come from text.
        let is_text = side.label("form").is_none_or(|form| form == "text");
        ParameterList { is_text, parameters: parameters.collect() }
    };
    differing_parameters(&list(a), &list(b))
}

#[cfg(test)]
mod tests;
