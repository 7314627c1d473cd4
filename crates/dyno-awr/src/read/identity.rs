//! Reads what the report is about: database, instance, host, snapshots. These tables have captions
//! but no titles of their own.

use std::borrow::Cow;

use super::context::{Context, Sources};
use crate::issue::AwrIssueSeverity;
use crate::number::{Suffix, is_absent};
use crate::report::{AwrReportKind, AwrSource, AwrText, Container};
use crate::table::{AwrTable, AwrTableRow, Document, squash};
use crate::timestamp::parse_timestamp;

/// The reader of the table, if its captions are those of a header table.
pub(crate) fn reader(table: &AwrTable<'_>) -> Option<fn(&mut Context, &AwrTable<'_>)> {
    let has = |caption: &str| table.column(caption).is_some();
    Some(if has("snapid") && has("snaptime") {
        snapshots
    } else if has("containerdbid") || has("containername") {
        containers
    } else if has("platform") && table.find(|caption| caption.starts_with("cpus")).is_some() {
        host
    } else if has("dbid") && table.find(|caption| caption == "release" || caption == "instance").is_some() {
        database
    } else if has("instance") && has("startuptime") && table.columns.len() <= 6 {
        instance
    } else {
        return None;
    })
}

fn database(context: &mut Context, table: &AwrTable<'_>) {
    let sources = &Sources::new(table);
    let Some(row) = first_row(table) else { return };
    let row = &spread(table, row);
    // STATSPACK captions the column `Database` and leaves it empty.
    let name = table.find(|caption| matches!(caption, "dbname" | "database"));
    context.word("db_name", sources, row, name);
    context.keep("dbid", sources, row, table.column("dbid"), Suffix::Decimal);
    context.word("unique_name", sources, row, table.column("uniquename"));
    context.word("role", sources, row, table.find(|caption| matches!(caption, "role" | "dbrole")));
    context.word("edition", sources, row, table.column("edition"));
    context.word("version", sources, row, table.column("release"));
    context.word("rac", sources, row, table.find(|caption| matches!(caption, "rac" | "cluster")));
    context.word("cdb", sources, row, table.column("cdb"));
    // STATSPACK 9i and AWR 10g name the host only here.
    let host = table.column("host");
    let row = &with_rest(table, row, host);
    context.word("host", sources, row, host);
    instance_of(context, sources, row);
}

fn instance(context: &mut Context, table: &AwrTable<'_>) {
    if let Some(row) = first_row(table) {
        instance_of(context, &Sources::new(table), &spread(table, row));
    }
}

fn instance_of(context: &mut Context, sources: &Sources<'_, '_>, row: &AwrTableRow<'_>) {
    context.word("instance", sources, row, sources.table.column("instance"));
    context.keep("inst_num", sources, row, sources.table.column("instnum"), Suffix::Decimal);
    context.word("startup_time", sources, row, sources.table.column("startuptime"));
}

/// The first line with a value in it. A piece of the ruler of wrapped captions may precede it.
fn first_row<'t, 'a>(table: &'t AwrTable<'a>) -> Option<&'t AwrTableRow<'a>> {
    let has_value = |text: &str| text.chars().any(char::is_alphanumeric);
    table
        .rows
        .iter()
        .find(|row| row.raw.is_some_and(has_value) || row.cells.iter().any(|cell| has_value(cell)))
}

/// A row with the rest of its last cell, which SQL*Plus wrapped to the next line.
fn with_rest<'a>(table: &AwrTable<'a>, row: &AwrTableRow<'a>, column: Option<usize>) -> AwrTableRow<'a> {
    let mut whole = row.clone();
    let Some(column) = column.filter(|column| column + 1 == table.columns.len()) else { return whole };
    let next = table.rows.iter().find(|next| next.line == row.line + 1);
    let rest = next.map_or("", |next| next.cell(column));
    let is_alone = next
        .is_some_and(|next| next.cells[..next.cells.len().min(column)].iter().all(|cell| cell.is_empty()));
    if is_alone && !rest.is_empty() {
        whole.cells[column] = Cow::Owned(format!("{}{rest}", whole.cell(column)));
    }
    whole
}

/// A line of the header whose date is wider than its column. The words before the date keep their
/// columns. Those after it are counted from the end, where nothing is blank.
fn spread<'a>(table: &AwrTable<'a>, row: &AwrTableRow<'a>) -> AwrTableRow<'a> {
    let whole = || row.clone();
    let (true, Some(raw)) = (row.cells.is_empty(), row.raw) else { return whole() };
    let (Some(time), Some(column)) = (time_in(raw), table.column("startuptime")) else { return whole() };
    let Some((before, after)) = raw.split_once(time) else { return whole() };
    let (before, after): (Vec<&str>, Vec<&str>) =
        (before.split_whitespace().collect(), after.split_whitespace().collect());
    // A STATSPACK report leaves the database name blank.
    let blanks = column.checked_sub(before.len());
    let fits = blanks.is_some_and(|blanks| blanks <= 1) && column + 1 + after.len() == table.columns.len();
    let Some(blanks) = blanks.filter(|_| fits) else { return whole() };
    let cells = std::iter::repeat_n("", blanks).chain(before).chain([time]).chain(after);
    AwrTableRow { cells: cells.map(Cow::Borrowed).collect(), ..whole() }
}

fn host(context: &mut Context, table: &AwrTable<'_>) {
    let sources = &Sources::new(table);
    let Some(row) = first_row(table) else { return };
    context.word("host", sources, row, table.find(|caption| matches!(caption, "hostname" | "name")));
    context.word("platform", sources, row, table.column("platform"));
    context.keep("cpus", sources, row, table.find(|caption| caption.starts_with("cpus")), Suffix::Decimal);
    context.keep("cores", sources, row, table.column("cores"), Suffix::Decimal);
    context.keep("sockets", sources, row, table.column("sockets"), Suffix::Decimal);
    context.keep(
        "memory_gb",
        sources,
        row,
        table.find(|caption| caption.starts_with("memory")),
        Suffix::Decimal,
    );
}

fn containers(context: &mut Context, table: &AwrTable<'_>) {
    let column = |caption| table.column(caption);
    let (dbid, name, opened) = (column("containerdbid"), column("containername"), column("opentime"));
    let cell = |row: &AwrTableRow<'_>, column: Option<usize>| column.map_or("", |at| row.cell(at)).to_owned();
    for row in &table.rows {
        let container = Container { dbid: cell(row, dbid), name: cell(row, name), opened: cell(row, opened) };
        // Reports over many snapshots list a container once for each time it was opened.
        if !context.report.containers.contains(&container) {
            context.report.containers.push(container);
        }
    }
}

/// The two snapshots, and the figures below them: elapsed and DB time in minutes.
fn snapshots(context: &mut Context, table: &AwrTable<'_>) {
    let sources = &Sources::new(table);
    for row in &table.rows {
        let row = &in_columns(table, row);
        let label = squash(row.cell(0));
        match label.as_str() {
            "beginsnap" => snapshot(context, sources, row, Edge::Begin),
            "endsnap" => snapshot(context, sources, row, Edge::End),
            _ => minutes(context, sources, row),
        }
    }
}

/// A snapshot's line whose date is wider than its column, as months of some languages are, so the
/// rest is shifted. Its words are still identifiable: a label, a number, a date that ends with a
/// time of day, and numbers.
fn in_columns<'a>(table: &AwrTable<'a>, row: &AwrTableRow<'a>) -> AwrTableRow<'a> {
    let whole = || row.clone();
    let (true, Some(raw)) = (row.cells.is_empty(), row.raw) else { return whole() };
    let Some((label, rest)) = raw.split_once(':').filter(|(label, _)| squash(label).ends_with("snap")) else {
        return whole();
    };
    let mut words = rest.split_whitespace();
    let (Some(id), Some(time)) = (words.next(), time_in(rest)) else { return whole() };
    let after = rest.split_once(time).map_or("", |(_, after)| after);
    let mut values = after.split_whitespace();
    let mut cells = vec![Cow::Borrowed(""); table.columns.len()];
    let mut set = |caption: Option<usize>, text: &'a str| {
        if let Some(cell) = caption.and_then(|at| cells.get_mut(at)) {
            *cell = Cow::Borrowed(text);
        }
    };
    set(Some(0), label.trim());
    set(table.column("snapid"), id);
    set(table.column("snaptime"), time);
    set(table.column("sessions"), values.next().unwrap_or(""));
    set(table.find(|caption| caption.starts_with("curs")), values.next().unwrap_or(""));
    set(table.column("instances"), values.next().unwrap_or(""));
    AwrTableRow { cells, ..whole() }
}

/// The date and time in a line: the first word with a colon, and the one or two words before it
/// that complete it.
fn time_in(text: &str) -> Option<&str> {
    let offset = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
    let words: Vec<&str> = text.split_whitespace().take(HEADER_WORDS_MAX).collect();
    let clock = words.iter().position(|word| word.contains(':'))?;
    let end = offset(words[clock]) + words[clock].len();
    let starts = (clock.saturating_sub(2)..clock).rev().map(|word| offset(words[word]));
    starts.filter_map(|start| text.get(start..end)).find(|time| parse_timestamp(time).is_some())
}

/// Most words of a header's line that are examined.
const HEADER_WORDS_MAX: usize = 64;

#[derive(Clone, Copy)]
enum Edge {
    Begin,
    End,
}

fn snapshot(context: &mut Context, sources: &Sources<'_, '_>, row: &AwrTableRow<'_>, edge: Edge) {
    let table = sources.table;
    let name = |begin: &'static str, end: &'static str| match edge {
        Edge::Begin => begin,
        Edge::End => end,
    };
    let column = |caption: &str| table.column(caption);
    context.keep(name("begin_snap", "end_snap"), sources, row, column("snapid"), Suffix::Decimal);
    let time = name("begin_time", "end_time");
    context.word(time, sources, row, column("snaptime"));
    if let Some(text) = context.report.word(time)
        && parse_timestamp(text).is_none()
    {
        let message = format!("{text:?} is not a known date format; the report has no time");
        context.issue(AwrIssueSeverity::Warning, "Snapshots", row.line, message);
    }
    let sessions = column("sessions");
    context.keep(name("begin_sessions", "end_sessions"), sources, row, sessions, Suffix::Decimal);
    let cursors = table.find(|caption| caption.starts_with("curs"));
    let cursors_name = name("begin_cursors_per_session", "end_cursors_per_session");
    context.keep(cursors_name, sources, row, cursors, Suffix::Decimal);
    context.keep(
        name("begin_instances", "end_instances"),
        sources,
        row,
        column("instances"),
        Suffix::Decimal,
    );
}

fn minutes(context: &mut Context, sources: &Sources<'_, '_>, row: &AwrTableRow<'_>) {
    for (label, values) in row.pairs() {
        let name = match squash(&label).as_str() {
            "elapsed" => "elapsed_min",
            "dbtime" => "db_time_min",
            "dbcpu" => "db_cpu_min",
            _ => continue,
        };
        let Some(value) = values.iter().find(|value| !is_absent(value)) else { continue };
        let text = value.split('(').next().unwrap_or_default();
        let source = sources.labelled(row, &label, "");
        context.keep_labelled(name, text, Suffix::Decimal, source);
    }
}

/// The reader of the line that STATSPACK prints in Oracle 10g:
/// `Host Name: db1  Num CPUs: 8  Phys Memory (MB): 8,000`.
pub(crate) fn host_line_reader(table: &AwrTable<'_>) -> Option<fn(&mut Context, &AwrTable<'_>)> {
    (table.columns.is_empty() && parts_of_host_line(table).is_some()).then_some(host_line)
}

fn parts_of_host_line<'a>(table: &AwrTable<'a>) -> Option<(&'a str, &'a str)> {
    table.rows.first()?.raw?.split_once("Num CPUs:")
}

fn host_line(context: &mut Context, table: &AwrTable<'_>) {
    let sources = Sources::new(table);
    let (Some(row), Some((before, after))) = (table.rows.first(), parts_of_host_line(table)) else { return };
    let source = |label: &str| sources.labelled(row, label, "");
    if let Some((_, host)) = before.split_once("Name:") {
        put_word(context, "host", host.trim(), source("Host Name"));
    }
    let word = |text: &'_ str| text.split_whitespace().next().unwrap_or("").to_owned();
    let cpus = word(after);
    // Where the count is blank, the next label follows.
    if !cpus.starts_with("Phys") {
        context.keep_labelled("cpus", &cpus, Suffix::Decimal, source("Num CPUs"));
    }
    if let Some((_, memory)) = after.split_once("(MB):") {
        context.keep_labelled("memory_mb", &word(memory), Suffix::Decimal, source("Phys Memory (MB)"));
    }
}

/// Database and instance from the titles of sections, where the header cannot be read.
pub(crate) fn owner(context: &mut Context, document: &Document<'_>) {
    // A cluster's report names the instance that made it, but covers all.
    let Some((database, instance)) =
        document.owner.filter(|_| context.report.kind != AwrReportKind::AwrRacGlobal)
    else {
        return;
    };
    let source = AwrSource { section: "".into(), caption: "DB/Inst".into(), line: 1 };
    // STATSPACK omits the name in its header, and so do its records.
    if context.report.kind != AwrReportKind::Statspack {
        put_word(context, "db_name", database, source.clone());
    }
    put_word(context, "instance", instance, source);
}

fn put_word(context: &mut Context, name: &'static str, text: &str, source: AwrSource) {
    if !is_absent(text) && !context.report.words.contains_key(name) {
        context.report.words.insert(name, AwrText { text: text.to_owned(), source });
    }
}

/// The kind of report with this title.
pub(crate) fn kind(title: &str) -> Option<AwrReportKind> {
    let title = squash(title);
    if title.starts_with("statspackreport") {
        Some(AwrReportKind::Statspack)
    } else if title.starts_with("workloadrepositorypdbreport") {
        Some(AwrReportKind::AwrPdb)
    } else if title.starts_with("workloadrepositoryreportrac") {
        Some(AwrReportKind::AwrRacGlobal)
    } else if title.starts_with("workloadrepositoryreport") {
        Some(AwrReportKind::Awr)
    } else {
        None
    }
}
