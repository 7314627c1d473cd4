//! Shows the selected and the rejected statements, in tables and as JSON.

use std::collections::BTreeMap;

use dyno_engine::executed_statements::{ObservedStatement, ParameterTypes};
use dyno_import::statements::{Picked, PickedStatement, SkipReason, SkippedStatement, WorkloadDraft};
use dyno_report::model::{Grid, GridCell, GridHead};
use dyno_report::number::{count, fixed};
use dyno_report::style::{Paint, Style};
use dyno_report::text::{clean, truncate};
use serde_json::{Value, json};

use crate::cli::ImportStatements;

/// Columns for the start of a statement's text.
const TEXT_COLUMNS: usize = 48;
/// Maximum ids shown of statements rejected for one reason.
const IDS_MAX: usize = 3;

/// Everything as tables; texts, and names derived from them, only if `shown`.
pub(super) fn tables(picked: &Picked, types: &[ParameterTypes], shown: bool, style: &Style) -> String {
    let mut out = format!("{}\n", style.paint(Paint::Head, &clean(&picked.source)));
    for note in &picked.notes {
        out.push_str(&format!("{}\n", clean(note)));
    }
    out.push('\n');
    if !picked.chosen.is_empty() {
        out.push_str(&chosen_table(picked, shown, style));
        if shown {
            out.push('\n');
            out.push_str(&text_table(picked, types, style));
        }
    }
    if !picked.skipped.is_empty() {
        out.push('\n');
        out.push_str(&left_out_table(picked, style));
    }
    out
}

fn chosen_table(picked: &Picked, shown: bool, style: &Style) -> String {
    let columns = vec![
        GridHead::text(if shown { "statement" } else { "id" }),
        GridHead::figures("calls", ""),
        GridHead::figures("of calls", "%"),
        GridHead::figures("of time", "%"),
        GridHead::figures("each", "ms"),
        GridHead::figures("rows", "a call").spare(1),
        GridHead::figures("reads", "a call").spare(1),
        GridHead::text("does"),
        GridHead::figures("parameters", ""),
    ];
    let mut table = Grid::new(columns);
    for one in &picked.chosen {
        let observed = &one.seen;
        let per_call = |value: Option<f64>, digits| match value {
            Some(value) => GridCell::from(fixed(value / one.calls as f64, digits)),
            None => "–".into(),
        };
        table.row([
            GridCell::from(if shown { one.name.as_str() } else { observed.id.as_str() }),
            count(one.calls).into(),
            fixed(percent(one.calls as f64, picked.all.0 as f64), 1).into(),
            observed.time_s.map_or("–".into(), |time_s| fixed(percent(time_s, picked.all.1), 1).into()),
            per_call(observed.time_s.map(|time_s| time_s * 1e3), 3),
            per_call(observed.rows.map(|rows| rows as f64), 1),
            per_call(observed.reads.map(|reads| reads as f64), 1),
            if one.writes { "writes" } else { "reads" }.into(),
            count(one.parameters().len() as u64).into(),
        ]);
    }
    table.note(&format!("reads are {}", picked.reads), "dim");
    table.render(style)
}

fn text_table(picked: &Picked, types: &[ParameterTypes], style: &Style) -> String {
    let mut table = Grid::new(vec![
        GridHead::text("statement"),
        GridHead::text("text"),
        GridHead::text("values").spare(1),
    ]);
    for (place, one) in picked.chosen.iter().enumerate() {
        let types = types.get(place).and_then(Option::as_ref);
        let values = one.parameters().into_iter().enumerate().map(|(at, param)| {
            let type_name = types.and_then(|types| types.get(at)).map(String::as_str);
            [param.column.as_deref(), type_name].into_iter().flatten().collect::<Vec<_>>().join(" ")
        });
        let values: Vec<String> = values.collect();
        table.row([
            GridCell::from(one.name.as_str()),
            first_words(one.text()).into(),
            truncate(&clean(&values.join(", ")), TEXT_COLUMNS).into(),
        ]);
    }
    table.render(style)
}

fn percent(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole * 100.0 } else { 0.0 }
}

fn first_words(text: &str) -> String {
    let words: String = text.chars().take(4 * TEXT_COLUMNS).collect();
    truncate(&clean(&words.split_whitespace().collect::<Vec<_>>().join(" ")), TEXT_COLUMNS)
}

fn left_out_table(picked: &Picked, style: &Style) -> String {
    let mut by_why: BTreeMap<SkipReason, Vec<&ObservedStatement>> = BTreeMap::new();
    for SkippedStatement { seen, why } in &picked.skipped {
        by_why.entry(*why).or_default().push(seen);
    }
    let mut table = Grid::new(vec![
        GridHead::text("skipped, because it is"),
        GridHead::figures("statements", ""),
        GridHead::figures("of calls", "%"),
        GridHead::figures("of time", "%"),
        GridHead::text("such as").spare(1),
    ]);
    for (why, all) in by_why {
        let calls: u64 = all.iter().filter_map(|one| one.calls).sum();
        let time_s: f64 = all.iter().filter_map(|one| one.time_s).sum();
        let ids: Vec<&str> = all.iter().take(IDS_MAX).map(|one| one.id.as_str()).collect();
        table.row([
            GridCell::from(why.words()),
            count(all.len() as u64).into(),
            fixed(percent(calls as f64, picked.all.0 as f64), 1).into(),
            fixed(percent(time_s, picked.all.1), 1).into(),
            ids.join(", ").into(),
        ]);
    }
    table.render(style)
}

pub(super) fn as_json(
    picked: &Picked,
    types: &[ParameterTypes],
    args: &ImportStatements,
    made: Option<&WorkloadDraft>,
) -> Value {
    let text = |text: Option<&str>| if args.sql_text { json!(text) } else { Value::Null };
    let statement = |(place, one): (usize, &PickedStatement)| {
        let types = types.get(place).and_then(Option::as_ref);
        let observed = &one.seen;
        let columns: Vec<Option<String>> = one.parameters().into_iter().map(|param| param.column).collect();
        json!({
            "id": observed.id, "name": text(Some(&one.name)), "calls": one.calls, "time_s": observed.time_s, "rows": observed.rows,
            "reads": observed.reads, "writes": one.writes, "parameters": columns.len(),
            "columns": args.sql_text.then_some(columns), "types": types.filter(|_| args.sql_text), "sql": text(Some(one.text())),
        })
    };
    let left = |left: &SkippedStatement| {
        json!({
            "id": left.seen.id, "why": left.why.words(), "calls": left.seen.calls, "time_s": left.seen.time_s,
            "sql": text(left.seen.text.as_deref()),
        })
    };
    json!({
        "source": picked.source, "notes": picked.notes, "calls": picked.all.0, "time_s": picked.all.1, "reads": picked.reads,
        "folder": args.into, "files": made.map(|made| made.files.iter().map(|(file, _)| file).collect::<Vec<_>>()),
        "undrawn": made.map(|made| made.undrawn), "doubtful": made.map(|made| made.doubtful),
        "statements": picked.chosen.iter().enumerate().map(statement).collect::<Vec<_>>(),
        "left_out": picked.skipped.iter().map(left).collect::<Vec<_>>(),
    })
}
