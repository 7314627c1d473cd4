//! One line for each report and instance: as a table, CSV, JSON, Markdown.

use std::io::Write as _;

use dyno_awr::compat::Layout;
use dyno_awr::row::{COLUMNS, GROUPS, WIDE, column_names, is_column, lines, section_lists};
use dyno_awr::{Line, Show, Value, format, moment};
use dyno_record::RepositoryError;
use dyno_report::number::ABSENT;
use dyno_report::table::{Cell, Column, Table};

use super::{files, import};
use crate::cli::Common;
use crate::cli::{Compat, Format, Read};
use crate::context;
use crate::exit::{Exit, usage};
use crate::output::Output;
use crate::talk::Talk;

pub(super) fn run(common: &Common, args: &Read, talk: &Talk) -> anyhow::Result<Exit> {
    if args.columns.iter().any(|column| column == "list") {
        return names(talk);
    }
    let columns = columns(args)?;
    let files = files::wanted(&args.files)?;
    if args.import {
        return store(common, &files, &import::Marked { marks: &args.marks, ramp: args.ramp }, talk);
    }
    if let Some(layout) = args.compat {
        return compat(&files, layout, talk);
    }
    let format = if common.json { Format::Json } else { args.format };
    match format {
        Format::Json => json(&files, args, talk),
        Format::Table => table(&files, &columns, talk),
        Format::Csv => {
            let head: Vec<Value> = columns.iter().map(|name| Value::Text(name.clone())).collect();
            let head = format::csv(&head);
            written(&files, &columns, (&head, format::csv, Output::text()), talk)
        }
        Format::Md => {
            let head = format::markdown_head(&columns);
            written(&files, &columns, (&head, format::markdown, Output::shown()), talk)
        }
    }
}

fn columns(args: &Read) -> anyhow::Result<Vec<String>> {
    if let Some(unknown) = args.columns.iter().find(|column| !is_column(column)) {
        return Err(usage(
            format!("{unknown:?} is no column"),
            "`dyno awr --columns list .` shows all names",
        ));
    }
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Ok(match (args.columns.is_empty(), args.wide) {
        (false, _) => args.columns.clone(),
        (true, true) => owned(&WIDE),
        (true, false) => owned(&COLUMNS),
    })
}

fn names(talk: &Talk) -> anyhow::Result<Exit> {
    let mut text = String::new();
    column_names().for_each(|name| text.extend([name, "\n"]));
    GROUPS.iter().for_each(|group| text.extend([group, ".NAME\n"]));
    section_lists().for_each(|list| text.extend([list, ".FIGURE.NAME\n"]));
    talk.show(&text)?;
    Ok(Exit::Done)
}

/// The values of a report's lines.
fn values(report: &dyno_awr::AwrReport, columns: &[String]) -> Vec<Vec<Value>> {
    lines(report).map(|line: Line<'_>| columns.iter().map(|column| line.value(column)).collect()).collect()
}

/// Reports as records in the repository; what is there already stays as it is.
pub(super) fn store(
    common: &Common,
    files: &[files::Wanted],
    marked: &import::Marked<'_>,
    talk: &Talk,
) -> anyhow::Result<Exit> {
    let repository = context::repository(common)?;
    let mut stored = Vec::new();
    let mut known = 0;
    let mut undated = false;
    let of_report = |report: dyno_awr::AwrReport| match import::is_dated(&report) {
        true => import::record(&report, marked).map(Ok),
        false => Ok(Err(report.file)),
    };
    let mut outcome = files::read(files, talk, of_report, |record| {
        let record = match record? {
            Ok(record) => record,
            Err(file) => {
                undated = true;
                talk.error(
                    &format!("{file}: it does not say when its interval begins, so it is not stored"),
                    "import the whole report, with the table of its snapshots",
                );
                return Ok(());
            }
        };
        // The same report may come again, under another file's name or with other marks: the first stays.
        if repository.load(&record.id).is_ok() {
            known += 1;
            return Ok(());
        }
        match repository.finish(&record) {
            Ok(()) => stored.push(record),
            Err(RepositoryError::Exists { .. }) => known += 1,
            Err(error) => return Err(error.into()),
        }
        Ok(())
    })?;
    if undated {
        outcome.fail();
    }
    talk.json(&stored)?;
    let note = if known > 0 { format!("; {known} were stored before") } else { String::new() };
    let records = if stored.len() == 1 { "1 record".into() } else { format!("{} records", stored.len()) };
    talk.say(&format!("{records} stored{note}; nothing is audited, as nobody here measured it"));
    Ok(outcome.exit())
}

/// Lines in the layout of an older reader.
fn compat(files: &[files::Wanted], layout: Compat, talk: &Talk) -> anyhow::Result<Exit> {
    let (layout, write): (Layout, fn(&[Value]) -> String) = match layout {
        Compat::AwrParser => (Layout::AwrParser, format::csv),
        Compat::AwrInfo => (Layout::AwrInfo, format::bars),
    };
    let head: Vec<Value> = layout.names().into_iter().map(Value::Text).collect();
    let mut out = Output::text();
    out.write_all(write(&head).as_bytes())?;
    let of_report = |report: dyno_awr::AwrReport| layout.values(&report);
    let outcome = files::read(files, talk, of_report, |row| Ok(out.write_all(write(&row).as_bytes())?))?;
    out.flush()?;
    Ok(outcome.exit())
}

/// How one line is written.
type Written = fn(&[Value]) -> String;

/// Lines as they come, each written by the second of `form` behind its head.
fn written(
    files: &[files::Wanted],
    columns: &[String],
    form: (&str, Written, Output),
    talk: &Talk,
) -> anyhow::Result<Exit> {
    let (head, write, mut out) = form;
    out.write_all(head.as_bytes())?;
    let of_report = |report: dyno_awr::AwrReport| values(&report, columns);
    let outcome = files::read(files, talk, of_report, |rows| {
        for row in rows {
            out.write_all(write(&row).as_bytes())?;
        }
        Ok(())
    })?;
    out.flush()?;
    Ok(outcome.exit())
}

/// An array with an object for each report.
fn json(files: &[files::Wanted], args: &Read, talk: &Talk) -> anyhow::Result<Exit> {
    let show = Show { sql_text: args.show.sql_text, object_names: args.show.object_names };
    let mut out = Output::json();
    let mut separator = "[\n";
    let spelled =
        |report: dyno_awr::AwrReport| serde_json::to_string_pretty(&dyno_awr::to_json(&report, show));
    let outcome = files::read(files, talk, spelled, |text| {
        write!(out, "{separator}{}", text?)?;
        separator = ",\n";
        Ok(())
    })?;
    let end = if separator == "[\n" { "[]\n" } else { "\n]\n" };
    out.write_all(end.as_bytes())?;
    out.flush()?;
    Ok(outcome.exit())
}

fn table(files: &[files::Wanted], columns: &[String], talk: &Talk) -> anyhow::Result<Exit> {
    let mut table = Table::new(columns.iter().map(|name| head(name)).collect());
    let mut rows = 0;
    let of_report = |report: dyno_awr::AwrReport| values(&report, columns);
    let outcome = files::read(files, talk, of_report, |lines| {
        for line in lines {
            rows += 1;
            table.row(columns.iter().zip(&line).map(|(name, value)| match value {
                Value::Text(all) if name == "instance" && all == "*" => whole(columns, &line),
                value => cell(name, value),
            }));
        }
        Ok(())
    })?;
    if rows > 0 {
        talk.show(&table.render(&talk.style()))?;
    }
    Ok(outcome.exit())
}

/// Columns that hold text. Times hold one too, but a time that is cut is no time.
const TEXT: [&str; 15] = [
    "file",
    "form",
    "report_type",
    "db_name",
    "unique_name",
    "role",
    "edition",
    "instance",
    "version",
    "rac",
    "cdb",
    "host",
    "platform",
    "top_event",
    "part",
];

/// What a column is called over the table.
fn head(name: &str) -> Column {
    let (head, unit, group) = match name {
        "db_name" => ("DB", "", ""),
        "begin_time" => ("begin", "", ""),
        "end_time" => ("end", "", ""),
        "begin_snap" => ("begin", "", "snapshots"),
        "end_snap" => ("end", "", "snapshots"),
        "elapsed_min" => ("elapsed", "min", ""),
        "db_time_min" => ("DB time", "min", ""),
        "db_time_per_s" => ("DB time", "s/s", ""),
        "aas" => ("AAS", "", ""),
        "cpu_busy_pct" => ("CPU", "%", ""),
        "lio_per_s" => ("LIO", "/s", ""),
        "read_iops" => ("read", "/s", "IOPS"),
        "write_iops" => ("write", "/s", "IOPS"),
        "redo_iops" => ("redo", "/s", "IOPS"),
        "read_mib_per_s" => ("read", "MiB/s", "transfer"),
        "write_mib_per_s" => ("write", "MiB/s", "transfer"),
        "redo_mib_per_s" => ("redo", "MiB/s", "transfer"),
        "read_ms" => ("read", "ms", "mean"),
        "log_file_sync_ms" => ("log sync", "ms", "mean"),
        "txn_per_s" => ("commits", "/s", ""),
        "executes_per_s" => ("executes", "/s", ""),
        "top_event" => ("top event", "", ""),
        "top_event_pct" => ("top event", "% DB time", ""),
        name => (name, "", ""),
    };
    let column = if TEXT.contains(&name) { Column::text(head) } else { Column::figures(head, unit) };
    let column = if group.is_empty() { column } else { column.under(group) };
    column.spare(match name {
        "file" | "sessions" | "db_time_per_s" | "write_mib_per_s" | "read_mib_per_s" => 3,
        // A cluster's line names the database beside its star.
        "db_name" => 2,
        "log_file_sync_ms" | "write_iops" => 1,
        _ => 0,
    })
}

/// All instances of a cluster: its star, after the database's name where that is known.
fn whole(columns: &[String], line: &[Value]) -> Cell {
    let database = columns.iter().zip(line).find_map(|(name, value)| match value {
        Value::Text(database) if name == "db_name" => Some(database),
        _ => None,
    });
    database.map_or_else(|| "*".into(), |database| format!("{database} *").into())
}

fn cell(name: &str, value: &Value) -> Cell {
    match value {
        Value::Text(text) if name.ends_with("_time") => match moment(text) {
            Some(at) => at.strftime("%Y-%m-%d %H:%M").to_string().into(),
            None => text.as_str().into(),
        },
        Value::Text(text) => text.as_str().into(),
        Value::Number(reading) => reading.shown().into(),
        Value::Absent => ABSENT.into(),
    }
}
