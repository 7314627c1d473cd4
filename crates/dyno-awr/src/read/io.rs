//! Reads I/O by function, file type, tablespace and file.

use std::collections::BTreeMap;

use super::context::{Context, Sources};
use super::global::of_all;
use crate::issue::AwrIssueSeverity;
use crate::number::{PrintedNumber, Suffix, is_absent};
use crate::report::IoRow;
use crate::table::{AwrTable, AwrTableRow, squash};

/// The columns of I/O by function, after the name; all releases have them in this order.
const FUNCTION: [(&str, Suffix); 7] = [
    ("read_bytes", Suffix::Binary),
    ("read_requests_per_s", Suffix::Decimal),
    ("read_bytes_per_s", Suffix::Binary),
    ("write_bytes", Suffix::Binary),
    ("write_requests_per_s", Suffix::Decimal),
    ("write_bytes_per_s", Suffix::Binary),
    ("waits", Suffix::Decimal),
];

/// I/O by function of the database.
pub(crate) fn functions(context: &mut Context, table: &AwrTable<'_>) {
    let read = by_kind(context, table, &FUNCTION, &["wait_ms"]);
    context.report.io_functions.extend(read);
}

/// I/O by type of file.
pub(crate) fn filetypes(context: &mut Context, table: &AwrTable<'_>) {
    let read = by_kind(context, table, &FUNCTION[..6], &["small_read_ms", "large_read_ms"]);
    context.report.io_filetypes.extend(read);
}

/// I/O by function of the database and type of file.
pub(crate) fn functions_by_filetype(context: &mut Context, table: &AwrTable<'_>) {
    let read = by_kind(context, table, &FUNCTION, &["wait_ms"]);
    context.report.io_function_filetypes.extend(read);
}

fn by_kind(
    context: &mut Context,
    table: &AwrTable<'_>,
    numbers: &[(&'static str, Suffix)],
    times: &[&'static str],
) -> Vec<IoRow> {
    let figure_count = numbers.len() + times.len();
    // Text prints the names of functions and file types on separate lines.
    if table.columns.len() == figure_count {
        return by_kind(context, &with_names(table), numbers, times);
    }
    let sources = Sources::new(table);
    if table.columns.len() != 1 + figure_count {
        let message = format!("its columns are unknown: {}", table.columns.join(" | "));
        context.issue(AwrIssueSeverity::Warning, &table.title, table.line, message);
        return Vec::new();
    }
    let mut rows = Vec::new();
    for row in table.rows.iter().filter(|row| !row.cell(0).is_empty()) {
        let mut figures = BTreeMap::new();
        for (column, &(name, suffix)) in (1..).zip(numbers) {
            let reading = match name {
                "read_bytes_per_s" | "write_bytes_per_s" => {
                    data_rate(context, &sources, row, column, &figures)
                }
                _ => context.number(&sources, row, Some(column), suffix),
            };
            figures.extend(reading.map(|reading| (name, reading)));
        }
        for (column, &name) in (1 + numbers.len()..).zip(times) {
            figures.extend(milliseconds(context, &sources, row, column).map(|reading| (name, reading)));
        }
        let name = row.cell(0).trim_end_matches(':').to_owned();
        rows.push(IoRow { name, file: None, pdb: None, figures, line: row.line });
    }
    rows
}

/// The table with the names from separate lines in its first column.
fn with_names<'a>(table: &AwrTable<'a>) -> AwrTable<'a> {
    let mut columns = vec![String::new()];
    columns.extend(table.columns.iter().cloned());
    let mut rows: Vec<AwrTableRow<'a>> = Vec::new();
    let mut name: &'a str = "";
    for row in &table.rows {
        let raw = row.raw.unwrap_or_default();
        let is_figure = |word: &str| word.starts_with(|c: char| c.is_ascii_digit() || c == '.');
        match raw.split_whitespace().any(is_figure) {
            true if !row.cells.is_empty() => {
                let cells = std::iter::once(name.into()).chain(row.cells.iter().cloned()).collect();
                rows.push(AwrTableRow { cells, raw: row.raw, line: row.line });
            }
            // A line of figures that does not match the captions is skipped.
            true => {}
            false => name = raw.trim(),
        }
    }
    AwrTable { title: table.title.clone(), columns, rows, line: table.line, ..AwrTable::default() }
}

/// Share by which the volume over the interval may differ from the printed rate, beyond rounding,
/// when it determines the suffix of a rate.
const RATE_TOLERANCE: f64 = 0.2;

/// The powers of 1,024 that data columns are printed in: M, G, T, P.
const DATA_POWERS: std::ops::RangeInclusive<i32> = 2..=5;

/// A rate of data. Reports truncate it to seven characters, and the suffix with it: `513.685` is
/// `513.685M`. The volume in the column before, divided by the interval, shows which suffix it was;
/// suffixes differ by a factor of 1,024.
fn data_rate(
    context: &mut Context,
    sources: &Sources<'_, '_>,
    row: &AwrTableRow<'_>,
    column: usize,
    figures: &BTreeMap<&'static str, PrintedNumber>,
) -> Option<PrintedNumber> {
    let text = row.cell(column).trim();
    let printed = context.number(sources, row, Some(column), Suffix::Binary)?;
    let cut = text.ends_with(|c: char| c.is_ascii_digit()) && printed.value != 0.0;
    if !cut {
        return Some(printed);
    }
    let volume = figures.get(if column == 3 { "read_bytes" } else { "write_bytes" })?;
    let elapsed = context.report.value("elapsed_min")? * 60.0;
    let (found, expected) = with_suffix(printed, *volume, elapsed);
    if found.is_none() && expected {
        let message = format!(
            "{} / {}: {text:?} lost its suffix, and it is unclear which",
            row.cell(0),
            sources.table.columns[column]
        );
        context.issue(AwrIssueSeverity::Warning, &sources.table.title, row.line, message);
    }
    found
}

/// The rate with the smallest suffix that its volume allows, and whether there is a volume at all.
/// A volume of `1M` is anything from half of that to one and a half.
fn with_suffix(
    printed: PrintedNumber,
    volume: PrintedNumber,
    elapsed_s: f64,
) -> (Option<PrintedNumber>, bool) {
    let half = volume.step / 2.0;
    let least = (volume.value - half).max(0.0) / elapsed_s * (1.0 - RATE_TOLERANCE);
    let most = (volume.value + half) / elapsed_s * (1.0 + RATE_TOLERANCE);
    let scaled = |power: i32| {
        let factor = 1024f64.powi(power);
        PrintedNumber { value: printed.value * factor, step: printed.step * factor }
    };
    let fits = |reading: &PrintedNumber| (least..=most).contains(&reading.value);
    (DATA_POWERS.map(scaled).find(fits), most > 0.0)
}

/// A mean time in milliseconds.
fn milliseconds(
    context: &mut Context,
    sources: &Sources<'_, '_>,
    row: &AwrTableRow<'_>,
    column: usize,
) -> Option<PrintedNumber> {
    if is_absent(row.cell(column)) {
        return None;
    }
    // Where neither cell nor caption has a unit, the section's note says milliseconds.
    let time = context.time(sources, row, Some(column), Some(crate::number::TimeUnit::Ms))?.seconds();
    Some(PrintedNumber { value: time.value * 1e3, step: time.step * 1e3 })
}

/// Reads the I/O by tablespace.
pub(crate) fn tablespaces(context: &mut Context, table: &AwrTable<'_>) {
    let read = by_file(context, table);
    context.report.tablespaces.extend(read);
}

/// Reads the I/O by file.
pub(crate) fn files(context: &mut Context, table: &AwrTable<'_>) {
    let read = by_file(context, table);
    context.report.files.extend(read);
}

fn by_file(context: &mut Context, table: &AwrTable<'_>) -> Vec<IoRow> {
    let sources = Sources::new(table);
    let file = table.column("filename");
    let pdb = table.find(|caption| matches!(caption, "pdbname" | "pdb" | "containername"));
    let names: Vec<Option<&'static str>> =
        table.columns.iter().map(|caption| file_column(&squash(caption))).collect();
    let mut rows: Vec<IoRow> = Vec::new();
    for row in &table.rows {
        let mut figures = BTreeMap::new();
        for (column, name) in names.iter().enumerate() {
            let Some(name) = *name else { continue };
            let reading = match name.ends_with("_ms") {
                true => milliseconds(context, &sources, row, column),
                false => context.number(&sources, row, Some(column), Suffix::Decimal),
            };
            figures.extend(reading.map(|reading| (name, reading)));
        }
        if !row.cell(0).is_empty() && !figures.is_empty() {
            let file = file.map(|column| row.cell(column).to_owned());
            let pdb = pdb.map(|column| row.cell(column).to_owned()).filter(|name| !name.is_empty());
            rows.push(IoRow { name: row.cell(0).to_owned(), file, pdb, figures, line: row.line });
        }
    }
    rows
}

fn file_column(caption: &str) -> Option<&'static str> {
    Some(match caption {
        "reads" => "reads",
        "avreads/s" | "avrds/s" | "reads/s" => "reads_per_s",
        "avrdms" => "read_ms",
        "avblks/rd" => "blocks_per_read",
        "1bkrds/s" => "single_block_reads_per_s",
        "av1bkrdms" => "single_block_read_ms",
        "%optreads" => "optimized_reads_pct",
        "writes" => "writes",
        "avwrites/s" | "writesavg/s" | "writes/s" => "writes_per_s",
        "avwritesms" => "write_ms",
        "bufferwaits" => "buffer_waits",
        "avbufwtms" | "avbufwtms(ms)" | "bufferavbufwtms" => "buffer_wait_ms",
        _ => return None,
    })
}

/// I/O of a cluster by function of the database.
pub(crate) fn functions_of_cluster(context: &mut Context, table: &AwrTable<'_>) {
    let read = of_cluster(context, table);
    context.report.io_functions.extend(read);
}

/// I/O of a cluster by type of file.
pub(crate) fn filetypes_of_cluster(context: &mut Context, table: &AwrTable<'_>) {
    let read = of_cluster(context, table);
    context.report.io_filetypes.extend(read);
}

/// I/O of a cluster: the lines of instance `*`.
fn of_cluster(context: &mut Context, table: &AwrTable<'_>) -> Vec<IoRow> {
    let sources = Sources::new(table);
    let columns = [
        ("requests", table.column("requeststotal"), 1.0),
        ("read_requests_per_s", table.find(|caption| caption.ends_with("reads/s")), 1.0),
        ("write_requests_per_s", table.find(|caption| caption.ends_with("writes/s")), 1.0),
        ("read_bytes_per_s", table.find(|caption| caption.ends_with("readmb/s")), 1_048_576.0),
        ("write_bytes_per_s", table.find(|caption| caption.ends_with("writemb/s")), 1_048_576.0),
        ("waits", table.find(|caption| caption.contains("waitscount")), 1.0),
    ];
    let mut rows = Vec::new();
    for row in of_all(table) {
        let mut figures = BTreeMap::new();
        for (name, column, factor) in columns {
            let reading = context.number(&sources, row, column, Suffix::Decimal);
            figures.extend(
                reading.map(|r| (name, PrintedNumber { value: r.value * factor, step: r.step * factor })),
            );
        }
        rows.push(IoRow { name: row.cell(1).to_owned(), file: None, pdb: None, figures, line: row.line });
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_without_suffix_is_recovered_from_its_volume() {
        const MIB: f64 = 1_048_576.0;
        let rate = |printed: f64, volume: f64, step: f64, elapsed_s: f64| {
            let printed = PrintedNumber { value: printed, step: 0.0 };
            let volume = PrintedNumber { value: volume * MIB, step: step * MIB };
            with_suffix(printed, volume, elapsed_s).0.map(|rate| rate.value / MIB)
        };
        assert_eq!(rate(4.5, 4_096.0, 1_024.0, 900.0), Some(4.5));
        assert_eq!(rate(1.25, 4_608_000.0, 102_400.0, 3_600.0), Some(1_280.0));
        // Over an hour, 1M is only a hint: 0.6 and 1.4 MiB are printed like that too.
        assert_eq!(rate(0.000_389, 1.0, 1.0, 3_600.0), Some(0.000_389));
        assert_eq!(rate(0.000_139, 0.0, 1.0, 3_600.0), Some(0.000_139));
        assert_eq!(rate(7.0, 1.0, 1.0, 3_600.0), None);
    }
}
