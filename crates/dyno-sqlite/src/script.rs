//! Statements of the user's own, with their rows as text.

use std::sync::Arc;

use dyno_engine::error::TargetError;
use dyno_engine::{Row, Told};
use rusqlite::types::ValueRef;

use crate::connect::{Params, Purpose};
use crate::fault::Doing as _;

/// Does `statements`, one after the other on one connection; `told` hears the rows of each.
pub(crate) fn run(params: &Params, statements: &[&str], told: Told<'_>) -> Result<(), TargetError> {
    // One that loads makes the file; one that works leaves it as sessions will find it.
    drop(params.connect(Purpose::Load, &Arc::default())?);
    let link = params.connect(Purpose::Work, &Arc::default())?;
    for sql in statements {
        let mut statement = link.conn.prepare(sql).doing("read a statement")?;
        let columns = statement.column_count();
        let mut rows = statement.raw_query();
        let mut all = Vec::new();
        while let Some(row) = rows.next().doing("do a statement")? {
            let texts = (0..columns).map(|column| row.get_ref(column).ok().and_then(text));
            all.push(Row(texts.collect()));
        }
        told(all)?;
    }
    Ok(())
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
