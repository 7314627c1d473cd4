//! A report as JSON: figures nested by the first part of their names, lists as lists.

mod lists;

use serde_json::{Map, Number, Value, json};

use crate::number::{Reading, TimeReading};
use crate::report::{Event, Instance, Kind, Report};

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

/// A number as JSON: whole ones without a fraction.
pub(crate) fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0 {
        return Value::from(value as i64);
    }
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

fn reading(reading: Option<Reading>) -> Value {
    reading.map_or(Value::Null, |reading| number(reading.value))
}

fn average(average: Option<TimeReading>, raw: &str) -> Value {
    average.map_or(
        Value::Null,
        |average| json!({ "value": number(average.reading.value), "unit": average.unit.name(), "raw": raw }),
    )
}

fn event(event: &Event) -> Value {
    json!({
        "event": event.name,
        "waits": reading(event.waits),
        "time_s": reading(event.time_s),
        "time_raw": event.time_raw,
        "avg_wait": average(event.average, &event.average_raw),
        "pct_db_time": reading(event.share_pct),
        "wait_class": event.class,
    })
}

fn instance(instance: &Instance) -> Value {
    let mut object = Map::new();
    object.insert("inst_num".into(), Value::from(instance.number));
    for (name, word) in &instance.words {
        let name = if *name == "version" { "release" } else { name };
        object.insert(name.into(), Value::from(word.as_str()));
    }
    for (name, figure) in &instance.figures {
        insert(&mut object, name, number(figure.reading.value));
    }
    Value::Object(object)
}

/// Puts a value under a name, one level deeper where the name has two parts.
fn insert(object: &mut Map<String, Value>, name: &str, value: Value) {
    match name.split_once('.') {
        Some((group, rest)) => {
            let group = object.entry(group).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(group) = group {
                group.insert(rest.to_owned(), value);
            }
        }
        None => {
            object.insert(name.to_owned(), value);
        }
    }
}

/// Words and counts that every report's output has, absent ones as null.
const HEAD: [&str; 8] = ["db_name", "instance", "version", "rac", "cdb", "host", "platform", "begin_time"];

/// What is shown of names and texts that belong to the application.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Show {
    /// Texts and modules of statements.
    pub sql_text: bool,
    /// Owners, tables, tablespaces, files.
    pub object_names: bool,
}

/// A whole report.
pub fn to_json(report: &Report, show: Show) -> Value {
    let mut object = Map::new();
    object.insert("file".into(), Value::from(report.file.as_str()));
    object.insert("report_type".into(), Value::from(report.kind.name()));
    for name in HEAD.into_iter().chain(["end_time"]) {
        object.insert(name.into(), report.word(name).map_or(Value::Null, Value::from));
    }
    for (name, word) in &report.words {
        object.insert((*name).into(), Value::from(word.text.as_str()));
    }
    for name in ["cpus", "begin_snap", "end_snap", "elapsed_min", "db_time_min"] {
        object.insert(name.into(), Value::Null);
    }
    for name in LOAD_PROFILE {
        insert(&mut object, &format!("load_profile_per_s.{name}"), Value::Null);
    }
    for (name, figure) in &report.figures {
        insert(&mut object, name, number(figure.reading.value));
    }
    object.insert(
        "top_events_title".into(),
        report.top_events_title.as_deref().map_or(Value::Null, Value::from),
    );
    object.insert("top_events".into(), report.top_events.iter().map(event).collect());
    if report.kind == Kind::AwrRacGlobal {
        // The counts of CPUs are the hosts'; a cluster has none.
        object.insert("cpus".into(), Value::Null);
        object.insert("instances".into(), report.instances.iter().map(instance).collect());
    }
    lists::insert(&mut object, report, show);
    Value::Object(object)
}
