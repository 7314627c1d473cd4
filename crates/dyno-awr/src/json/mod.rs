//! Converts a report to JSON: figures are nested by the first part of their names, lists become
//! arrays.

mod item;
mod lists;

use std::collections::BTreeMap;

use item::{AwrJsonMember, AwrJsonValue};
use serde::Serialize;

use crate::number::TimeReading;
use crate::report::{AwrFigure, AwrInstance, AwrReport, AwrReportKind, AwrWaitEvent};

/// Figures of the load profile that the output always has; absent ones are null.
const LOAD_PROFILE: [&str; 14] = [
    "redo_size",
    "logical_reads",
    "block_changes",
    "physical_reads",
    "physical_writes",
    "read_io_requests",
    "write_io_requests",
    "read_io_mb",
    "write_io_mb",
    "user_calls",
    "parses",
    "hard_parses",
    "executes",
    "transactions",
];

fn average<'r>(average: Option<TimeReading>, raw: &'r str) -> AwrJsonValue<'r> {
    let average = average.map(|average| {
        AwrJsonValue::Object(vec![
            ("raw", raw.into()),
            ("unit", average.unit.name().into()),
            ("value", average.reading.into()),
        ])
    });
    average.into()
}

fn event(event: &AwrWaitEvent) -> Vec<AwrJsonMember<'_>> {
    vec![
        ("avg_wait", average(event.average, &event.average_raw)),
        ("event", (&event.name).into()),
        ("pct_db_time", event.share_pct.into()),
        ("time_raw", (&event.time_raw).into()),
        ("time_s", event.time_s.into()),
        ("wait_class", event.class.as_ref().into()),
        ("waits", event.waits.into()),
    ]
}

fn instance(instance: &AwrInstance) -> AwrJsonValue<'_> {
    let mut entries = figures(&instance.figures, &[]);
    entries.push(("inst_num", instance.number.into()));
    for (name, word) in &instance.words {
        entries.push((if *name == "version" { "release" } else { name }, word.into()));
    }
    AwrJsonValue::object(entries)
}

/// Figures by name, one level deeper where a name has two parts. Those of `LOAD_PROFILE` are always
/// present.
fn figures<'r>(figures: &'r BTreeMap<String, AwrFigure>, load_profile: &[&'r str]) -> Vec<AwrJsonMember<'r>> {
    let mut groups: BTreeMap<&str, Vec<AwrJsonMember<'_>>> = BTreeMap::new();
    let mut entries = Vec::new();
    if !load_profile.is_empty() {
        groups.insert(
            "load_profile_per_s",
            load_profile.iter().map(|name| (*name, AwrJsonValue::Null)).collect(),
        );
    }
    for (name, figure) in figures {
        match name.split_once('.') {
            Some((group, rest)) => groups.entry(group).or_default().push((rest, figure.reading.into())),
            None => entries.push((name.as_str(), figure.reading.into())),
        }
    }
    entries.extend(groups.into_iter().map(|(name, group)| (name, AwrJsonValue::object(group))));
    entries
}

/// Words that the output always has; absent ones are null.
const HEAD: [&str; 8] = ["db_name", "instance", "version", "rac", "cdb", "host", "platform", "begin_time"];

/// Counts that the output always has; absent ones are null.
const COUNTS: [&str; 5] = ["cpus", "begin_snap", "end_snap", "elapsed_min", "db_time_min"];

/// Which names and texts of the application are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AwrJsonOptions {
    /// Texts and modules of statements.
    pub sql_text: bool,
    /// Names of owners, tables, tablespaces and files.
    pub object_names: bool,
}

/// A whole report, to be written as JSON; keys are sorted alphabetically.
pub fn to_json(report: &AwrReport, show: AwrJsonOptions) -> impl Serialize + '_ {
    let word = |name: &'static str| (name, AwrJsonValue::from(report.word(name)));
    let mut entries = vec![("file", (&report.file).into()), ("report_type", report.kind.name().into())];
    entries.extend(HEAD.into_iter().chain(["end_time"]).map(word));
    entries.extend(report.words.iter().map(|(name, word)| (*name, (&word.text).into())));
    entries.extend(COUNTS.map(|name| (name, AwrJsonValue::Null)));
    entries.extend(figures(&report.figures, &LOAD_PROFILE));
    entries.push(("top_events_title", report.top_events_title.as_ref().into()));
    entries
        .push(("top_events", report.top_events.iter().map(|of| AwrJsonValue::Object(event(of))).collect()));
    if report.kind == AwrReportKind::AwrRacGlobal {
        // The counts of CPUs are the hosts'; a cluster has none.
        entries.push(("cpus", AwrJsonValue::Null));
        entries.push(("instances", report.instances.iter().map(instance).collect()));
    }
    lists::add(&mut entries, report, show);
    AwrJsonValue::object(entries)
}
