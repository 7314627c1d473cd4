//! Reads lists of names with numbers: instance activity, time model, operating system statistics.

use std::collections::BTreeMap;

use super::context::{Context, Sources};
use crate::number::Suffix;
use crate::table::{AwrFormat, AwrTable};

/// Stores a column of numbers by the names in the first column. Text may truncate several names to
/// one; these become `NAME #1`, `NAME #2`.
fn named(context: &mut Context, table: &AwrTable<'_>, group: &str, column: Option<usize>) {
    let sources = Sources::new(table);
    let is_cut = context.report.form == AwrFormat::Text;
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    if is_cut {
        table.rows.iter().for_each(|row| *counts.entry(row.cell(0)).or_default() += 1);
    }
    let mut ordinals: BTreeMap<&str, u32> = BTreeMap::new();
    for row in &table.rows {
        let name = row.cell(0);
        if name.is_empty() {
            continue;
        }
        let full_name = match counts.get(name) {
            Some(2..) => {
                let ordinal = ordinals.entry(name).or_default();
                *ordinal += 1;
                format!("{group}.{name} #{ordinal}")
            }
            _ => [group, ".", name].concat(),
        };
        context.keep(full_name, &sources, row, column, Suffix::Decimal);
    }
}

/// Instance activity: totals over the interval; for levels instead of counts, both ends.
pub(crate) fn instance_activity(context: &mut Context, table: &AwrTable<'_>) {
    for (caption, group) in [
        ("total", "instance_activity"),
        ("persecond", "instance_activity_per_s"),
        ("perhour", "instance_activity_per_hour"),
        ("beginvalue", "instance_activity_begin"),
        ("endvalue", "instance_activity_end"),
    ] {
        if let Some(column) = table.column(caption) {
            named(context, table, group, Some(column));
        }
    }
}

/// The time model: seconds, and shares of DB time.
pub(crate) fn time_model(context: &mut Context, table: &AwrTable<'_>) {
    named(context, table, "time_model_s", table.find(|caption| caption.starts_with("time")));
    named(context, table, "time_model_pct", table.column("%ofdbtime"));
}

/// Statistics of the operating system: differences for times, both ends for the others.
pub(crate) fn os_statistics(context: &mut Context, table: &AwrTable<'_>) {
    named(context, table, "os_stats", table.find(|caption| matches!(caption, "value" | "total")));
    named(context, table, "os_stats_end", table.column("endvalue"));
}
