//! Reads the load profile, and the other sections of labeled values: efficiency, caches, CPU,
//! memory.

use super::context::{Context, Sources};
use crate::number::Suffix;
use crate::table::{AwrTable, squash};

/// Labels of the load profile without their units, and the names of their figures. The wording
/// differs between releases.
const LOAD: [(&str, &str); 33] = [
    ("dbtime", "db_time_s"),
    ("dbcpu", "db_cpu_s"),
    ("backgroundcpu", "background_cpu_s"),
    ("redosize", "redo_size"),
    ("logicalreads", "logical_reads"),
    ("logicalread", "logical_reads"),
    ("blockchanges", "block_changes"),
    ("physicalreads", "physical_reads"),
    ("physicalread", "physical_reads"),
    ("physicalwrites", "physical_writes"),
    ("physicalwrite", "physical_writes"),
    ("readiorequests", "read_io_requests"),
    ("writeiorequests", "write_io_requests"),
    ("readio", "read_io_mb"),
    ("writeio", "write_io_mb"),
    ("imscanrows", "im_scan_rows"),
    ("sessionlogicalreadim", "session_logical_read_im"),
    ("globalcacheblocksreceived", "gc_blocks_received"),
    ("globalcacheblocksserved", "gc_blocks_served"),
    ("racgcblocksreceived", "gc_blocks_received"),
    ("racgcblocksserved", "gc_blocks_served"),
    ("usercalls", "user_calls"),
    ("parses", "parses"),
    ("hardparses", "hard_parses"),
    ("sorts", "sorts"),
    ("w/ambprocessed", "work_area_mb"),
    ("sqlworkarea", "work_area_mb"),
    ("logons", "logons"),
    ("userlogons", "user_logons"),
    ("executes", "executes"),
    ("rollbacks", "rollbacks"),
    ("transactions", "transactions"),
    ("redowrites", "redo_writes"),
];

/// The load profile: per second and per transaction.
pub(crate) fn load_profile(context: &mut Context, table: &AwrTable<'_>) {
    let sources = Sources::new(table);
    let per_second = table.find(|caption| caption.ends_with("persecond")).unwrap_or(1);
    let per_transaction = table.find(|caption| caption.ends_with("pertransaction")).unwrap_or(2);
    for row in &table.rows {
        // A figure wider than its column shifts those after it; the first after the label is still
        // per second.
        let pairs = if row.cells.is_empty() { row.pairs() } else { Vec::new() };
        let label = pairs.first().map_or(row.cell(0), |(label, _)| label);
        let value = |column: usize| match pairs.first() {
            Some((_, values)) => values.get(column - 1).map_or("", AsRef::as_ref),
            None => row.cell(column),
        };
        let bare = squash(label.split(['(', ':']).next().unwrap_or_default());
        let Some((_, name)) = LOAD.iter().find(|(known, _)| *known == bare) else {
            // The profile of 9i and 10g is followed by shares; they belong to the efficiency
            // figures.
            shares(context, &sources, row);
            continue;
        };
        for (group, column) in [("load_profile_per_s", per_second), ("load_profile_per_txn", per_transaction)]
        {
            let caption = table.columns.get(column).map_or("", String::as_str);
            let source = sources.labelled(row, label, caption);
            context.keep_labelled(format!("{group}.{name}"), value(column), Suffix::Decimal, source);
        }
    }
}

/// Percentages with their labels, two to a line.
pub(crate) fn efficiency(context: &mut Context, table: &AwrTable<'_>) {
    let sources = Sources::new(table);
    for row in &table.rows {
        shares(context, &sources, row);
    }
}

fn shares(context: &mut Context, sources: &Sources<'_, '_>, row: &crate::table::AwrTableRow<'_>) {
    for (label, values) in row.pairs() {
        if let (true, [value]) = (label.contains('%'), &values[..]) {
            let source = sources.labelled(row, &label, "");
            context.keep_labelled(
                format!("efficiency_pct.{}", name_of(&label)),
                value,
                Suffix::Decimal,
                source,
            );
        }
    }
}

/// Labels with a value at the begin and one at the end: caches and memory.
pub(crate) fn begin_end(context: &mut Context, table: &AwrTable<'_>, group: &str, suffix: Suffix) {
    let sources = Sources::new(table);
    for row in &table.rows {
        for (label, values) in row.pairs() {
            if !label.ends_with(':') {
                continue;
            }
            for (edge, value) in ["begin", "end"].iter().zip(&values) {
                let source = sources.labelled(row, &label, edge);
                let name = format!("{group}_{edge}.{}", name_of(&label));
                context.keep_labelled(name, value, suffix, source);
            }
        }
    }
}

/// Labels with one value: instance CPU of text reports, and the cluster's figures.
pub(crate) fn labelled(context: &mut Context, table: &AwrTable<'_>, group: &str) {
    let sources = Sources::new(table);
    for row in &table.rows {
        for (label, values) in row.pairs() {
            let Some(value) = values.first() else { continue };
            let source = sources.labelled(row, &label, "");
            context.keep_labelled(format!("{group}.{}", name_of(&label)), value, Suffix::Decimal, source);
        }
    }
}

/// The I/O profile: requests and megabytes per second, reads, writes and both together.
pub(crate) fn io_profile(context: &mut Context, table: &AwrTable<'_>) {
    let sources = Sources::new(table);
    let groups = ["io_profile_per_s", "io_profile_read_per_s", "io_profile_write_per_s"];
    for row in &table.rows {
        let label = row.cell(0);
        for (column, group) in (1..).zip(groups) {
            let caption = table.columns.get(column).map_or("", String::as_str);
            let source = sources.labelled(row, label, caption);
            let name = format!("{group}.{}", name_of(label));
            context.keep_labelled(name, row.cell(column), Suffix::Decimal, source);
        }
    }
}

/// The name of a label in output: `avg_lms_process_busy` for `Avg LMS process busy %:`.
pub(crate) fn name_of(label: &str) -> String {
    let mut name = String::new();
    for c in label.chars() {
        if c.is_alphanumeric() {
            name.extend(c.to_lowercase());
        } else if matches!(c, '>' | '/' | ' ' | '-' | '_' | '+') && !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
    }
    name.truncate(name.trim_end_matches('_').len());
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn load_profile_labels_become_names() {
        assert_eq!(name_of("Buffer  Hit   %:"), "buffer_hit");
        assert_eq!(name_of("% Non-Parse CPU:"), "non_parse_cpu");
        assert_eq!(name_of("Parse CPU to Parse Elapsd %:"), "parse_cpu_to_parse_elapsd");
        assert_eq!(name_of("Redo (MB):"), "redo_mb");
    }
}
