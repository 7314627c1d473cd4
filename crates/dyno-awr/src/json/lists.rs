//! The lists of a report as JSON, and where its figures stood.

use std::collections::BTreeMap;

use super::item::{Entry, Item};
use super::{Show, event};
use crate::issue::Issue;
use crate::number::Reading;
use crate::report::{
    AwrReport, Container, DetailRow, Event, EventHistogram, IoRow, Parameter, SegmentList, Source,
    StatementList,
};

/// Adds every list that the report has.
pub(super) fn add<'r>(entries: &mut Vec<Entry<'r>>, report: &'r AwrReport, show: Show) {
    let events = |events: &'r [Event]| events.iter().map(event_with_source).collect::<Item<'_>>();
    let io = |rows: &'r [IoRow], named| rows.iter().map(|row| io(row, named)).collect::<Item<'_>>();
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
    entries
        .extend(lists.into_iter().filter(|(_, list)| !matches!(list, Item::List(items) if items.is_empty())));
    for (list, rows) in &report.details {
        entries.push((*list, rows.iter().map(|row| detail(row, show)).collect()));
    }
    entries.push(("format", report.form.name().into()));
    if report.part > 0 {
        entries.push(("part", report.part.into()));
    }
    if !report.plans.is_empty() {
        let plans =
            report.plans.iter().map(|(id, plans)| (id.as_str(), plans.iter().map(Item::from).collect()));
        entries.push(("plans", Item::Object(plans.collect())));
    }
    entries.push(("sources", sources(report)));
}

fn event_with_source(of: &Event) -> Item<'_> {
    let mean_us = of.mean_s().map(|mean| Reading { value: mean.value * 1e6, step: mean.step * 1e6 });
    let mut entries = event(of);
    entries.extend([
        ("line", of.source.line.into()),
        ("mean_us", mean_us.into()),
        ("mean_us_step", mean_us.map(|mean| Reading::exact(mean.step)).into()),
        ("timeouts_pct", of.timeouts_pct.into()),
    ]);
    Item::object(entries)
}

fn histogram(of: &EventHistogram) -> Item<'_> {
    let bands = of.bands.iter().map(|band| {
        Item::Object(vec![
            ("below_us", band.below_us.into()),
            ("from_us", band.from_us.into()),
            ("share_pct", band.share_pct.into()),
        ])
    });
    Item::Object(vec![
        ("bands", bands.collect()),
        ("event", (&of.event).into()),
        ("line", of.source.line.into()),
        ("waits", of.waits.into()),
    ])
}

fn figures<'r>(figures: &BTreeMap<&'static str, Reading>) -> Vec<Entry<'r>> {
    figures.iter().map(|(name, reading)| (*name, (*reading).into())).collect()
}

fn detail(of: &DetailRow, show: Show) -> Item<'_> {
    let mut entries = figures(&of.figures);
    if show.object_names {
        entries.extend(of.object.iter().map(|object| ("object", object.into())));
    }
    entries.extend([("line", of.line.into()), ("name", (&of.name).into())]);
    Item::object(entries)
}

fn io(of: &IoRow, named: bool) -> Item<'_> {
    let mut entries = figures(&of.figures);
    entries.push(("line", of.line.into()));
    entries.extend(of.pdb.iter().map(|pdb| ("pdb", pdb.into())));
    if named {
        entries.push(("name", (&of.name).into()));
        entries.extend(of.file.iter().map(|file| ("file", file.into())));
    }
    Item::object(entries)
}

fn statements<'r>(list: &'r StatementList, report: &'r AwrReport, show: Show) -> Item<'r> {
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
        Item::object(entries)
    });
    of_order(&list.order, &list.source, "statements", rows.collect())
}

fn segments(list: &SegmentList, show: Show) -> Item<'_> {
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
        Item::object(entries)
    });
    of_order(&list.order, &list.source, "segments", rows.collect())
}

/// A list of top ones in one order.
fn of_order<'r>(order: &'r str, source: &'r Source, name: &'r str, rows: Item<'r>) -> Item<'r> {
    Item::object(vec![("order", order.into()), ("section", source.section.trim().into()), (name, rows)])
}

fn container(of: &Container) -> Item<'_> {
    Item::Object(vec![
        ("dbid", (&of.dbid).into()),
        ("name", (&of.name).into()),
        ("opened", (&of.opened).into()),
    ])
}

fn parameter(of: &Parameter) -> Item<'_> {
    let mut entries = vec![
        ("end_value", of.end_value.as_ref().into()),
        ("name", (&of.name).into()),
        ("value", (&of.value).into()),
    ];
    entries.extend(of.pdb.iter().map(|pdb| ("pdb", pdb.into())));
    entries.extend(of.instance.map(|instance| ("instance", instance.into())));
    Item::object(entries)
}

fn issue(of: &Issue) -> Item<'_> {
    Item::Object(vec![
        ("level", if of.is_error() { "error" } else { "warning" }.into()),
        ("line", of.line.into()),
        ("message", (&of.message).into()),
        ("section", (&of.section).into()),
    ])
}

/// Where every figure and word stood.
fn sources(report: &AwrReport) -> Item<'_> {
    fn one(source: &Source) -> Item<'_> {
        Item::Object(vec![
            ("caption", source.caption.as_ref().into()),
            ("line", source.line.into()),
            ("section", source.section.trim().into()),
        ])
    }
    let words = report.words.iter().map(|(name, word)| (*name, one(&word.source)));
    let figures = report.figures.iter().map(|(name, figure)| (name.as_str(), one(&figure.source)));
    Item::object(words.chain(figures).collect())
}
