//! Compares two reports: what rose, what fell, what appeared and disappeared.

use std::collections::BTreeSet;

use dyno_analyze::intervals::{ParameterList, differing_parameters, is_same_event as is_same};
pub use dyno_analyze::reading::ReadingChange;

use crate::number::PrintedNumber;
use crate::report::{AwrParameter, AwrReport, AwrWaitEvent};
use crate::row::{AwrOutputRow, AwrValue};
use crate::table::AwrFormat;
use crate::top_lists::{self, SegmentChange, StatementChange};

/// A wait event in both reports: seconds waited per second, and the mean.
#[derive(Debug, Clone, PartialEq)]
pub struct EventChange {
    pub name: String,
    /// Time waited per second of the interval.
    pub load: ReadingChange,
    /// Mean time of one wait, in milliseconds.
    pub mean_ms: ReadingChange,
    /// The change of an event that is in one report only, although the other one lists all of its
    /// events.
    pub presence: Option<EventPresence>,
}

/// Whether an event appeared or disappeared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventPresence {
    /// The first report's list of all events lacks it.
    New,
    /// The second report's list lacks it.
    Gone,
}

/// A value that changed between two reports: of a parameter, or a statement's plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueChange {
    /// The parameter, or the statement's id.
    pub name: String,
    /// Value in the first report; absent where the report lacks it.
    pub a: Option<String>,
    /// Value in the second report; absent where the report lacks it.
    pub b: Option<String>,
}

/// All differences of two reports.
#[derive(Debug, Clone, PartialEq)]
pub struct AwrDiff {
    /// Figures, in the order of the wide table.
    pub figures: Vec<ReadingChange>,
    /// Events that are among the top ones of either report, the largest changes of time first.
    pub events: Vec<EventChange>,
    pub parameters: Vec<ValueChange>,
    pub plans: Vec<ValueChange>,
    /// Statements among the top ones of either report, the largest changes of time first.
    pub statements: Vec<StatementChange>,
    /// Segments among the top ones of either report that changed, by list.
    pub segments: Vec<SegmentChange>,
}

/// Names of the figures that are compared.
const FIGURES: [&str; 35] = [
    "elapsed_min",
    "sessions",
    "cpus",
    "aas",
    "db_time_per_s",
    "load_profile_per_s.db_cpu_s",
    "unaccounted_pct",
    "cpu_busy_pct",
    "host_cpu.user_pct",
    "host_cpu.system_pct",
    "host_cpu.io_wait_pct",
    "txn_per_s",
    "executes_per_s",
    "load_profile_per_s.user_calls",
    "load_profile_per_s.parses",
    "load_profile_per_s.hard_parses",
    "load_profile_per_s.logons",
    "lio_per_s",
    "load_profile_per_s.block_changes",
    "load_profile_per_s.physical_reads",
    "load_profile_per_s.physical_writes",
    "read_iops",
    "write_iops",
    "redo_iops",
    "read_mib_per_s",
    "write_mib_per_s",
    "redo_mib_per_s",
    "derived.redo_generated_bytes_per_s",
    "read_ms",
    "log_file_sync_ms",
    "derived.log_file_parallel_write_ms",
    "efficiency_pct.buffer_hit",
    "efficiency_pct.soft_parse",
    "efficiency_pct.execute_to_parse",
    "instance_activity_per_hour.log switches (derived)",
];

/// The differences of two reports, from `a` to `b`.
pub fn diff(a: &AwrReport, b: &AwrReport) -> AwrDiff {
    let figure = |report: &AwrReport, name: &str| match (AwrOutputRow { report, instance: None }).value(name)
    {
        AwrValue::Number(reading) => Some(reading),
        _ => None,
    };
    let change =
        |name: &&str| ReadingChange { name: (*name).to_owned(), a: figure(a, name), b: figure(b, name) };
    let figures = FIGURES.iter().map(change).filter(|change| change.a.is_some() || change.b.is_some());
    AwrDiff {
        figures: figures.collect(),
        events: events(a, b),
        parameters: parameters(a, b),
        plans: plans(a, b),
        statements: top_lists::statements(a, b),
        segments: top_lists::segments(a, b),
    }
}

/// Events that are among the top events of either report.
fn events(a: &AwrReport, b: &AwrReport) -> Vec<EventChange> {
    let mut names: Vec<&str> = a.top_events.iter().map(|event| event.name.as_str()).collect();
    for event in &b.top_events {
        if !names.iter().any(|name| is_same(name, &event.name)) {
            names.push(&event.name);
        }
    }
    let side = |report: &AwrReport, name: &str| -> (Option<PrintedNumber>, Option<PrintedNumber>) {
        let elapsed = report.value("elapsed_min").map(|min| min * 60.0).filter(|s| *s > 0.0);
        let lists = [&report.foreground_events, &report.top_events, &report.all_events];
        let event = lists.into_iter().find_map(|list| list.iter().find(|event| is_same(&event.name, name)));
        let load = event.and_then(|event| event.time_s).zip(elapsed);
        let load = load.map(|(time, s)| PrintedNumber { value: time.value / s, step: time.step / s });
        let mean = event.and_then(AwrWaitEvent::mean_s);
        (load, mean.map(|mean| PrintedNumber { value: mean.value * 1e3, step: mean.step * 1e3 }))
    };
    let mut changes: Vec<EventChange> = names
        .into_iter()
        .map(|name| {
            let ((load_a, mean_a), (load_b, mean_b)) = (side(a, name), side(b, name));
            EventChange {
                name: name.to_owned(),
                load: ReadingChange { name: name.to_owned(), a: load_a, b: load_b },
                mean_ms: ReadingChange { name: name.to_owned(), a: mean_a, b: mean_b },
                presence: event_presence(a, b, name),
            }
        })
        .collect();
    changes.sort_by(|a, b| b.load.distance().total_cmp(&a.load.distance()));
    changes
}

/// A list of top events is a selection. Only a report that lists all events of foreground sessions
/// proves that a missing event did not occur. CPU time is no event, and in no such list.
fn event_presence(a: &AwrReport, b: &AwrReport, name: &str) -> Option<EventPresence> {
    let [in_a, in_b] =
        [a, b].map(|report| report.foreground_events.iter().any(|event| is_same(&event.name, name)));
    if a.foreground_events.is_empty() || b.foreground_events.is_empty() {
        return None;
    }
    match (in_a, in_b) {
        (false, true) => Some(EventPresence::New),
        (true, false) => Some(EventPresence::Gone),
        _ => None,
    }
}

fn parameters(a: &AwrReport, b: &AwrReport) -> Vec<ValueChange> {
    let list = |report: &AwrReport| {
        let value = |of: &AwrParameter| of.end_value.clone().unwrap_or_else(|| of.value.clone());
        let parameters = report.parameters.iter().map(|of| (of.full_name(), value(of))).collect();
        ParameterList { is_text: report.form == AwrFormat::Text, parameters }
    };
    let lines = differing_parameters(&list(a), &list(b));
    lines.into_iter().map(|line| ValueChange { name: line.name, a: line.a, b: line.b }).collect()
}

/// Statements whose plans are known in both reports, and differ.
fn plans(a: &AwrReport, b: &AwrReport) -> Vec<ValueChange> {
    let spelled = |plans: &BTreeSet<String>| Some(plans.iter().cloned().collect::<Vec<_>>().join(", "));
    let common = a.plans.iter().filter_map(|(id, plans)| Some((id, plans, b.plans.get(id)?)));
    let changed = common.filter(|(_, a, b)| a != b);
    changed.map(|(id, a, b)| ValueChange { name: id.clone(), a: spelled(a), b: spelled(b) }).collect()
}
