//! What was picked and what was left out, in tables and as JSON.

use std::collections::BTreeMap;

use dyno_engine::seen::{ParameterTypes, SeenStatement};
use dyno_report::number::{count, fixed};
use dyno_report::style::{Paint, Style};
use dyno_report::table::{Cell, Column, Table};
use dyno_report::text::{clean, truncate};
use dyno_workload::own::statements::{Chosen, Draft, Left, Picked, Why};
use serde_json::{Value, json};

use crate::cli::ImportStatements;

/// Columns of a statement's first words.
const TEXT_COLUMNS: usize = 48;
/// Ids that are told of those that are left out for one reason.
const IDS_MAX: usize = 3;

/// Everything as tables; texts, and names that are made of them, only where they are `shown`.
pub(super) fn tables(picked: &Picked, types: &[ParameterTypes], shown: bool, style: &Style) -> String {
    let mut out = format!("{}\n", style.paint(Paint::Head, &clean(&picked.source)));
    for note in &picked.notes {
        out.push_str(&format!("{}\n", clean(note)));
    }
    out.push('\n');
    if !picked.chosen.is_empty() {
        out.push_str(&chosen(picked, shown, style));
        if shown {
            out.push('\n');
            out.push_str(&texts(picked, types, style));
        }
    }
    if !picked.left.is_empty() {
        out.push('\n');
        out.push_str(&left(picked, style));
    }
    out
}

fn chosen(picked: &Picked, shown: bool, style: &Style) -> String {
    let columns = vec![
        Column::text(if shown { "statement" } else { "id" }),
        Column::figures("calls", ""),
        Column::figures("of calls", "%"),
        Column::figures("of time", "%"),
        Column::figures("each", "ms"),
        Column::figures("rows", "a call").droppable(),
        Column::figures("reads", "a call").droppable(),
        Column::text("does"),
        Column::figures("parameters", ""),
    ];
    let mut table = Table::new(columns);
    for one in &picked.chosen {
        let seen = &one.seen;
        let each = |value: Option<f64>, digits| match value {
            Some(value) => Cell::from(fixed(value / one.calls as f64, digits)),
            None => "–".into(),
        };
        table.row([
            Cell::from(if shown { one.name.as_str() } else { seen.id.as_str() }),
            count(one.calls).into(),
            fixed(percent(one.calls as f64, picked.all.0 as f64), 1).into(),
            seen.time_s.map_or("–".into(), |time_s| fixed(percent(time_s, picked.all.1), 1).into()),
            each(seen.time_s.map(|time_s| time_s * 1e3), 3),
            each(seen.rows.map(|rows| rows as f64), 1),
            each(seen.reads.map(|reads| reads as f64), 1),
            if one.writes { "writes" } else { "reads" }.into(),
            count(one.parameters().len() as u64).into(),
        ]);
    }
    table.note(&format!("reads are {}", picked.reads), Paint::Dim);
    table.render(style)
}

fn texts(picked: &Picked, types: &[ParameterTypes], style: &Style) -> String {
    let mut table =
        Table::new(vec![Column::text("statement"), Column::text("text"), Column::text("values").droppable()]);
    for (place, one) in picked.chosen.iter().enumerate() {
        let types = types.get(place).and_then(Option::as_ref);
        let values = one.parameters().into_iter().enumerate().map(|(at, param)| {
            let of = types.and_then(|types| types.get(at)).map(String::as_str);
            [param.column.as_deref(), of].into_iter().flatten().collect::<Vec<_>>().join(" ")
        });
        let values: Vec<String> = values.collect();
        table.row([
            Cell::from(one.name.as_str()),
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

fn left(picked: &Picked, style: &Style) -> String {
    let mut by_why: BTreeMap<Why, Vec<&SeenStatement>> = BTreeMap::new();
    for Left { seen, why } in &picked.left {
        by_why.entry(*why).or_default().push(seen);
    }
    let mut table = Table::new(vec![
        Column::text("left out, as it is"),
        Column::figures("statements", ""),
        Column::figures("of calls", "%"),
        Column::figures("of time", "%"),
        Column::text("such as").droppable(),
    ]);
    for (why, all) in by_why {
        let calls: u64 = all.iter().filter_map(|one| one.calls).sum();
        let time_s: f64 = all.iter().filter_map(|one| one.time_s).sum();
        let ids: Vec<&str> = all.iter().take(IDS_MAX).map(|one| one.id.as_str()).collect();
        table.row([
            Cell::from(why.words()),
            count(all.len() as u64).into(),
            fixed(percent(calls as f64, picked.all.0 as f64), 1).into(),
            fixed(percent(time_s, picked.all.1), 1).into(),
            ids.join(", ").into(),
        ]);
    }
    table.render(style)
}

/// Everything for machines.
pub(super) fn as_json(
    picked: &Picked,
    types: &[ParameterTypes],
    args: &ImportStatements,
    made: Option<&Draft>,
) -> Value {
    let text = |text: Option<&str>| if args.sql_text { json!(text) } else { Value::Null };
    let statement = |(place, one): (usize, &Chosen)| {
        let types = types.get(place).and_then(Option::as_ref);
        let seen = &one.seen;
        let columns: Vec<Option<String>> = one.parameters().into_iter().map(|param| param.column).collect();
        json!({
            "id": seen.id, "name": text(Some(&one.name)), "calls": one.calls, "time_s": seen.time_s, "rows": seen.rows,
            "reads": seen.reads, "writes": one.writes, "parameters": columns.len(),
            "columns": args.sql_text.then_some(columns), "types": types.filter(|_| args.sql_text), "sql": text(Some(one.text())),
        })
    };
    let left = |left: &Left| {
        json!({
            "id": left.seen.id, "why": left.why.words(), "calls": left.seen.calls, "time_s": left.seen.time_s,
            "sql": text(left.seen.text.as_deref()),
        })
    };
    json!({
        "source": picked.source, "notes": picked.notes, "calls": picked.all.0, "time_s": picked.all.1, "reads": picked.reads,
        "folder": args.into, "files": made.map(|made| made.files.iter().map(|(file, _)| file).collect::<Vec<_>>()),
        "undrawn": made.map(|made| made.undrawn),
        "statements": picked.chosen.iter().enumerate().map(statement).collect::<Vec<_>>(),
        "left_out": picked.left.iter().map(left).collect::<Vec<_>>(),
    })
}
