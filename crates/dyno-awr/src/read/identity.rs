//! Who the report is about: database, instance, host, snapshots. These tables have captions and no titles of their own.

use super::context::{Context, Place};
use crate::issue::Level;
use crate::moment::moment;
use crate::number::{Suffix, is_absent};
use crate::report::{Container, Kind, Source, Word};
use crate::table::{Row, Table, squash};

/// Reads the table if it is one of the header's, by its captions.
pub(crate) fn read(context: &mut Context, table: &Table<'_>) -> bool {
    let place = Place::new(table);
    let has = |caption: &str| table.column(caption).is_some();
    if has("snapid") && has("snaptime") {
        snapshots(context, &place);
    } else if has("containerdbid") || has("containername") {
        containers(context, &place);
    } else if has("platform") && table.find(|caption| caption.starts_with("cpus")).is_some() {
        host(context, &place);
    } else if has("dbid") && table.find(|caption| caption == "release" || caption == "instance").is_some() {
        database(context, &place);
    } else if has("instance") && has("startuptime") && table.columns.len() <= 6 {
        instance(context, &place);
    } else {
        return false;
    }
    true
}

fn database(context: &mut Context, place: &Place<'_, '_>) {
    let table = place.table;
    let Some(row) = table.rows.first() else { return };
    // STATSPACK heads the column `Database` and leaves it empty.
    let name = table.find(|caption| matches!(caption, "dbname" | "database"));
    context.word("db_name", place, row, name);
    context.keep("dbid", place, row, table.column("dbid"), Suffix::Decimal);
    context.word("unique_name", place, row, table.column("uniquename"));
    context.word("role", place, row, table.find(|caption| matches!(caption, "role" | "dbrole")));
    context.word("edition", place, row, table.column("edition"));
    context.word("version", place, row, table.column("release"));
    context.word("rac", place, row, table.find(|caption| matches!(caption, "rac" | "cluster")));
    context.word("cdb", place, row, table.column("cdb"));
    // STATSPACK 9i and AWR 10g name the host here and nowhere else.
    context.word("host", place, row, table.column("host"));
    instance(context, place);
}

fn instance(context: &mut Context, place: &Place<'_, '_>) {
    let Some(row) = place.table.rows.first() else { return };
    context.word("instance", place, row, place.table.column("instance"));
    context.keep("inst_num", place, row, place.table.column("instnum"), Suffix::Decimal);
    context.word("startup_time", place, row, place.table.column("startuptime"));
}

fn host(context: &mut Context, place: &Place<'_, '_>) {
    let table = place.table;
    let Some(row) = table.rows.first() else { return };
    context.word("host", place, row, table.find(|caption| matches!(caption, "hostname" | "name")));
    context.word("platform", place, row, table.column("platform"));
    context.keep("cpus", place, row, table.find(|caption| caption.starts_with("cpus")), Suffix::Decimal);
    context.keep("cores", place, row, table.column("cores"), Suffix::Decimal);
    context.keep("sockets", place, row, table.column("sockets"), Suffix::Decimal);
    context.keep(
        "memory_gb",
        place,
        row,
        table.find(|caption| caption.starts_with("memory")),
        Suffix::Decimal,
    );
}

fn containers(context: &mut Context, place: &Place<'_, '_>) {
    let column = |caption| place.table.column(caption);
    let (dbid, name, opened) = (column("containerdbid"), column("containername"), column("opentime"));
    let cell = |row: &Row<'_>, column: Option<usize>| column.map_or("", |at| row.cell(at)).to_owned();
    for row in &place.table.rows {
        let container = Container { dbid: cell(row, dbid), name: cell(row, name), opened: cell(row, opened) };
        // Reports over many snapshots list a container once for each time it was opened.
        if !context.report.containers.contains(&container) {
            context.report.containers.push(container);
        }
    }
}

/// The two snapshots, and what is printed under them: elapsed and DB time in minutes.
fn snapshots(context: &mut Context, place: &Place<'_, '_>) {
    let table = place.table;
    for row in &table.rows {
        let label = squash(row.cell(0));
        match label.as_str() {
            "beginsnap" => snapshot(context, place, row, Edge::Begin),
            "endsnap" => snapshot(context, place, row, Edge::End),
            _ => minutes(context, place, row),
        }
    }
}

#[derive(Clone, Copy)]
enum Edge {
    Begin,
    End,
}

fn snapshot(context: &mut Context, place: &Place<'_, '_>, row: &Row<'_>, edge: Edge) {
    let table = place.table;
    let name = |begin: &'static str, end: &'static str| match edge {
        Edge::Begin => begin,
        Edge::End => end,
    };
    let column = |caption: &str| table.column(caption);
    context.keep(name("begin_snap", "end_snap"), place, row, column("snapid"), Suffix::Decimal);
    let time = name("begin_time", "end_time");
    context.word(time, place, row, column("snaptime"));
    if let Some(text) = context.report.word(time)
        && moment(text).is_none()
    {
        let message = format!("{text:?} is no date that is known; the report stays without a place in time");
        context.issue(Level::Warning, "Snapshots", row.line, message);
    }
    let sessions = column("sessions");
    context.keep(name("begin_sessions", "end_sessions"), place, row, sessions, Suffix::Decimal);
    let cursors = table.find(|caption| caption.starts_with("curs"));
    let cursors_name = name("begin_cursors_per_session", "end_cursors_per_session");
    context.keep(cursors_name, place, row, cursors, Suffix::Decimal);
    context.keep(name("begin_instances", "end_instances"), place, row, column("instances"), Suffix::Decimal);
}

fn minutes(context: &mut Context, place: &Place<'_, '_>, row: &Row<'_>) {
    for (label, values) in row.pairs() {
        let name = match squash(&label).as_str() {
            "elapsed" => "elapsed_min",
            "dbtime" => "db_time_min",
            "dbcpu" => "db_cpu_min",
            _ => continue,
        };
        let Some(value) = values.iter().find(|value| !is_absent(value)) else { continue };
        let text = value.split('(').next().unwrap_or_default();
        let source = place.labelled(row, &label, "");
        context.keep_labelled(name, text, Suffix::Decimal, source);
    }
}

/// What a STATSPACK of Oracle 10g prints as one line: `Host Name: db1  Num CPUs: 8  Phys Memory (MB): 8,000`.
pub(crate) fn host_line(context: &mut Context, table: &Table<'_>) {
    let place = Place::new(table);
    for row in &table.rows {
        let pairs = row.pairs();
        if !pairs.iter().any(|(label, _)| squash(label) == "numcpus") {
            continue;
        }
        for (label, values) in pairs {
            let Some(value) = values.first() else { continue };
            let source = place.labelled(row, &label, "");
            match squash(&label).as_str() {
                "hostname" | "host" => put_word(context, "host", value, source),
                "numcpus" => context.keep_labelled("cpus", value, Suffix::Decimal, source),
                _ => {}
            }
        }
    }
}

fn put_word(context: &mut Context, name: &'static str, text: &str, source: Source) {
    if !is_absent(text) && !context.report.words.contains_key(name) {
        context.report.words.insert(name, Word { text: text.to_owned(), source });
    }
}

/// What kind of report a title announces.
pub(crate) fn kind(title: &str) -> Option<Kind> {
    let title = squash(title);
    if title.starts_with("statspackreport") {
        Some(Kind::Statspack)
    } else if !title.starts_with("workloadrepository") || title.contains("compare") {
        None
    } else if title.contains("pdbreport") {
        Some(Kind::AwrPdb)
    } else if title.starts_with("workloadrepositoryreportrac") {
        Some(Kind::AwrRacGlobal)
    } else {
        Some(Kind::Awr)
    }
}
