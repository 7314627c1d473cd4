//! Reads every row's version for the check of updates.

use dyno_plan::DataSpec;
use rusqlite::Connection;

use super::names::{SqliteTable, tables};
use crate::fault::{SqliteError, SqliteErrorContext};
use dyno_engine::data::{TableKind, UpdateValues};
use dyno_engine::{RowVersion, TargetError};

/// Calls `visit` for every row of the tables that updates modify.
pub(crate) fn versions(
    conn: &Connection,
    spec: &DataSpec,
    visit: &mut dyn FnMut(&RowVersion<'_>),
) -> Result<(), TargetError> {
    for table in tables(spec).into_iter().filter(|table| table.kind == TableKind::Rows) {
        read(conn, table, visit).doing("read the versions of rows")?;
    }
    Ok(())
}

fn read(
    conn: &Connection,
    table: SqliteTable,
    visit: &mut dyn FnMut(&RowVersion<'_>),
) -> Result<(), SqliteError> {
    let sql =
        format!("SELECT custid, ver, substr(c2, 1, {}) FROM {}", UpdateValues::STAMP_BYTES, table.name());
    let mut statement = conn.prepare(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        visit(&RowVersion {
            schema: table.schema,
            // Keys below 1 are not Dyno's, whatever their value.
            key: u64::try_from(row.get::<_, i64>(0)?).unwrap_or(0),
            version: row.get(1)?,
            stamp: row.get_ref(2)?.as_str().unwrap_or_default(),
        });
    }
    Ok(())
}
