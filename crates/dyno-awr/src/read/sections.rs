//! Selects the reader of a table: by its title, or, without a known title, by the HTML summary.

use super::context::Context;
use super::{
    activity, cpu, details, events, global, histogram, identity, io, known_sections, load, parameters,
    segments, statements,
};
use crate::issue::AwrIssueSeverity;
use crate::number::Suffix;
use crate::report::AwrReportKind;
use crate::table::{AwrTable, squash};

/// The `summary` of tables whose title was lost, and the title that they had.
const SUMMARIES: [(&str, &str); 12] = [
    ("load profile", "loadprofile"),
    ("instance efficiency", "instanceefficiency"),
    ("top 10 wait events", "top10foregroundevents"),
    ("top 5 wait events", "top5timedforegroundevents"),
    ("wait class statistics ordered by total wait time", "waitclassesbytotalwaittime"),
    ("system load statistics", "hostcpu"),
    ("CPU usage and wait", "instancecpu"),
    ("displays IO profile", "ioprofile"),
    ("displays memory statistics", "memorystatistics"),
    ("cache sizes", "cachesizes"),
    ("time model statistics", "timemodelstatistics"),
    ("Foreground Wait Events", "foregroundwaitevents"),
];

/// Extracts the figures from a table.
type Reader = fn(&mut Context, &AwrTable<'_>);

/// Reads a table, if its section has a reader.
pub(crate) fn read(context: &mut Context, table: &AwrTable<'_>) {
    let title = squash(&table.title);
    misfits(context, table, &title);
    let kind_reader = match context.report.kind {
        AwrReportKind::AwrRacGlobal => of_cluster(table, &title),
        AwrReportKind::Statspack => of_instance(&title).or_else(|| identity::host_line_reader(table)),
        AwrReportKind::Awr | AwrReportKind::AwrPdb => of_instance(&title),
    };
    match kind_reader.or_else(|| of_any(table, &title)) {
        Some(read) => read(context, table),
        None if table.exadata || known_sections::is_known(&table.title) => {}
        None => {
            let message = "this section is unknown".to_owned();
            context.issue(AwrIssueSeverity::Warning, &table.title, table.line, message);
        }
    }
}

/// Whether any kind of report has a reader for the table's section.
pub(crate) fn is_read(table: &AwrTable<'_>) -> bool {
    let title = squash(&table.title);
    of_instance(&title).or_else(|| of_cluster(table, &title)).or_else(|| of_any(table, &title)).is_some()
}

/// The reader of tables that all kinds of reports share: lists, the header, and those known only by
/// their summary.
fn of_any(table: &AwrTable<'_>, title: &str) -> Option<Reader> {
    let by_summary = || SUMMARIES.iter().find(|(words, _)| table.summary.contains(words));
    lists(title)
        .or_else(|| details::reader(title))
        .or_else(|| identity::reader(table))
        .or_else(|| by_summary().and_then(|(_, title)| of_instance(title)))
}

/// Sections whose lines are read by their column positions only.
const BY_COLUMN: [&str; 15] = [
    "top5timed",
    "top10foreground",
    "waitclasses",
    "foregroundwait",
    "backgroundwait",
    "waitevent",
    "hostcpu",
    "ioprofile",
    "timemodel",
    "operatingsystemstatistics",
    "osstatistics",
    "instanceactivity",
    "keyinstanceactivity",
    "iostatbyfunctionsummary",
    "iostatbyfiletypesummary",
];

/// Reports lines of text that do not match their captions as an issue; they are not read.
fn misfits(context: &mut Context, table: &AwrTable<'_>, title: &str) {
    if table.columns.is_empty() || !BY_COLUMN.iter().any(|start| title.starts_with(start)) {
        return;
    }
    for row in table.rows.iter().filter(|row| row.cells.is_empty()) {
        let Some(raw) = row.raw.filter(|raw| raw.bytes().any(|b| b.is_ascii_digit())) else { continue };
        let message = format!("a line does not match the column captions and was skipped: {:?}", raw.trim());
        context.issue(AwrIssueSeverity::Warning, &table.title, row.line, message);
    }
}

/// Lists that instance and cluster reports share.
fn lists(title: &str) -> Option<Reader> {
    let is_any = |starts: &[&str]| starts.iter().any(|start| title.starts_with(start));
    Some(if is_any(&["sqlorderedby"]) {
        statements::read
    } else if is_any(&["completelistofsqltext"]) {
        statements::texts
    } else if title == "topsqlwithtopevents" {
        |context, table| {
            statements::plans(context, table);
            details::read(context, table);
        }
    } else if is_any(&["topsqlwithtop"]) {
        statements::plans
    } else if is_any(&["segmentsby"]) {
        segments::read
    } else if is_any(&["waiteventhistogram"]) {
        histogram::read
    } else if is_any(&[
        "initora",
        "modifiedparameters",
        "modifiedmulti",
        "parametersmodifiedby",
        "multivaluedparameters",
    ]) {
        parameters::read
    } else {
        return None;
    })
}

/// Sections of an instance's report.
fn of_instance(title: &str) -> Option<Reader> {
    let is_any = |starts: &[&str]| starts.iter().any(|start| title.starts_with(start));
    let reader: Reader = if is_top_events(title) {
        events::top
    } else if is_any(&["loadprofile"]) {
        load::load_profile
    } else if is_any(&["instanceefficiency"]) {
        load::efficiency
    } else if is_any(&["cachesizes"]) {
        |context, table| load::begin_end(context, table, "cache_bytes", Suffix::Binary)
    } else if is_any(&["sharedpoolstatistics"]) {
        |context, table| load::begin_end(context, table, "shared_pool_pct", Suffix::Decimal)
    } else if title == "memorystatistics" {
        |context, table| load::begin_end(context, table, "memory", Suffix::Decimal)
    } else if is_any(&["hostcpu"]) {
        cpu::host
    } else if is_any(&["instancecpu"]) {
        cpu::instance
    } else if is_any(&["ioprofile"]) {
        load::io_profile
    } else if is_any(&["timemodelstatistics", "timemodelsystemstats"]) {
        activity::time_model
    } else if matches!(title, "operatingsystemstatistics" | "osstatistics") {
        activity::os_statistics
    } else if is_any(&["keyinstanceactivitystats", "otherinstanceactivitystats", "instanceactivitystats"]) {
        activity::instance_activity
    } else if is_any(&["waitclassesbytotalwaittime"]) {
        events::wait_classes
    } else if is_any(&["foregroundwaitclass"]) || title == "waitclass" {
        events::foreground_wait_classes
    } else if title == "foregroundwaitevents" {
        events::foreground
    } else if title == "backgroundwaitevents" {
        events::background
    } else if matches!(title, "waitevents" | "waiteventsfgandbg") {
        events::all
    } else if is_any(&["iostatbyfunctionsummary"]) {
        io::functions
    } else if is_any(&["iostatbyfiletypesummary"]) {
        io::filetypes
    } else if is_any(&["iostatbyfunction/filetypesummary"]) {
        io::functions_by_filetype
    } else if title == "tablespaceiostats" {
        io::tablespaces
    } else if title == "fileiostats" {
        io::files
    } else if is_any(&["globalcacheloadprofile"]) {
        |context, table| load::labelled(context, table, "rac_load_per_s")
    } else if is_any(&["globalcacheefficiency"]) {
        |context, table| load::labelled(context, table, "rac_efficiency_pct")
    } else if is_any(&["globalcacheandenqueueservices"]) {
        |context, table| load::labelled(context, table, "rac_services")
    } else {
        return None;
    };
    Some(reader)
}

/// `Top 5 Timed Foreground Events`, `Top 10 Foreground Events by Total Wait Time`; not `Top Events` of the ASH part.
fn is_top_events(title: &str) -> bool {
    let Some(rest) = title.strip_prefix("top") else { return false };
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.starts_with("timedevents")
        || rest.starts_with("timedforegroundevents")
        || rest.starts_with("foregroundevents")
}

/// Sections of a cluster's report.
fn of_cluster(table: &AwrTable<'_>, title: &str) -> Option<Reader> {
    // The two tables of the head are adjacent, and only one of them is underlined in text.
    if table.column("i#").is_some() && table.column("startup").is_some() {
        return Some(global::instances);
    }
    Some(match title {
        "databasesummary" => global::summary,
        "systemstatisticspersecond" => global::load_profile,
        "timemodel" => global::time_model,
        "osstatisticsbyinstance" => global::os_statistics,
        "systemstatisticsglobal" => activity::instance_activity,
        "ioprofileglobal" => global::io_profile,
        "iostatbyfunction" => io::functions_of_cluster,
        "iostatbyfiletype" => io::filetypes_of_cluster,
        "toptimedforegroundevents" => global::top_events,
        "foregroundwaiteventsglobal" => events::foreground,
        "backgroundwaiteventsglobal" => events::background,
        "segmentstatisticsglobal" => segments::of_cluster,
        _ => return None,
    })
}
