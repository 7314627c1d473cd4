//! Two reports side by side: what rose, what fell, what came and went.

use std::collections::BTreeSet;

use dyno_analyze::intervals::{ParameterList, differing_parameters, is_same_event as is_same};
pub use dyno_analyze::reading::Change;

use crate::number::Reading;
use crate::report::{AwrReport, Event, Parameter};
use crate::row::{Line, Value};
use crate::table::Form;
use crate::tops::{self, SegmentChange, StatementChange};

/// A wait event in both reports: seconds waited per second, and the mean.
#[derive(Debug, Clone, PartialEq)]
pub struct EventChange {
    /// The event.
    pub name: String,
    /// Time waited per second of the interval.
    pub load: Change,
    /// Mean wait, ms.
    pub mean_ms: Change,
    /// Whether it is in one report only though the other one lists all of its events.
    pub became: Option<Became>,
}

/// What became of an event from the first report to the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Became {
    /// The first one's list of all events has none of it.
    New,
    /// The second one's list has none.
    Gone,
}

/// What became of a statement's plan, a parameter: the value in each report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Switch {
    /// The parameter, or the statement's id.
    pub name: String,
    /// In the first report; absent where it is not there.
    pub a: Option<String>,
    /// In the second.
    pub b: Option<String>,
}

/// All differences of two reports.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Figures, in the order of the wide table.
    pub figures: Vec<Change>,
    /// Events that are among the top ones of either, those whose time moved most first.
    pub events: Vec<EventChange>,
    /// Parameters that differ.
    pub parameters: Vec<Switch>,
    /// Statements whose plans differ.
    pub plans: Vec<Switch>,
    /// Statements among the top ones of either, those whose time moved most first.
    pub statements: Vec<StatementChange>,
    /// Segments among the top ones of either that changed, by list.
    pub segments: Vec<SegmentChange>,
}

/// Figures that are compared.
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

/// Compares two reports.
pub fn diff(a: &AwrReport, b: &AwrReport) -> Difference {
    let figure = |report: &AwrReport, name: &str| match (Line { report, instance: None }).value(name) {
        Value::Number(reading) => Some(reading),
        _ => None,
    };
    let change = |name: &&str| Change { name: (*name).to_owned(), a: figure(a, name), b: figure(b, name) };
    let figures = FIGURES.iter().map(change).filter(|change| change.a.is_some() || change.b.is_some());
    Difference {
        figures: figures.collect(),
        events: events(a, b),
        parameters: parameters(a, b),
        plans: plans(a, b),
        statements: tops::statements(a, b),
        segments: tops::segments(a, b),
    }
}

/// Events that took part in the top events of either report.
fn events(a: &AwrReport, b: &AwrReport) -> Vec<EventChange> {
    let mut names: Vec<&str> = a.top_events.iter().map(|event| event.name.as_str()).collect();
    for event in &b.top_events {
        if !names.iter().any(|name| is_same(name, &event.name)) {
            names.push(&event.name);
        }
    }
    let side = |report: &AwrReport, name: &str| -> (Option<Reading>, Option<Reading>) {
        let elapsed = report.value("elapsed_min").map(|min| min * 60.0).filter(|s| *s > 0.0);
        let lists = [&report.foreground_events, &report.top_events, &report.all_events];
        let event = lists.into_iter().find_map(|list| list.iter().find(|event| is_same(&event.name, name)));
        let load = event.and_then(|event| event.time_s).zip(elapsed);
        let load = load.map(|(time, s)| Reading { value: time.value / s, step: time.step / s });
        let mean = event.and_then(Event::mean_s);
        (load, mean.map(|mean| Reading { value: mean.value * 1e3, step: mean.step * 1e3 }))
    };
    let mut changes: Vec<EventChange> = names
        .into_iter()
        .map(|name| {
            let ((load_a, mean_a), (load_b, mean_b)) = (side(a, name), side(b, name));
            EventChange {
                name: name.to_owned(),
                load: Change { name: name.to_owned(), a: load_a, b: load_b },
                mean_ms: Change { name: name.to_owned(), a: mean_a, b: mean_b },
                became: became(a, b, name),
            }
        })
        .collect();
    changes.sort_by(|a, b| b.load.distance().total_cmp(&a.load.distance()));
    changes
}

/// Top events are a choice; only where a report lists all events of foreground sessions is one that is missing none that happened. CPU
/// time is no event, and in no such list.
fn became(a: &AwrReport, b: &AwrReport, name: &str) -> Option<Became> {
    let [in_a, in_b] =
        [a, b].map(|report| report.foreground_events.iter().any(|event| is_same(&event.name, name)));
    if a.foreground_events.is_empty() || b.foreground_events.is_empty() {
        return None;
    }
    match (in_a, in_b) {
        (false, true) => Some(Became::New),
        (true, false) => Some(Became::Gone),
        _ => None,
    }
}

fn parameters(a: &AwrReport, b: &AwrReport) -> Vec<Switch> {
    let list = |report: &AwrReport| {
        let value = |of: &Parameter| of.end_value.clone().unwrap_or_else(|| of.value.clone());
        let parameters = report.parameters.iter().map(|of| (of.full_name(), value(of))).collect();
        ParameterList { is_text: report.form == Form::Text, parameters }
    };
    let lines = differing_parameters(&list(a), &list(b));
    lines.into_iter().map(|line| Switch { name: line.name, a: line.a, b: line.b }).collect()
}

/// Statements that both reports know plans of, and not the same ones.
fn plans(a: &AwrReport, b: &AwrReport) -> Vec<Switch> {
    let spelled = |plans: &BTreeSet<String>| Some(plans.iter().cloned().collect::<Vec<_>>().join(", "));
    let both = a.plans.iter().filter_map(|(id, plans)| Some((id, plans, b.plans.get(id)?)));
    let changed = both.filter(|(_, a, b)| a != b);
    changed.map(|(id, a, b)| Switch { name: id.clone(), a: spelled(a), b: spelled(b) }).collect()
}
