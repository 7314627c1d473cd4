//! Top statements and segments of two reports side by side.

use dyno_awr::diff::{Change, Difference};
use dyno_awr::tops::{SegmentChange, StatementChange};
use dyno_report::table::{Column, Table};
use dyno_report::{Differences, Style};
use serde_json::{Value, json};

use super::change::{change, side, spelled};

/// What one report does not list may be below the end of its list.
const LISTED: [&str; 2] = ["only A lists it", "only B lists it"];

/// Milliseconds of a time in seconds.
fn ms(of: &Change) -> Change {
    let ms = |side: Option<dyno_awr::Reading>| side.map(|s| s.times(1e3));
    Change { name: of.name.clone(), a: ms(of.a), b: ms(of.b) }
}

/// Both tables; empty where neither report lists any.
pub(super) fn tables(difference: &Difference, differences: Differences, style: &Style) -> Vec<String> {
    let mut tables = Vec::new();
    if !difference.statements.is_empty() {
        let elapsed = "s elapsed per s";
        let each = "per exec";
        let mut table = Table::new(vec![
            Column::text("statement"),
            Column::figures("A", "").under(elapsed),
            Column::figures("B", "").under(elapsed),
            Column::figures("B − A", "").under(elapsed).spare(2),
            Column::figures("B against A", "%").under(elapsed),
            Column::figures("A", "ms").under(each),
            Column::figures("B", "ms").under(each),
            Column::figures("A", "/s").under("executions").spare(1),
            Column::figures("B", "/s").under("executions").spare(1),
        ]);
        for of in &difference.statements {
            let each = ms(&of.per_execution);
            let [by, percent] = change(&of.elapsed, differences, LISTED);
            table.row([
                of.id.as_str().into(),
                side(of.elapsed.a).into(),
                side(of.elapsed.b).into(),
                by,
                percent,
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
            Column::figures("B − A", "/s").spare(1),
            Column::figures("B against A", "%"),
        ]);
        for of in &difference.segments {
            let [by, percent] = change(&of.count, differences, LISTED);
            table.row([
                format!("{} {}", of.object.kind, of.object.name).into(),
                of.list.replace('_', " ").into(),
                side(of.count.a).into(),
                side(of.count.b).into(),
                by,
                percent,
            ]);
        }
        tables.push(table.render(style));
    }
    tables
}

/// A statement as JSON.
pub(super) fn statement(of: &StatementChange, differences: Differences) -> Value {
    json!({
        "sql_id": of.id,
        "elapsed_s_per_s": spelled(&of.elapsed, differences),
        "executions_per_s": spelled(&of.executions, differences),
        "elapsed_s_per_execution": spelled(&of.per_execution, differences),
    })
}

/// A segment as JSON, by name only if `names`.
pub(super) fn segment(of: &SegmentChange, differences: Differences, names: bool) -> Value {
    json!({
        "list": of.list,
        "type": of.object.kind,
        "segment": names.then_some(&of.object.name),
        "per_s": spelled(&of.count, differences),
    })
}
