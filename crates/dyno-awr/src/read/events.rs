//! Reads wait events and wait classes, with the columns of every release.

use super::context::{Context, Sources};
use crate::number::{Suffix, TimeUnit};
use crate::report::AwrWaitEvent;
use crate::table::{AwrTable, AwrTableRow};

/// The columns of a table of events.
#[derive(Debug, Clone, Copy)]
struct Columns {
    name: usize,
    waits: Option<usize>,
    timeouts: Option<usize>,
    time: Option<usize>,
    average: Option<usize>,
    share: Option<usize>,
    class: Option<usize>,
}

impl Columns {
    fn of(table: &AwrTable<'_>) -> Self {
        let waits = table.find(|c| c == "waits" || c == "eventwaits" || c == "totalwaits" || c == "waits#");
        let timeouts = table.find(|c| c.contains('%') && c.contains("tim") && c.contains("out"));
        let average = table.find(|c| c.contains("avg") && !c.contains("active") && !c.starts_with("summary"));
        let share = table.find(|c| {
            c.contains('%')
                && !c.contains("out")
                && ["db", "call", "ela", "bg"].iter().any(|of| c.contains(of))
        });
        let class = table.find(|c| c.ends_with("waitclass") || c == "class");
        let assigned = [waits, timeouts, average, share, class];
        // Narrow columns break their caption: `Tota Time`.
        let is_time = |c: &str| {
            c.contains("time") && !c.contains('%') && !c.contains("timeouts") || c.ends_with("totals")
        };
        let time =
            (0..table.columns.len()).find(|&i| !assigned.contains(&Some(i)) && is_time(&table.squashed()[i]));
        let name = table.find(|c| c.ends_with("event") || c == "eventname").unwrap_or(0);
        Self { name, waits, timeouts, time, average, share, class }
    }
}

/// The events with the longest times.
pub(crate) fn top(context: &mut Context, table: &AwrTable<'_>) {
    if context.report.top_events.is_empty() {
        context.report.top_events_title = Some(table.title.trim().to_owned());
    }
    let read = read(context, table);
    context.report.top_events.extend(read);
}

/// Wait classes of all sessions; the first of several tables is kept.
pub(crate) fn wait_classes(context: &mut Context, table: &AwrTable<'_>) {
    let read = read(context, table);
    if context.report.wait_classes.is_empty() {
        context.report.wait_classes = read;
    }
}

/// Wait classes of user sessions, which later releases have beside those of all sessions.
pub(crate) fn foreground_wait_classes(context: &mut Context, table: &AwrTable<'_>) {
    let read = read(context, table);
    context.report.foreground_wait_classes.clone_from(&read);
    if context.report.wait_classes.is_empty() {
        context.report.wait_classes = read;
    }
}

/// Reads the events of foreground sessions.
pub(crate) fn foreground(context: &mut Context, table: &AwrTable<'_>) {
    let read = read(context, table);
    context.report.foreground_events.extend(read);
}

/// Reads the events of background processes.
pub(crate) fn background(context: &mut Context, table: &AwrTable<'_>) {
    let read = read(context, table);
    context.report.background_events.extend(read);
}

/// Reads the events of all sessions together.
pub(crate) fn all(context: &mut Context, table: &AwrTable<'_>) {
    let read = read(context, table);
    context.report.all_events.extend(read);
}

/// The events of one table.
pub(crate) fn read(context: &mut Context, table: &AwrTable<'_>) -> Vec<AwrWaitEvent> {
    let columns = Columns::of(table);
    let sources = Sources::new(table);
    let rows = table.rows.iter().filter(|row| !row.cell(columns.name).is_empty());
    rows.map(|row| event(context, &sources, row, columns)).collect()
}

fn event(
    context: &mut Context,
    sources: &Sources<'_, '_>,
    row: &AwrTableRow<'_>,
    columns: Columns,
) -> AwrWaitEvent {
    let cell = |column: Option<usize>| column.map_or("", |at| row.cell(at)).trim();
    let time = context.time(sources, row, columns.time, Some(TimeUnit::S));
    AwrWaitEvent {
        name: row.cell(columns.name).to_owned(),
        waits: context.number(sources, row, columns.waits, Suffix::Decimal),
        time_s: time.map(|time| time.seconds()),
        time_raw: cell(columns.time).to_owned(),
        average: context.time(sources, row, columns.average, None),
        average_raw: cell(columns.average).to_owned(),
        share_pct: context.number(sources, row, columns.share, Suffix::Decimal),
        timeouts_pct: context.number(sources, row, columns.timeouts, Suffix::Decimal),
        class: Some(cell(columns.class)).filter(|class| !class.is_empty()).map(str::to_owned),
        source: sources.source(row, columns.time.unwrap_or(columns.name)),
    }
}
