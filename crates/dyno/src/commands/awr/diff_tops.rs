//! Top statements and segments of two reports side by side.

use dyno_awr::Reading;
use dyno_awr::diff::{Change, Difference};
use dyno_awr::tops::{SegmentChange, StatementChange};
use dyno_report::Style;
use dyno_report::style::Paint;
use dyno_report::table::{Cell, Column, Table};
use serde_json::{Value, json};

use super::change::{change, side};

/// Milliseconds of a time in seconds.
fn ms(of: &Change) -> Change {
    let ms = |side: Option<Reading>| side.map(|s| Reading { value: s.value * 1e3, step: s.step * 1e3 });
    Change { name: of.name.clone(), a: ms(of.a), b: ms(of.b) }
}

/// The change; where one report does not list it, it may be below the end of that report's list.
fn listed(of: &Change) -> Cell {
    match (of.a, of.b) {
        (None, Some(_)) => Cell::painted("only B lists it", Paint::Warn),
        (Some(_), None) => Cell::painted("only A lists it", Paint::Warn),
        _ => change(of),
    }
}

/// Both tables; empty where neither report lists any.
pub(super) fn tables(difference: &Difference, style: &Style) -> Vec<String> {
    let mut tables = Vec::new();
    if !difference.statements.is_empty() {
        let elapsed = "s elapsed per s";
        let each = "per exec";
        let mut table = Table::new(vec![
            Column::text("statement"),
            Column::figures("A", "").under(elapsed),
            Column::figures("B", "").under(elapsed),
            Column::figures("B against A", "%").under(elapsed),
            Column::figures("A", "ms").under(each),
            Column::figures("B", "ms").under(each),
            Column::figures("A", "/s").under("executions").spare(1),
            Column::figures("B", "/s").under("executions").spare(1),
        ]);
        for of in &difference.statements {
            let each = ms(&of.per_execution);
            table.row([
                of.id.as_str().into(),
                side(of.elapsed.a).into(),
                side(of.elapsed.b).into(),
                listed(&of.elapsed),
                side(each.a).into(),
                side(each.b).into(),
                side(of.executions.a).into(),
                side(of.executions.b).into(),
            ]);
        }
        tables.push(table.render(style));
    }
    if !difference.segments.is_empty() {
        let mut table = Table::new(vec![
            Column::text("segment"),
            Column::text("count"),
            Column::figures("A", "/s"),
            Column::figures("B", "/s"),
            Column::figures("B against A", "%"),
        ]);
        for of in &difference.segments {
            table.row([
                format!("{} {}", of.object.kind, of.object.name).into(),
                of.list.replace('_', " ").into(),
                side(of.count.a).into(),
                side(of.count.b).into(),
                listed(&of.count),
            ]);
        }
        tables.push(table.render(style));
    }
    tables
}

fn spelled_change(of: &Change) -> Value {
    let value = |side: Option<Reading>| side.map(|reading| reading.value);
    json!({ "a": value(of.a), "b": value(of.b), "change_pct": of.percent() })
}

/// A statement as JSON.
pub(super) fn statement(of: &StatementChange) -> Value {
    json!({
        "sql_id": of.id,
        "elapsed_s_per_s": spelled_change(&of.elapsed),
        "executions_per_s": spelled_change(&of.executions),
        "elapsed_s_per_execution": spelled_change(&of.per_execution),
    })
}

/// A segment as JSON, by name only if `names`.
pub(super) fn segment(of: &SegmentChange, names: bool) -> Value {
    json!({
        "list": of.list,
        "type": of.object.kind,
        "segment": names.then_some(&of.object.name),
        "per_s": spelled_change(&of.count),
    })
}
