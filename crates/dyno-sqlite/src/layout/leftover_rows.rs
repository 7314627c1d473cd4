//! Counts and deletes the rows that sessions have inserted: rows above the loaded keys that hold a value of a
//! run.

use dyno_plan::DataSpec;
use rusqlite::Connection;

use super::names::{SqliteTable, tables};
use crate::fault::{SqliteError, SqliteErrorContext};
use dyno_engine::TargetError;
use dyno_engine::data::TableKind;

const DOING: &str = "find the rows that a run inserted";

fn with_own_rows(spec: &DataSpec) -> impl Iterator<Item = SqliteTable> {
    tables(spec).into_iter().filter(|table| table.kind == TableKind::Rows)
}

/// The condition that selects these rows.
fn condition(table: SqliteTable) -> String {
    format!("FROM {} WHERE custid > {} AND substr(c2, 1, 1) = 'u'", table.name(), table.rows)
}

/// The number of such rows in all schemas.
pub(crate) fn count(conn: &Connection, spec: &DataSpec) -> Result<u64, TargetError> {
    let mut sum = 0;
    for table in with_own_rows(spec) {
        let sql = format!("SELECT COUNT(*) {}", condition(table));
        let rows: u64 = conn.query_row(&sql, [], |row| row.get(0)).doing(DOING)?;
        sum += rows;
    }
    Ok(sum)
}

/// Deletes these rows; returns their number.
pub(crate) fn delete(conn: &Connection, spec: &DataSpec) -> Result<u64, TargetError> {
    let delete = || -> Result<u64, SqliteError> {
        let transaction = conn.unchecked_transaction()?;
        let mut sum = 0;
        for table in with_own_rows(spec) {
            sum += conn.execute(&format!("DELETE {}", condition(table)), [])? as u64;
        }
        transaction.commit()?;
        Ok(sum)
    };
    delete().doing("delete the rows that a run inserted")
}
