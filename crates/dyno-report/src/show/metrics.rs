//! Every metric with its unit, and why those are absent that are.

use dyno_record::{Metric, RunRecord, Unit};

use super::lists::{more, pairs};
use crate::number::{figure, percent};
use crate::style::{Paint, Style};
use crate::table::{Cell, Column, Table};

/// Metrics shown.
const METRICS_MAX: usize = 60;

/// Metrics with a value as a table, the absent ones with their reasons beneath.
pub(super) fn metrics(record: &RunRecord, style: &Style) -> String {
    let (mut table, mut absent, mut values) = (
        Table::new(vec![Column::text("metric"), Column::figures("value", ""), Column::text("unit")]),
        Vec::new(),
        0usize,
    );
    for (name, metric) in &record.metrics {
        match metric {
            Metric::Value { value, unit } => {
                values += 1;
                if values <= METRICS_MAX {
                    let text = if *unit == Unit::Percent { percent(*value) } else { figure(*value) };
                    let unit = if *unit == Unit::Microseconds { "µs" } else { unit.name() };
                    table.row([Cell::from(name.as_str()), text.into(), unit.into()]);
                }
            }
            Metric::Absent { absent: reason } => absent.push((name.clone(), reason.clone())),
        }
    }
    let mut out = if values > 0 { table.render(style) } else { String::new() };
    out.push_str(&more(values, METRICS_MAX, style));
    if !absent.is_empty() {
        out.push_str(&format!("{}\n", style.paint(Paint::Dim, "absent:")));
        out.push_str(&pairs(&absent, METRICS_MAX, style));
    }
    out
}
