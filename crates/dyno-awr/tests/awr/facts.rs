//! Converts everything that was read from a report to names and values without places, to compare
//! two readings.

use std::collections::BTreeMap;

use dyno_awr::{AwrReport, AwrWaitEvent, IoRow, PrintedNumber};

/// Values of a report by name.
pub(crate) type Facts = BTreeMap<String, String>;

fn number(reading: Option<PrintedNumber>) -> String {
    reading.map_or_else(|| "absent".into(), |r| format!("{:e}~{:.2e}", r.value, r.step))
}

fn event_text(timed_event: &AwrWaitEvent) -> String {
    let average = timed_event.average.map(|average| (average.reading, average.unit));
    format!(
        "{} {} {} {:?} {average:?} {} {} {:?}",
        timed_event.name,
        number(timed_event.waits),
        number(timed_event.time_s),
        timed_event.time_raw,
        number(timed_event.share_pct),
        number(timed_event.timeouts_pct),
        timed_event.class
    )
}

fn io_text(row: &IoRow) -> String {
    let figures = row.figures.iter().map(|(name, reading)| format!("{name}={}", number(Some(*reading))));
    format!("{} {:?} {:?} {}", row.name, row.file, row.pdb, figures.collect::<Vec<_>>().join(" "))
}

/// All facts of a report except derived ones.
pub(crate) fn facts(report: &AwrReport) -> Facts {
    let mut facts = Facts::new();
    facts.insert("kind".into(), report.kind.name().into());
    for (name, word) in &report.words {
        facts.insert(format!("word {name}"), word.text.clone());
    }
    for (name, figure) in report.figures.iter().filter(|(name, _)| !name.starts_with("derived.")) {
        facts.insert(format!("figure {name}"), number(Some(figure.reading)));
    }
    for (i, container) in report.containers.iter().enumerate() {
        facts.insert(format!("container {i}"), format!("{container:?}"));
    }
    if let Some(title) = &report.top_events_title {
        facts.insert("top_events_title".into(), title.clone());
    }
    for (list, events) in [
        ("top", &report.top_events),
        ("foreground", &report.foreground_events),
        ("background", &report.background_events),
        ("all", &report.all_events),
        ("class", &report.wait_classes),
        ("foreground class", &report.foreground_wait_classes),
    ] {
        for (i, of) in events.iter().enumerate() {
            facts.insert(format!("{list} {i}"), event_text(of));
        }
    }
    for (i, of) in report.histograms.iter().enumerate() {
        facts.insert(format!("histogram {i}"), format!("{} {}", of.event, number(of.waits)));
        for band in &of.bands {
            let name = format!("bands {i} {:?}-{:?}", band.from_us, band.below_us);
            facts.insert(name, number(Some(band.share_pct)));
        }
    }
    for (list, rows) in [
        ("functions", &report.io_functions),
        ("filetypes", &report.io_filetypes),
        ("functions and types", &report.io_function_filetypes),
        ("tablespaces", &report.tablespaces),
        ("files", &report.files),
    ] {
        for (i, of) in rows.iter().enumerate() {
            facts.insert(format!("{list} {i}"), io_text(of));
        }
    }
    for list in &report.statements {
        for (i, of) in list.statements.iter().enumerate() {
            let figures: Vec<_> =
                of.figures.iter().map(|(name, r)| format!("{name}={}", number(Some(*r)))).collect();
            let name = format!("sql {} {i}", list.order);
            facts.insert(name.clone(), format!("{} {}", of.id, figures.join(" ")));
            let text = of.text.as_deref().unwrap_or("").split_whitespace().collect::<Vec<_>>().join(" ");
            facts.insert(format!("{name} words"), format!("{:?} {:?}", of.module, of.pdb));
            facts.insert(format!("{name} text"), text);
        }
    }
    for (id, text) in &report.statement_texts {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        facts.insert(format!("whole text {id}"), text);
    }
    for (id, plans) in &report.plans {
        facts.insert(format!("plans {id}"), format!("{plans:?}"));
    }
    for list in &report.segments {
        for (i, of) in list.segments.iter().enumerate() {
            let names = [&of.owner, &of.tablespace, &of.name, &of.subobject, &of.kind];
            facts.insert(
                format!("segments {} {i}", list.order),
                format!("{names:?} {} {}", number(of.value), number(of.share_pct)),
            );
        }
    }
    for (list, rows) in &report.details {
        for (i, of) in rows.iter().enumerate() {
            let figures: Vec<_> =
                of.figures.iter().map(|(name, r)| format!("{name}={}", number(Some(*r)))).collect();
            facts.insert(format!("{list} {i}"), format!("{} {}", of.name, figures.join(" ")));
        }
    }
    for (i, of) in report.parameters.iter().enumerate() {
        facts.insert(format!("parameter {i}"), format!("{} {:?}", of.full_name(), of.end_value));
        facts.insert(format!("parameter {i} text"), of.value.clone());
    }
    for (i, of) in report.instances.iter().enumerate() {
        facts.insert(format!("instance {i}"), format!("{} {:?}", of.number, of.words));
        for (name, figure) in &of.figures {
            facts.insert(format!("instance {i} {name}"), number(Some(figure.reading)));
        }
    }
    facts
}

/// What differs between two readings, at most twelve of them.
pub(crate) fn differences(place: &str, expected: &Facts, read: &Facts) -> Vec<String> {
    let mut mismatches = Vec::new();
    for name in expected.keys().chain(read.keys().filter(|name| !expected.contains_key(*name))) {
        let (a, b) = (expected.get(name), read.get(name));
        if a != b && mismatches.len() < 12 {
            mismatches.push(format!("{place}: {name}: {a:?} became {b:?}"));
        }
    }
    mismatches
}

/// The parts of `read` that are not in `expected`: a report that lost its end may have fewer, but
/// no others.
pub(crate) fn invented_facts(place: &str, expected: &Facts, read: &Facts) -> Vec<String> {
    // A text may be partial, and a statement's lines may be only the first.
    let is_part = |name: &str, value: &str| {
        if name.ends_with(" words") && value == "None None" {
            return true;
        }
        name.ends_with(" text") && expected.get(name).is_some_and(|whole| whole.starts_with(value))
    };
    let new = read.iter().filter(|(name, value)| expected.get(*name) != Some(value) && !is_part(name, value));
    new.take(12)
        .map(|(name, value)| format!("{place}: {name}: {:?} became {value:?}", expected.get(name)))
        .collect()
}
