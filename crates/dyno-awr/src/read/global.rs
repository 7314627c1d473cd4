//! Reads the report of a whole cluster: another document, with a line for each instance and sums
//! over them.

use std::collections::BTreeMap;

use super::context::{Context, Sources};
use super::events;
use super::load::name_of;
use crate::number::Suffix;
use crate::report::{AwrFigure, AwrInstance};
use crate::table::{AwrTable, AwrTableRow, squash};

/// Names of the profile's captions, per second: `Logical Reads/s`. Redo is in thousands of bytes,
/// so it has a name of its own.
const PROFILE: [(&str, &str); 10] = [
    ("logicalreads", "logical_reads"),
    ("physicalreads", "physical_reads"),
    ("physicalwrites", "physical_writes"),
    ("redosizek", "redo_size_kb"),
    ("blockchanges", "block_changes"),
    ("usercalls", "user_calls"),
    ("execs", "executes"),
    ("parses", "parses"),
    ("logons", "logons"),
    ("txns", "transactions"),
];

/// Database, snapshots and length of the interval.
pub(crate) fn summary(context: &mut Context, table: &AwrTable<'_>) {
    let sources = Sources::new(table);
    let Some(row) = table.rows.first() else { return };
    let column = |caption: &str| table.find(|c| c == caption || c == format!("database{caption}"));
    let ends = |end: &str| table.find(|caption| caption.ends_with(end));
    context.word("db_name", &sources, row, column("name"));
    context.word("unique_name", &sources, row, column("uniquename"));
    context.word("role", &sources, row, column("role"));
    context.word("edition", &sources, row, column("edition"));
    context.word("rac", &sources, row, column("rac"));
    context.word("cdb", &sources, row, column("cdb"));
    let figures = [
        ("dbid", column("id")),
        ("block_size", column("blocksize")),
        ("begin_snap", ends("snapshotidsbegin")),
        ("end_snap", ends("snapshotidsend")),
        ("instance_count", table.column("numberofinstancesinreport")),
        ("db_time_min", ends("dbtime")),
        ("elapsed_min", ends("elapsedtime")),
    ];
    for (name, column) in figures {
        context.keep(name, &sources, row, column, Suffix::Decimal);
    }
}

/// The instances that the report covers.
pub(crate) fn instances(context: &mut Context, table: &AwrTable<'_>) {
    let sources = Sources::new(table);
    let number = table.column("i#");
    let words = [
        ("instance", table.column("instance")),
        ("host", table.column("host")),
        ("startup_time", table.column("startup")),
        ("begin_time", table.column("beginsnaptime")),
        ("end_time", table.column("endsnaptime")),
        ("version", table.column("release")),
        ("platform", table.column("platform")),
    ];
    let figures = [
        ("elapsed_min", table.find(|caption| caption.starts_with("elapsed"))),
        ("db_time_min", table.find(|caption| caption.starts_with("dbtime"))),
        ("avg_active_sessions", table.find(|caption| caption.starts_with("avgactive"))),
    ];
    for row in &table.rows {
        let Some(number) = context.number(&sources, row, number, Suffix::Decimal) else { continue };
        let text = |column: Option<usize>| column.map(|at| row.cell(at)).filter(|text| !text.is_empty());
        let mut instance = AwrInstance {
            number: number.value as u32,
            words: words.iter().filter_map(|(name, at)| Some((*name, text(*at)?.to_owned()))).collect(),
            figures: BTreeMap::new(),
        };
        for (name, column) in figures {
            let reading = context.number(&sources, row, column, Suffix::Decimal);
            if let (Some(reading), Some(column)) = (reading, column) {
                let source = sources.source(row, column);
                instance.figures.insert(name.to_owned(), AwrFigure { reading, source });
            }
        }
        // All instances of a cluster run one release.
        context.word("version", &sources, row, words[5].1);
        context.report.instances.push(instance);
    }
}

/// Whether the line is for the cluster: that of the sums, or the only instance's.
fn is_total(table: &AwrTable<'_>, row: &AwrTableRow<'_>) -> bool {
    let numbered = |row: &AwrTableRow<'_>| {
        row.cell(0).trim().bytes().all(|b| b.is_ascii_digit()) && !row.cell(0).is_empty()
    };
    let is_sum = |row: &AwrTableRow<'_>| row.cell(0).trim() == "Sum";
    let is_alone =
        || !table.rows.iter().any(is_sum) && table.rows.iter().filter(|row| numbered(row)).count() == 1;
    is_sum(row) || (numbered(row) && is_alone())
}

/// Stores the columns of a table with a line for each instance, with names derived from the
/// captions.
fn by_instance(context: &mut Context, table: &AwrTable<'_>, name: impl Fn(&str) -> Option<String>) {
    let sources = Sources::new(table);
    let names: Vec<Option<String>> = table.columns.iter().map(|caption| name(caption)).collect();
    for row in &table.rows {
        let number: Option<u32> = row.cell(0).trim().parse().ok();
        let total = is_total(table, row);
        if number.is_none() && !total {
            continue;
        }
        for (column, name) in names.iter().enumerate().skip(1) {
            let Some(name) = name else { continue };
            let Some(reading) = context.number(&sources, row, Some(column), Suffix::Decimal) else {
                continue;
            };
            let source = sources.source(row, column);
            let instance =
                context.report.instances.iter_mut().find(|instance| Some(instance.number) == number);
            if let Some(instance) = instance {
                let figure = AwrFigure { reading, source: source.clone() };
                instance.figures.entry(name.clone()).or_insert(figure);
            }
            if total {
                context.put(name, reading, source);
            }
        }
    }
}

/// The load profile per second.
pub(crate) fn load_profile(context: &mut Context, table: &AwrTable<'_>) {
    by_instance(context, table, |caption| {
        let caption = squash(caption);
        let bare = caption.strip_suffix("/s")?;
        let (_, name) = PROFILE.iter().find(|(known, _)| *known == bare)?;
        Some(match *name {
            "redo_size_kb" => "redo_size_kb_per_s".to_owned(),
            name => format!("load_profile_per_s.{name}"),
        })
    });
}

/// The time model in seconds, under the names that instances' reports use.
pub(crate) fn time_model(context: &mut Context, table: &AwrTable<'_>) {
    by_instance(context, table, |caption| {
        let name = match squash(caption).as_str() {
            "dbtimes" => "DB time",
            "dbcpus" => "DB CPU",
            "sqlexecelas" => "sql execute elapsed time",
            "parseelas" => "parse time elapsed",
            "hardparseelas" => "hard parse elapsed time",
            "pl/sqlelas" => "PL/SQL execution elapsed time",
            "bgtimes" => "background elapsed time",
            "bgcpus" => "background cpu time",
            _ => return None,
        };
        Some(format!("time_model_s.{name}"))
    });
}

/// CPU and memory of the hosts. Shares of CPU are per host; the times are added up.
pub(crate) fn os_statistics(context: &mut Context, table: &AwrTable<'_>) {
    by_instance(context, table, |caption| {
        let caption = squash(caption);
        // Releases group the columns differently; their own captions stay the same.
        let ends = |end: &str| caption.ends_with(end);
        let name = match caption.as_str() {
            // Changes until the end of the interval.
            c if c.starts_with("end") && !c.ends_with("loadend") => return None,
            _ if ends("#cpus") || ends("numcpus") => "cpus",
            _ if ends("#cores") || ends("#core") || ends("numcores") => "cores",
            _ if ends("#sckts") || ends("#sckt") || ends("numsckts") => "sockets",
            _ if ends("loadbegin") || ends("beginload") => "host_cpu.load_begin",
            _ if ends("loadend") || ends("endload") => "host_cpu.load_end",
            _ if ends("%usr") || ends("%user") => "host_cpu.user_pct",
            _ if ends("%sys") => "host_cpu.system_pct",
            _ if ends("%wio") => "host_cpu.io_wait_pct",
            _ if ends("%idl") || ends("%idle") => "host_cpu.idle_pct",
            c if c.contains("time") && ends("busy") => "host_cpu.busy_s",
            c if c.contains("time") && ends("idle") => "host_cpu.idle_s",
            _ if ends("memorymb") || ends("memorym") => "memory_mb",
            _ => return None,
        };
        Some(name.to_owned())
    });
}

/// The lines of instance `*`. Text names the instance only in the first of its lines.
pub(crate) fn of_all<'t, 'a>(table: &'t AwrTable<'a>) -> impl Iterator<Item = &'t AwrTableRow<'a>> {
    let mut inside = false;
    table.rows.iter().filter(move |row| {
        let number = row.cell(0).trim();
        inside = if number.is_empty() { inside && !row.cells.is_empty() } else { number == "*" };
        inside
    })
}

/// Top events of the cluster: the lines of instance `*`.
pub(crate) fn top_events(context: &mut Context, table: &AwrTable<'_>) {
    let rows = of_all(table).cloned().collect();
    let cluster = AwrTable {
        title: table.title.clone(),
        columns: table.columns.clone(),
        rows,
        line: table.line,
        ..AwrTable::default()
    };
    context.report.top_events_title = Some(format!("{}, instance '*' (cluster-wide)", table.title));
    let read = events::read(context, &cluster);
    context.report.top_events.extend(read);
}

/// The I/O profile: the columns of an instance report, with other captions.
pub(crate) fn io_profile(context: &mut Context, table: &AwrTable<'_>) {
    let sources = Sources::new(table);
    let groups = [
        ("io_profile_per_s", table.column("read+write/s").or_else(|| table.column("readwrite/s"))),
        ("io_profile_read_per_s", table.find(|caption| caption.starts_with("reads/s"))),
        ("io_profile_write_per_s", table.find(|caption| caption.starts_with("writes/s"))),
    ];
    for row in &table.rows {
        for (group, column) in groups {
            let name = format!("{group}.{}", name_of(row.cell(0)));
            context.keep(name, &sources, row, column, Suffix::Decimal);
        }
    }
}
