//! Top statements and segments of two reports side by side.

use dyno_awr::diff::{AwrDiff, ReadingChange};
use dyno_awr::top_lists::{SegmentChange, StatementChange};
use dyno_report::model::{Grid, GridCell, GridHead};
use dyno_report::{Differences, Style, reading_cell};
use serde_json::{Value, json};

use super::change::{change_json, heads};

/// Marks for lines on one side only: the other report may have truncated its list.
const LISTED: [&str; 2] = ["only A lists it", "only B lists it"];

/// Milliseconds of a time in seconds.
fn to_ms(change: &ReadingChange) -> ReadingChange {
    let ms = |side: Option<dyno_awr::PrintedNumber>| side.map(|s| s.times(1e3));
    ReadingChange { name: change.name.clone(), a: ms(change.a), b: ms(change.b) }
}

/// Both tables; empty if neither report lists any.
pub(super) fn tables(difference: &AwrDiff, differences: Differences, style: &Style) -> Vec<String> {
    let mut tables = Vec::new();
    if !difference.statements.is_empty() {
        let mut columns = vec![GridHead::text("statement")];
        columns.extend(heads("s elapsed per s", "", 2));
        let sides = |shared: &str, unit: &str, rank| {
            ["A", "B"].map(|side| GridHead::figures(side, unit).grouped_under(shared).spare(rank))
        };
        columns.extend(sides("per exec", "ms", 0).into_iter().chain(sides("executions", "/s", 1)));
        let mut table = Grid::new(columns);
        for of in &difference.statements {
            let per_execution = to_ms(&of.per_execution);
            let sides =
                [per_execution.a, per_execution.b, of.executions.a, of.executions.b].map(reading_cell);
            let elapsed = differences.row(&of.elapsed, LISTED);
            table.row([(&of.id).into()].into_iter().chain(elapsed).chain(sides));
        }
        tables.push(table.render(style));
    }
    if !difference.segments.is_empty() {
        let columns = [GridHead::text("segment"), GridHead::text("count")];
        let mut table = Grid::new(columns.into_iter().chain(heads("", "/s", 1)).collect());
        for of in &difference.segments {
            let names = [format!("{} {}", of.object.kind, of.object.name), of.list.replace('_', " ")];
            table.row(names.map(GridCell::from).into_iter().chain(differences.row(&of.count, LISTED)));
        }
        tables.push(table.render(style));
    }
    tables
}

pub(super) fn statement_json(change: &StatementChange, differences: Differences) -> Value {
    json!({
        "sql_id": change.id,
        "elapsed_s_per_s": change_json(&change.elapsed, differences),
        "executions_per_s": change_json(&change.executions, differences),
        "elapsed_s_per_execution": change_json(&change.per_execution, differences),
    })
}

/// A segment as JSON, by name only if `names`.
pub(super) fn segment_json(change: &SegmentChange, differences: Differences, names: bool) -> Value {
    json!({
        "list": change.list,
        "type": change.object.kind,
        "segment": names.then_some(&change.object.name),
        "per_s": change_json(&change.count, differences),
    })
}
