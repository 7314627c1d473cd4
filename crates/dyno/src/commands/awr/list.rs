//! Lists one line for each report and instance: as a table, CSV, JSON or Markdown.

use std::io::Write as _;

use dyno_awr::compat::AwrCompatLayout;
use dyno_awr::row::{COLUMNS, GROUPS, WIDE, column_names, is_column, lines, section_lists};
use dyno_awr::{AwrJsonOptions, AwrOutputRow, AwrValue, format, parse_timestamp};
use dyno_record::RepositoryError;
use dyno_report::model::{Grid, GridCell, GridHead};
use dyno_report::number::ABSENT;

use super::{files, import};
use crate::cli::CommonArgs;
use crate::cli::{AwrReadArgs, Compat, Format};
use crate::console::Console;
use crate::context;
use crate::exit::{Exit, usage};
use crate::output::StdoutWriter;

pub(super) fn run(common: &CommonArgs, args: &AwrReadArgs, talk: &Console) -> anyhow::Result<Exit> {
    if args.columns.iter().any(|column| column == "list") {
        return names(talk);
    }
    let columns = columns(args)?;
    let files = files::input_files(&args.files)?;
    if args.import {
        return store(common, &files, &import::AwrImportMarks { marks: &args.marks, ramp: args.ramp }, talk);
    }
    if let Some(layout) = args.compat {
        return compat(&files, layout, talk);
    }
    let format = if common.json { Format::Json } else { args.format };
    match format {
        Format::Json => json(&files, args, talk),
        Format::Table => table(&files, &columns, talk),
        Format::Csv => {
            let head: Vec<AwrValue> = columns.iter().map(|name| AwrValue::Text(name.clone())).collect();
            let head = format::csv(&head);
            write_lines(&files, &columns, (&head, format::csv, StdoutWriter::text()), talk)
        }
        Format::Md => {
            let head = format::markdown_head(&columns);
            write_lines(&files, &columns, (&head, format::markdown, StdoutWriter::shown()), talk)
        }
    }
}

fn columns(args: &AwrReadArgs) -> anyhow::Result<Vec<String>> {
    if let Some(unknown) = args.columns.iter().find(|column| !is_column(column)) {
        return Err(usage(
            format!("unknown column {unknown:?}"),
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

fn names(talk: &Console) -> anyhow::Result<Exit> {
    let mut text = String::new();
    column_names().for_each(|name| text.extend([name, "\n"]));
    GROUPS.iter().for_each(|group| text.extend([group, ".NAME\n"]));
    section_lists().for_each(|list| text.extend([list, ".FIGURE.NAME\n"]));
    talk.show(&text)?;
    Ok(Exit::Done)
}

/// Values of a report's lines.
fn values(report: &dyno_awr::AwrReport, columns: &[String]) -> Vec<Vec<AwrValue>> {
    lines(report)
        .map(|line: AwrOutputRow<'_>| columns.iter().map(|column| line.value(column)).collect())
        .collect()
}

/// Stores reports as records in the repository; existing records stay unchanged.
pub(super) fn store(
    common: &CommonArgs,
    files: &[files::AwrInputFile],
    marked: &import::AwrImportMarks<'_>,
    talk: &Console,
) -> anyhow::Result<Exit> {
    let repository = context::repository(common)?;
    let mut stored = Vec::new();
    let mut duplicate_count = 0;
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
                    &format!("{file}: not stored, because it does not state when its interval begins"),
                    "import the whole report, with the table of its snapshots",
                );
                return Ok(());
            }
        };
        // If a report comes again with another file name or other marks, the first record stays.
        if repository.load(&record.id).is_ok() {
            duplicate_count += 1;
            return Ok(());
        }
        match repository.finish(&record) {
            Ok(()) => stored.push(record),
            Err(RepositoryError::Exists { .. }) => duplicate_count += 1,
            Err(error) => return Err(error.into()),
        }
        Ok(())
    })?;
    if undated {
        outcome.fail();
    }
    talk.json(&stored)?;
    let note =
        if duplicate_count > 0 { format!("; {duplicate_count} were stored before") } else { String::new() };
    let records = if stored.len() == 1 { "1 record".into() } else { format!("{} records", stored.len()) };
    talk.say(&format!("{records} stored{note}; not audited, because Dyno did not measure them"));
    Ok(outcome.exit())
}

/// Writes lines in the layout of another AWR parser.
fn compat(files: &[files::AwrInputFile], layout: Compat, talk: &Console) -> anyhow::Result<Exit> {
    let (layout, write): (AwrCompatLayout, fn(&[AwrValue]) -> String) = match layout {
        Compat::AwrParser => (AwrCompatLayout::AwrParser, format::csv),
        Compat::AwrInfo => (AwrCompatLayout::AwrInfo, format::bars),
    };
    let head: Vec<AwrValue> = layout.names().into_iter().map(AwrValue::Text).collect();
    let mut out = StdoutWriter::text();
    out.write_all(write(&head).as_bytes())?;
    let of_report = |report: dyno_awr::AwrReport| layout.values(&report);
    let outcome = files::read(files, talk, of_report, |row| Ok(out.write_all(write(&row).as_bytes())?))?;
    out.flush()?;
    Ok(outcome.exit())
}

type LineWriter = fn(&[AwrValue]) -> String;

/// Writes lines as they are read, formatted by the second element of `form` after its head.
fn write_lines(
    files: &[files::AwrInputFile],
    columns: &[String],
    form: (&str, LineWriter, StdoutWriter),
    talk: &Console,
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

/// Writes an array with an object for each report.
fn json(files: &[files::AwrInputFile], args: &AwrReadArgs, talk: &Console) -> anyhow::Result<Exit> {
    let show = AwrJsonOptions { sql_text: args.show.sql_text, object_names: args.show.object_names };
    let mut out = StdoutWriter::json();
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

fn table(files: &[files::AwrInputFile], columns: &[String], talk: &Console) -> anyhow::Result<Exit> {
    let mut table = Grid::new(columns.iter().map(|name| head(name)).collect());
    let mut rows = 0;
    let of_report = |report: dyno_awr::AwrReport| values(&report, columns);
    let outcome = files::read(files, talk, of_report, |lines| {
        for line in lines {
            rows += 1;
            table.row(columns.iter().zip(&line).map(|(name, value)| match value {
                AwrValue::Text(all) if name == "instance" && all == "*" => cluster_cell(columns, &line),
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

/// Columns that contain text. Times do too, but must not be truncated.
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

/// Column head in the table.
fn head(name: &str) -> GridHead {
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
    let column = if TEXT.contains(&name) { GridHead::text(head) } else { GridHead::figures(head, unit) };
    let column = if group.is_empty() { column } else { column.grouped_under(group) };
    column.spare(match name {
        "file" | "sessions" | "db_time_per_s" | "write_mib_per_s" | "read_mib_per_s" => 3,
        // A cluster's line shows the database's name with its star.
        "db_name" => 2,
        "log_file_sync_ms" | "write_iops" => 1,
        _ => 0,
    })
}

/// Marks all instances of a cluster with a star, after the database's name if it is known.
fn cluster_cell(columns: &[String], line: &[AwrValue]) -> GridCell {
    let database = columns.iter().zip(line).find_map(|(name, value)| match value {
        AwrValue::Text(database) if name == "db_name" => Some(database),
        _ => None,
    });
    database.map_or_else(|| "*".into(), |database| format!("{database} *").into())
}

fn cell(name: &str, value: &AwrValue) -> GridCell {
    match value {
        AwrValue::Text(text) if name.ends_with("_time") => match parse_timestamp(text) {
            Some(at) => at.strftime("%Y-%m-%d %H:%M").to_string().into(),
            None => text.as_str().into(),
        },
        AwrValue::Text(text) => text.as_str().into(),
        AwrValue::Number(reading) => reading.shown().into(),
        AwrValue::Absent => ABSENT.into(),
    }
}
