//! All metrics with units, and reasons for absent ones.

use dyno_analyze::attribution::{is_marked, mark, marked_metrics, scope_words};
use dyno_record::{Attribution, Metric, RunRecord, Unit};

use super::lists::{more, pairs};
use crate::number::{figure, percent};
use crate::style::{Paint, Style};
use crate::table::{TextCell, TextColumn, TextTable};

const METRICS_MAX: usize = 60;

/// Metrics with a value as a table, and the absent ones with their reasons below.
pub(super) fn metrics(record: &RunRecord, style: &Style) -> String {
    let (mut table, mut absent, mut values) = (
        TextTable::new(vec![
            TextColumn::text("metric"),
            TextColumn::figures("value", ""),
            TextColumn::text("unit"),
        ]),
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
                    let text = mark(text, is_marked(record, name));
                    table.row([TextCell::from(name.as_str()), text.into(), unit.into()]);
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

/// The marked figures, each with its attribution and the source of others' share; empty if none is marked.
pub(super) fn attribution_lines(record: &RunRecord, style: &Style) -> String {
    let words = |whose: &Attribution| {
        let share =
            whose.others_pct.map(|pct| format!(", {} % is other load", percent(pct))).unwrap_or_default();
        let why = if whose.why.is_empty() { String::new() } else { format!(": {}", whose.why) };
        format!("{}{share}{why}", scope_words(whose.scope))
    };
    let list: Vec<(String, String)> =
        marked_metrics(record).iter().map(|(name, whose)| (name.clone(), words(whose))).collect();
    if list.is_empty() { String::new() } else { pairs(&list, METRICS_MAX, style) }
}
