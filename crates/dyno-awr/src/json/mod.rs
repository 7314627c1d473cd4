//! A report as JSON: figures nested by the first part of their names, lists as lists.

mod item;
mod lists;

use std::collections::BTreeMap;

use item::{Entry, Item};
use serde::Serialize;

use crate::number::TimeReading;
use crate::report::{AwrReport, Event, Figure, Instance, Kind};

/// Figures of the load profile that every report's output has, absent ones as null.
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

fn average<'r>(average: Option<TimeReading>, raw: &'r str) -> Item<'r> {
    let average = average.map(|average| {
        Item::Object(vec![
            ("raw", raw.into()),
            ("unit", average.unit.name().into()),
            ("value", average.reading.into()),
        ])
    });
    average.into()
}

fn event(event: &Event) -> Vec<Entry<'_>> {
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

fn instance(instance: &Instance) -> Item<'_> {
    let mut entries = figures(&instance.figures, &[]);
    entries.push(("inst_num", instance.number.into()));
    for (name, word) in &instance.words {
        entries.push((if *name == "version" { "release" } else { name }, word.into()));
    }
    Item::object(entries)
}

/// Figures under their names, one level deeper where a name has two parts. Those of `LOAD_PROFILE` are there in any case.
fn figures<'r>(figures: &'r BTreeMap<String, Figure>, load_profile: &[&'r str]) -> Vec<Entry<'r>> {
    let mut groups: BTreeMap<&str, Vec<Entry<'_>>> = BTreeMap::new();
    let mut entries = Vec::new();
    if !load_profile.is_empty() {
        groups.insert("load_profile_per_s", load_profile.iter().map(|name| (*name, Item::Null)).collect());
    }
    for (name, figure) in figures {
        match name.split_once('.') {
            Some((group, rest)) => groups.entry(group).or_default().push((rest, figure.reading.into())),
            None => entries.push((name.as_str(), figure.reading.into())),
        }
    }
    entries.extend(groups.into_iter().map(|(name, group)| (name, Item::object(group))));
    entries
}

/// Words that every report's output has, absent ones as null.
const HEAD: [&str; 8] = ["db_name", "instance", "version", "rac", "cdb", "host", "platform", "begin_time"];

/// Counts that every report's output has, absent ones as null.
const COUNTS: [&str; 5] = ["cpus", "begin_snap", "end_snap", "elapsed_min", "db_time_min"];

/// What is shown of names and texts that belong to the application.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Show {
    /// Texts and modules of statements.
    pub sql_text: bool,
    /// Owners, tables, tablespaces, files.
    pub object_names: bool,
}

/// A whole report, to be written as JSON; keys are in the order of the alphabet.
pub fn to_json(report: &AwrReport, show: Show) -> impl Serialize + '_ {
    let word = |name: &'static str| (name, Item::from(report.word(name)));
    let mut entries = vec![("file", (&report.file).into()), ("report_type", report.kind.name().into())];
    entries.extend(HEAD.into_iter().chain(["end_time"]).map(word));
    entries.extend(report.words.iter().map(|(name, word)| (*name, (&word.text).into())));
    entries.extend(COUNTS.map(|name| (name, Item::Null)));
    entries.extend(figures(&report.figures, &LOAD_PROFILE));
    entries.push(("top_events_title", report.top_events_title.as_ref().into()));
    entries.push(("top_events", report.top_events.iter().map(|of| Item::Object(event(of))).collect()));
    if report.kind == Kind::AwrRacGlobal {
        // The counts of CPUs are the hosts'; a cluster has none.
        entries.push(("cpus", Item::Null));
        entries.push(("instances", report.instances.iter().map(instance).collect()));
    }
    lists::add(&mut entries, report, show);
    Item::object(entries)
}
