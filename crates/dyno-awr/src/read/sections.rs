//! Which reader a table goes to: by its title, and where it has none that is known, by HTML's summary.

use super::context::Context;
use super::{
    activity, cpu, events, global, histogram, identity, io, known, load, parameters, segments, statements,
};
use crate::issue::Level;
use crate::number::Suffix;
use crate::report::Kind;
use crate::table::{Table, squash};

/// What `summary` says of tables whose title was lost, and the title that they had.
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

/// Reads a table, if it is of a section that is read.
pub(crate) fn read(context: &mut Context, table: &Table<'_>) {
    let title = squash(&table.title);
    misfits(context, table, &title);
    let done = match context.report.kind {
        Kind::AwrRacGlobal => of_cluster(context, table, &title),
        _ => of_instance(context, table, &title),
    };
    if done || lists(context, table, &title) || identity::read(context, table) {
        return;
    }
    let by_summary = SUMMARIES.iter().find(|(words, _)| table.summary.contains(words));
    if by_summary.is_some_and(|(_, title)| of_instance(context, table, title))
        || table.exadata
        || known::is_known(&table.title)
    {
        return;
    }
    context.issue(Level::Warning, &table.title, table.line, "this section is not known".to_owned());
}

/// Sections whose lines are read by the columns they stand under, and by nothing else.
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

/// A line of text that does not stand under its captions is not read, and that is said.
fn misfits(context: &mut Context, table: &Table<'_>, title: &str) {
    if table.columns.is_empty() || !BY_COLUMN.iter().any(|start| title.starts_with(start)) {
        return;
    }
    for row in table.rows.iter().filter(|row| row.cells.is_empty()) {
        let Some(raw) = row.raw.filter(|raw| raw.bytes().any(|b| b.is_ascii_digit())) else { continue };
        let message = format!("a line does not stand under the captions and is not read: {:?}", raw.trim());
        context.issue(Level::Warning, &table.title, row.line, message);
    }
}

/// Lists that instances' reports and clusters' have alike.
fn lists(context: &mut Context, table: &Table<'_>, title: &str) -> bool {
    let is_any = |starts: &[&str]| starts.iter().any(|start| title.starts_with(start));
    if is_any(&["sqlorderedby"]) {
        statements::read(context, table);
    } else if is_any(&["completelistofsqltext"]) {
        statements::texts(context, table);
    } else if is_any(&["topsqlwithtop"]) {
        statements::plans(context, table);
    } else if is_any(&["segmentsby"]) {
        segments::read(context, table);
    } else if is_any(&["waiteventhistogram"]) {
        histogram::read(context, table);
    } else if is_any(&[
        "initora",
        "modifiedparameters",
        "modifiedmulti",
        "parametersmodifiedby",
        "multivaluedparameters",
    ]) {
        parameters::read(context, table);
    } else {
        return false;
    }
    true
}

/// Sections of an instance's report. Whether the title is one of them.
fn of_instance(context: &mut Context, table: &Table<'_>, title: &str) -> bool {
    let is_any = |starts: &[&str]| starts.iter().any(|start| title.starts_with(start));
    if is_top_events(title) {
        if context.report.top_events.is_empty() {
            context.report.top_events_title = Some(table.title.trim().to_owned());
        }
        let read = events::read(context, table);
        context.report.top_events.extend(read);
    } else if is_any(&["loadprofile"]) {
        load::load_profile(context, table);
    } else if is_any(&["instanceefficiency"]) {
        load::efficiency(context, table);
    } else if is_any(&["cachesizes"]) {
        load::begin_end(context, table, "cache_bytes", Suffix::Binary);
    } else if is_any(&["sharedpoolstatistics"]) {
        load::begin_end(context, table, "shared_pool_pct", Suffix::Decimal);
    } else if title == "memorystatistics" {
        load::begin_end(context, table, "memory", Suffix::Decimal);
    } else if is_any(&["hostcpu"]) {
        cpu::host(context, table);
    } else if is_any(&["instancecpu"]) {
        cpu::instance(context, table);
    } else if is_any(&["ioprofile"]) {
        load::io_profile(context, table);
    } else if is_any(&["timemodelstatistics", "timemodelsystemstats"]) {
        activity::time_model(context, table);
    } else if matches!(title, "operatingsystemstatistics" | "osstatistics") {
        activity::os_statistics(context, table);
    } else if is_any(&["keyinstanceactivitystats", "otherinstanceactivitystats", "instanceactivitystats"]) {
        activity::instance_activity(context, table);
    } else if is_any(&["waitclassesbytotalwaittime", "foregroundwaitclass"]) || title == "waitclass" {
        let read = events::read(context, table);
        // Later releases have classes twice: of all sessions, and of the users' alone.
        if !title.starts_with("waitclassesby") {
            context.report.foreground_wait_classes.clone_from(&read);
        }
        if context.report.wait_classes.is_empty() {
            context.report.wait_classes = read;
        }
    } else if title == "foregroundwaitevents" {
        let read = events::read(context, table);
        context.report.foreground_events.extend(read);
    } else if title == "backgroundwaitevents" {
        let read = events::read(context, table);
        context.report.background_events.extend(read);
    } else if matches!(title, "waitevents" | "waiteventsfgandbg") {
        let read = events::read(context, table);
        context.report.all_events.extend(read);
    } else if is_any(&["iostatbyfunctionsummary"]) {
        let read = io::functions(context, table);
        context.report.io_functions.extend(read);
    } else if is_any(&["iostatbyfiletypesummary"]) {
        let read = io::filetypes(context, table);
        context.report.io_filetypes.extend(read);
    } else if title == "tablespaceiostats" {
        let read = io::files(context, table);
        context.report.tablespaces.extend(read);
    } else if title == "fileiostats" {
        let read = io::files(context, table);
        context.report.files.extend(read);
    } else if is_any(&["globalcacheloadprofile"]) {
        load::labelled(context, table, "rac_load_per_s");
    } else if is_any(&["globalcacheefficiency"]) {
        load::labelled(context, table, "rac_efficiency_pct");
    } else if is_any(&["globalcacheandenqueueservices"]) {
        load::labelled(context, table, "rac_services");
    } else if context.report.kind == Kind::Statspack && table.columns.is_empty() {
        return identity::host_line(context, table);
    } else {
        return false;
    }
    true
}

/// `Top 5 Timed Foreground Events`, `Top 10 Foreground Events by Total Wait Time`; not `Top Events` of the ASH part.
fn is_top_events(title: &str) -> bool {
    let Some(rest) = title.strip_prefix("top") else { return false };
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.starts_with("timedevents")
        || rest.starts_with("timedforegroundevents")
        || rest.starts_with("foregroundevents")
}

/// Sections of a cluster's report. Whether the title is one of them.
fn of_cluster(context: &mut Context, table: &Table<'_>, title: &str) -> bool {
    match title {
        // The two tables of the head stand close together, and only one of them is underlined in text.
        _ if table.column("i#").is_some() && table.column("startup").is_some() => {
            global::instances(context, table);
        }
        "databasesummary" => global::summary(context, table),
        "systemstatisticspersecond" => global::load_profile(context, table),
        "timemodel" => global::time_model(context, table),
        "osstatisticsbyinstance" => global::os_statistics(context, table),
        "systemstatisticsglobal" => activity::instance_activity(context, table),
        "ioprofileglobal" => global::io_profile(context, table),
        "iostatbyfunction" => {
            let read = io::of_cluster(context, table);
            context.report.io_functions.extend(read);
        }
        "iostatbyfiletype" => {
            let read = io::of_cluster(context, table);
            context.report.io_filetypes.extend(read);
        }
        "toptimedforegroundevents" => global::top_events(context, table),
        "foregroundwaiteventsglobal" => {
            let read = events::read(context, table);
            context.report.foreground_events.extend(read);
        }
        "backgroundwaiteventsglobal" => {
            let read = events::read(context, table);
            context.report.background_events.extend(read);
        }
        _ => return false,
    }
    true
}
