//! Top statements and segments of two reports side by side.

use dyno_awr::diff::{AwrDiff, ReadingChange};
use dyno_awr::top_lists::{SegmentChange, StatementChange};
use dyno_report::table::{TextColumn, TextTable};
use dyno_report::{Differences, Style};
use serde_json::{Value, json};

use super::change::{change_cells, change_json, reading_text};

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
        let elapsed = "s elapsed per s";
        let per_exec_label = "per exec";
        let mut table = TextTable::new(vec![
            TextColumn::text("statement"),
            TextColumn::figures("A", "").grouped_under(elapsed),
            TextColumn::figures("B", "").grouped_under(elapsed),
            TextColumn::figures("B − A", "").grouped_under(elapsed).spare(2),
            TextColumn::figures("B against A", "%").grouped_under(elapsed),
            TextColumn::figures("A", "ms").grouped_under(per_exec_label),
            TextColumn::figures("B", "ms").grouped_under(per_exec_label),
            TextColumn::figures("A", "/s").grouped_under("executions").spare(1),
            TextColumn::figures("B", "/s").grouped_under("executions").spare(1),
        ]);
        for of in &difference.statements {
            let ms_per_execution = to_ms(&of.per_execution);
            let [by, percent] = change_cells(&of.elapsed, differences, LISTED);
            table.row([
                of.id.as_str().into(),
                reading_text(of.elapsed.a).into(),
                reading_text(of.elapsed.b).into(),
                by,
                percent,
                reading_text(ms_per_execution.a).into(),
                reading_text(ms_per_execution.b).into(),
                reading_text(of.executions.a).into(),
                reading_text(of.executions.b).into(),
            ]);
        }
        tables.push(table.render(style));
    }
    if !difference.segments.is_empty() {
        let mut table = TextTable::new(vec![
            TextColumn::text("segment"),
            TextColumn::text("count"),
            TextColumn::figures("A", "/s"),
            TextColumn::figures("B", "/s"),
            TextColumn::figures("B − A", "/s").spare(1),
            TextColumn::figures("B against A", "%"),
        ]);
        for of in &difference.segments {
            let [by, percent] = change_cells(&of.count, differences, LISTED);
            table.row([
                format!("{} {}", of.object.kind, of.object.name).into(),
                of.list.replace('_', " ").into(),
                reading_text(of.count.a).into(),
                reading_text(of.count.b).into(),
                by,
                percent,
            ]);
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
