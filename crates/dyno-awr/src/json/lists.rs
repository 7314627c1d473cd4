//! The lists of a report as JSON, and where its figures stood.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{Show, event, number, reading};
use crate::issue::Issue;
use crate::number::Reading;
use crate::report::{Event, EventHistogram, IoRow, Report, SegmentList, Source, StatementList};

/// Adds every list that the report has.
pub(super) fn insert(object: &mut Map<String, Value>, report: &Report, show: Show) {
    let events = |events: &[Event]| events.iter().map(event_with_source).collect::<Value>();
    object.insert("format".into(), report.form.name().into());
    if report.part > 0 {
        object.insert("part".into(), report.part.into());
    }
    let lists = [
        ("wait_classes", events(&report.wait_classes)),
        ("foreground_wait_classes", events(&report.foreground_wait_classes)),
        ("foreground_events", events(&report.foreground_events)),
        ("background_events", events(&report.background_events)),
        ("all_events", events(&report.all_events)),
        ("histograms", report.histograms.iter().map(histogram).collect()),
        ("io_functions", report.io_functions.iter().map(|row| io(row, true)).collect()),
        ("io_filetypes", report.io_filetypes.iter().map(|row| io(row, true)).collect()),
        ("tablespaces", report.tablespaces.iter().map(|row| io(row, show.object_names)).collect()),
        ("files", report.files.iter().map(|row| io(row, show.object_names)).collect()),
        ("sql", report.statements.iter().map(|list| statements(list, report, show)).collect()),
        ("segments", report.segments.iter().map(|list| segments(list, show)).collect()),
        ("containers", report.containers.iter().map(container).collect()),
        ("parameters", report.parameters.iter().map(parameter).collect()),
        ("issues", report.issues.iter().map(issue).collect()),
    ];
    for (name, list) in lists {
        if list.as_array().is_some_and(|list| !list.is_empty()) {
            object.insert(name.into(), list);
        }
    }
    if !report.plans.is_empty() {
        object.insert("plans".into(), json!(report.plans));
    }
    object.insert("sources".into(), sources(report));
}

fn event_with_source(of: &Event) -> Value {
    let mut value = event(of);
    if let Value::Object(object) = &mut value {
        let mean_us = of.mean_s().map(|mean| Reading { value: mean.value * 1e6, step: mean.step * 1e6 });
        object.insert("mean_us".into(), reading(mean_us));
        object.insert("mean_us_step".into(), mean_us.map_or(Value::Null, |mean| number(mean.step)));
        object.insert("timeouts_pct".into(), reading(of.timeouts_pct));
        object.insert("line".into(), of.source.line.into());
    }
    value
}

fn histogram(of: &EventHistogram) -> Value {
    let bands = of.bands.iter().map(|band| {
        json!({
            "from_us": band.from_us,
            "below_us": band.below_us,
            "share_pct": number(band.share_pct.value),
        })
    });
    json!({ "event": of.event, "waits": reading(of.waits), "bands": bands.collect::<Value>(), "line": of.source.line })
}

fn figures(figures: &BTreeMap<&'static str, Reading>) -> Value {
    figures
        .iter()
        .map(|(name, reading)| ((*name).to_owned(), number(reading.value)))
        .collect::<Map<_, _>>()
        .into()
}

fn io(of: &IoRow, named: bool) -> Value {
    let mut value = figures(&of.figures);
    if let Value::Object(object) = &mut value {
        object.insert("line".into(), of.line.into());
        if named {
            object.insert("name".into(), of.name.as_str().into());
            object.extend(of.file.as_ref().map(|file| ("file".to_owned(), file.as_str().into())));
        }
    }
    value
}

fn statements(list: &StatementList, report: &Report, show: Show) -> Value {
    let rows = list.statements.iter().map(|statement| {
        let mut value = figures(&statement.figures);
        if let Value::Object(object) = &mut value {
            object.insert("id".into(), statement.id.as_str().into());
            object.insert("line".into(), statement.line.into());
            object.extend(statement.pdb.as_ref().map(|pdb| ("pdb".to_owned(), pdb.as_str().into())));
            if show.sql_text {
                let text = report.statement_texts.get(&statement.id).or(statement.text.as_ref());
                object.insert("text".into(), text.map_or(Value::Null, |text| text.as_str().into()));
                object.extend(
                    statement.module.as_ref().map(|module| ("module".to_owned(), module.as_str().into())),
                );
            }
        }
        value
    });
    json!({ "order": list.order, "section": list.source.section.trim(), "statements": rows.collect::<Value>() })
}

fn segments(list: &SegmentList, show: Show) -> Value {
    let rows = list.segments.iter().map(|segment| {
        let mut value = json!({
            "type": segment.kind,
            "value": reading(segment.value),
            "share_pct": reading(segment.share_pct),
            "line": segment.line,
        });
        if let (Value::Object(object), true) = (&mut value, show.object_names) {
            let names = [
                ("owner", &segment.owner),
                ("tablespace", &segment.tablespace),
                ("name", &segment.name),
                ("subobject", &segment.subobject),
            ];
            object.extend(names.map(|(key, name)| (key.to_owned(), name.as_str().into())));
        }
        value
    });
    json!({ "order": list.order, "section": list.source.section.trim(), "segments": rows.collect::<Value>() })
}

fn container(of: &crate::report::Container) -> Value {
    json!({ "dbid": of.dbid, "name": of.name, "opened": of.opened })
}

fn parameter(of: &crate::report::Parameter) -> Value {
    let mut value = json!({ "name": of.name, "value": of.value, "end_value": of.end_value });
    if let Value::Object(object) = &mut value {
        object.extend(of.pdb.as_ref().map(|pdb| ("pdb".to_owned(), pdb.as_str().into())));
        object.extend(of.instance.map(|instance| ("instance".to_owned(), instance.into())));
    }
    value
}

fn issue(of: &Issue) -> Value {
    let level = if of.is_error() { "error" } else { "warning" };
    json!({ "level": level, "line": of.line, "section": of.section, "message": of.message })
}

/// Where every figure and word stood.
fn sources(report: &Report) -> Value {
    let one = |source: &Source| json!({ "section": source.section.trim(), "caption": source.caption.as_ref(), "line": source.line });
    let words = report.words.iter().map(|(name, word)| ((*name).to_owned(), one(&word.source)));
    let figures = report.figures.iter().map(|(name, figure)| (name.clone(), one(&figure.source)));
    words.chain(figures).collect::<Map<_, _>>().into()
}
