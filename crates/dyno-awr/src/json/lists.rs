//! Converts the lists of a report to JSON, and the sources of its figures.

use std::collections::BTreeMap;

use super::item::{AwrJsonMember, AwrJsonValue};
use super::{AwrJsonOptions, event};
use crate::issue::Issue;
use crate::number::PrintedNumber;
use crate::report::{
    AwrParameter, AwrReport, AwrSource, AwrWaitEvent, Container, DetailRow, EventHistogram, IoRow,
    SegmentList, StatementList,
};

/// Adds every list that the report has.
pub(super) fn add<'r>(entries: &mut Vec<AwrJsonMember<'r>>, report: &'r AwrReport, show: AwrJsonOptions) {
    let events =
        |events: &'r [AwrWaitEvent]| events.iter().map(event_with_source).collect::<AwrJsonValue<'_>>();
    let io = |rows: &'r [IoRow], named| rows.iter().map(|row| io(row, named)).collect::<AwrJsonValue<'_>>();
    let lists = [
        ("wait_classes", events(&report.wait_classes)),
        ("foreground_wait_classes", events(&report.foreground_wait_classes)),
        ("foreground_events", events(&report.foreground_events)),
        ("background_events", events(&report.background_events)),
        ("all_events", events(&report.all_events)),
        ("histograms", report.histograms.iter().map(histogram).collect()),
        ("io_functions", io(&report.io_functions, true)),
        ("io_filetypes", io(&report.io_filetypes, true)),
        ("io_function_filetypes", io(&report.io_function_filetypes, true)),
        ("tablespaces", io(&report.tablespaces, show.object_names)),
        ("files", io(&report.files, show.object_names)),
        ("sql", report.statements.iter().map(|list| statements(list, report, show)).collect()),
        ("segments", report.segments.iter().map(|list| segments(list, show)).collect()),
        ("containers", report.containers.iter().map(container).collect()),
        ("parameters", report.parameters.iter().map(parameter).collect()),
        ("issues", report.issues.iter().map(issue).collect()),
    ];
    entries.extend(
        lists.into_iter().filter(|(_, list)| !matches!(list, AwrJsonValue::List(items) if items.is_empty())),
    );
    for (list, rows) in &report.details {
        entries.push((*list, rows.iter().map(|row| detail(row, show)).collect()));
    }
    entries.push(("format", report.form.name().into()));
    if report.part > 0 {
        entries.push(("part", report.part.into()));
    }
    if !report.plans.is_empty() {
        let plans = report
            .plans
            .iter()
            .map(|(id, plans)| (id.as_str(), plans.iter().map(AwrJsonValue::from).collect()));
        entries.push(("plans", AwrJsonValue::Object(plans.collect())));
    }
    entries.push(("sources", sources(report)));
}

fn event_with_source(wait_event: &AwrWaitEvent) -> AwrJsonValue<'_> {
    let mean_us =
        wait_event.mean_s().map(|mean| PrintedNumber { value: mean.value * 1e6, step: mean.step * 1e6 });
    let mut entries = event(wait_event);
    entries.extend([
        ("line", wait_event.source.line.into()),
        ("mean_us", mean_us.into()),
        ("mean_us_step", mean_us.map(|mean| PrintedNumber::exact(mean.step)).into()),
        ("timeouts_pct", wait_event.timeouts_pct.into()),
    ]);
    AwrJsonValue::object(entries)
}

fn histogram(distribution: &EventHistogram) -> AwrJsonValue<'_> {
    let bands = distribution.bands.iter().map(|band| {
        AwrJsonValue::Object(vec![
            ("below_us", band.below_us.into()),
            ("from_us", band.from_us.into()),
            ("share_pct", band.share_pct.into()),
        ])
    });
    AwrJsonValue::Object(vec![
        ("bands", bands.collect()),
        ("event", (&distribution.event).into()),
        ("line", distribution.source.line.into()),
        ("waits", distribution.waits.into()),
    ])
}

fn figures<'r>(figures: &BTreeMap<&'static str, PrintedNumber>) -> Vec<AwrJsonMember<'r>> {
    figures.iter().map(|(name, reading)| (*name, (*reading).into())).collect()
}

fn detail(row: &DetailRow, show: AwrJsonOptions) -> AwrJsonValue<'_> {
    let mut entries = figures(&row.figures);
    if show.object_names {
        entries.extend(row.object.iter().map(|object| ("object", object.into())));
    }
    entries.extend([("line", row.line.into()), ("name", (&row.name).into())]);
    AwrJsonValue::object(entries)
}

fn io(row: &IoRow, named: bool) -> AwrJsonValue<'_> {
    let mut entries = figures(&row.figures);
    entries.push(("line", row.line.into()));
    entries.extend(row.pdb.iter().map(|pdb| ("pdb", pdb.into())));
    if named {
        entries.push(("name", (&row.name).into()));
        entries.extend(row.file.iter().map(|file| ("file", file.into())));
    }
    AwrJsonValue::object(entries)
}

fn statements<'r>(list: &'r StatementList, report: &'r AwrReport, show: AwrJsonOptions) -> AwrJsonValue<'r> {
    let rows = list.statements.iter().map(|statement| {
        let mut entries = figures(&statement.figures);
        entries.push(("id", (&statement.id).into()));
        entries.push(("line", statement.line.into()));
        entries.extend(statement.pdb.iter().map(|pdb| ("pdb", pdb.into())));
        if show.sql_text {
            let text = report.statement_texts.get(&statement.id).or(statement.text.as_ref());
            entries.push(("text", text.into()));
            entries.extend(statement.module.iter().map(|module| ("module", module.into())));
        }
        AwrJsonValue::object(entries)
    });
    of_order(&list.order, &list.source, "statements", rows.collect())
}

fn segments(list: &SegmentList, show: AwrJsonOptions) -> AwrJsonValue<'_> {
    let rows = list.segments.iter().map(|segment| {
        let mut entries = vec![
            ("line", segment.line.into()),
            ("share_pct", segment.share_pct.into()),
            ("type", (&segment.kind).into()),
            ("value", segment.value.into()),
        ];
        entries.extend(segment.pdb.iter().map(|pdb| ("pdb", pdb.into())));
        if show.object_names {
            entries.extend([
                ("name", (&segment.name).into()),
                ("owner", (&segment.owner).into()),
                ("subobject", (&segment.subobject).into()),
                ("tablespace", (&segment.tablespace).into()),
            ]);
        }
        AwrJsonValue::object(entries)
    });
    of_order(&list.order, &list.source, "segments", rows.collect())
}

/// A list of top entries in one order.
fn of_order<'r>(
    order: &'r str,
    source: &'r AwrSource,
    name: &'r str,
    rows: AwrJsonValue<'r>,
) -> AwrJsonValue<'r> {
    AwrJsonValue::object(vec![
        ("order", order.into()),
        ("section", source.section.trim().into()),
        (name, rows),
    ])
}

fn container(pdb_container: &Container) -> AwrJsonValue<'_> {
    AwrJsonValue::Object(vec![
        ("dbid", (&pdb_container.dbid).into()),
        ("name", (&pdb_container.name).into()),
        ("opened", (&pdb_container.opened).into()),
    ])
}

fn parameter(setting: &AwrParameter) -> AwrJsonValue<'_> {
    let mut entries = vec![
        ("end_value", setting.end_value.as_ref().into()),
        ("name", (&setting.name).into()),
        ("value", (&setting.value).into()),
    ];
    entries.extend(setting.pdb.iter().map(|pdb| ("pdb", pdb.into())));
    entries.extend(setting.instance.map(|instance| ("instance", instance.into())));
    AwrJsonValue::object(entries)
}

fn issue(problem: &Issue) -> AwrJsonValue<'_> {
    AwrJsonValue::Object(vec![
        ("level", if problem.is_error() { "error" } else { "warning" }.into()),
        ("line", problem.line.into()),
        ("message", (&problem.message).into()),
        ("section", (&problem.section).into()),
    ])
}

/// The source of every figure and word.
fn sources(report: &AwrReport) -> AwrJsonValue<'_> {
    fn one(source: &AwrSource) -> AwrJsonValue<'_> {
        AwrJsonValue::Object(vec![
            ("caption", source.caption.as_ref().into()),
            ("line", source.line.into()),
            ("section", source.section.trim().into()),
        ])
    }
    let words = report.words.iter().map(|(name, word)| (*name, one(&word.source)));
    let figures = report.figures.iter().map(|(name, figure)| (name.as_str(), one(&figure.source)));
    AwrJsonValue::object(words.chain(figures).collect())
}
