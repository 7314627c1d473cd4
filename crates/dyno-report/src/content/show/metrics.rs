//! All metrics with units, and reasons for absent ones.

use dyno_analyze::attribution::{attribution_of, is_marked, marked_metrics, scope_words};
use dyno_record::{Attribution, Metric, RunRecord, Unit};

use super::lists::{more, pairs};
use crate::model::table::{Grid, GridCell, GridHead, unit_name};
use crate::number::percent;
use crate::style::{Paint, Style};

const METRICS_MAX: usize = 60;

/// All metrics: the value, and its unit with the attribution of a marked figure, or why there is no value.
pub(crate) fn metric_grid(record: &RunRecord) -> Grid {
    let mut grid = Grid::new(vec![
        GridHead::text("metric"),
        GridHead::figures("value", ""),
        GridHead::text("unit").only_in_terminal(),
        GridHead::text("unit, or why there is no value").only_on_pages(),
    ]);
    for (name, metric) in &record.metrics {
        let (value, unit, words) = match metric {
            Metric::Value { value, unit: Unit::Percent } => (GridCell::percent(*value), "%", "%"),
            Metric::Value { value, unit } => (GridCell::figure(*value), unit_name(*unit), unit_name(*unit)),
            Metric::Absent { absent } => (GridCell::absent(), "", absent.as_str()),
        };
        let words = match attribution_of(record, name).filter(|whose| whose.marked) {
            Some(whose) => format!("{words}; {}: {}", scope_words(whose.scope), whose.why),
            None => words.to_owned(),
        };
        grid.row([name.into(), value.marked(is_marked(record, name)), unit.into(), words.into()]);
    }
    grid
}

/// Metrics with a value as a table, and the absent ones with their reasons below.
pub(super) fn metrics(record: &RunRecord, style: &Style) -> String {
    let mut grid = metric_grid(record);
    grid.rows.retain(|(_, cells)| cells[1].number.is_some());
    let values = grid.rows.len();
    grid.rows.truncate(METRICS_MAX);
    let reason = |(name, metric): (&String, &Metric)| match metric {
        Metric::Absent { absent } => Some((name.clone(), absent.clone())),
        Metric::Value { .. } => None,
    };
    let absent: Vec<(String, String)> = record.metrics.iter().filter_map(reason).collect();
    let mut out = if values > 0 { grid.render(style) } else { String::new() };
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
