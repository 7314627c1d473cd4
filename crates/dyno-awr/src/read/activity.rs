//! Lists of names with numbers: instance activity, time model, operating system statistics.

use super::context::{Context, Sources};
use crate::number::Suffix;
use crate::table::Table;

/// Keeps a column of numbers under the names in the first column.
fn named(context: &mut Context, table: &Table<'_>, group: &str, column: Option<usize>) {
    let sources = Sources::new(table);
    for row in &table.rows {
        let name = row.cell(0);
        if !name.is_empty() {
            context.keep([group, ".", name].concat(), &sources, row, column, Suffix::Decimal);
        }
    }
}

/// Instance activity: totals over the interval; or, for what is a level and no count, both ends.
pub(crate) fn instance_activity(context: &mut Context, table: &Table<'_>) {
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

/// The time model, in seconds.
pub(crate) fn time_model(context: &mut Context, table: &Table<'_>) {
    named(context, table, "time_model_s", table.find(|caption| caption.starts_with("time")));
}

/// Statistics of the operating system: differences for times, both ends for the rest.
pub(crate) fn os_statistics(context: &mut Context, table: &Table<'_>) {
    named(context, table, "os_stats", table.find(|caption| matches!(caption, "value" | "total")));
    named(context, table, "os_stats_end", table.column("endvalue"));
}
