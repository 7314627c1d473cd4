//! Executes the user's own statements and returns their rows as text.

use std::sync::Arc;

use dyno_engine::error::TargetError;
use dyno_engine::{RowCallback, TextRow};
use rusqlite::types::ValueRef;

use crate::connect::{Params, Purpose};
use crate::fault::SqliteErrorContext as _;
use crate::layout;

/// Executes `statements` in order on one connection; `told` receives the rows of each.
pub(crate) fn run(params: &Params, statements: &[&str], on_rows: RowCallback<'_>) -> Result<(), TargetError> {
    // The connection must leave the file in the state that sessions expect.
    layout::create_if_missing(params)?;
    let link = params.connect(Purpose::Work, &Arc::default())?;
    for sql in statements {
        let mut statement = link.conn.prepare(sql).doing("read a statement")?;
        let columns = statement.column_count();
        let mut rows = statement.raw_query();
        let mut all = Vec::new();
        while let Some(row) = rows.next().doing("do a statement")? {
            let texts = (0..columns).map(|column| row.get_ref(column).ok().and_then(text));
            all.push(TextRow(texts.collect()));
        }
        on_rows(all)?;
    }
    Ok(())
}

/// SQLite's plan for `sql`: one line per step, with nested steps indented.
pub(crate) fn explain(params: &Params, sql: &str) -> Result<Vec<String>, TargetError> {
    let mut steps = Vec::new();
    run(params, &[&format!("EXPLAIN QUERY PLAN {sql}")], &mut |rows| {
        steps = rows;
        Ok(())
    })?;
    let mut depths = vec![(0_i64, 0)];
    let mut lines = Vec::new();
    for step in &steps {
        let (id, parent) = (step.parse(0).unwrap_or(0), step.parse::<i64>(1).unwrap_or(0));
        let depth = depths.iter().find(|(known, _)| *known == parent).map_or(0, |(_, depth)| *depth);
        depths.push((id, depth + 1));
        lines.push(format!("{}{}", "  ".repeat(depth), step.text(3)));
    }
    Ok(lines)
}

/// A value as SQLite itself would print it.
fn text(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
    }
}
