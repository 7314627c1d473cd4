//! Counts and deletes the rows that sessions have inserted: rows above the loaded keys that hold a value of a
//! run.

use dyno_plan::DataSpec;

use super::super::connection::OracleConnection;
use super::super::sql;
use super::tables::tables_of_rows;
use dyno_engine::TargetError;
use dyno_engine::row::first;

/// The most rows that one transaction deletes, which needs some tens of megabytes of undo.
const SWEPT_ROWS: u64 = 10_000;

/// The number of such rows in all schemas.
pub(crate) fn count(connection: &OracleConnection, spec: &DataSpec) -> Result<u64, TargetError> {
    let mut sum = 0;
    for table in tables_of_rows(spec) {
        let sql = sql::OWN_ROWS.with(&[("table", &table.name())]);
        let rows = connection.rows(&sql, &[("last_key", &table.rows)])?;
        sum += first::<u64>(&rows, 0).unwrap_or(0);
    }
    Ok(sum)
}

/// Table, file and block of each such row.
pub(crate) fn places(connection: &OracleConnection, spec: &DataSpec) -> Result<Vec<String>, TargetError> {
    let mut places = Vec::new();
    for table in tables_of_rows(spec) {
        let sql = sql::OWN_PLACES.with(&[("table", &table.name())]);
        let rows = connection.rows(&sql, &[("last_key", &table.rows)])?;
        // The last three letters of a rowid are the row's number within its block.
        let blocks = rows.iter().filter_map(|row| row.get(0)?.get(..15));
        places.extend(blocks.map(|block| format!("{} {block}", table.name())));
    }
    Ok(places)
}

/// Deletes these rows; returns their number.
pub(crate) fn delete(connection: &OracleConnection, spec: &DataSpec) -> Result<u64, TargetError> {
    let mut sum = 0;
    for table in tables_of_rows(spec) {
        let sql = sql::SWEEP_UP.with(&[("table", &table.name())]);
        loop {
            let swept = connection.run(&sql, &[("last_key", &table.rows), ("most", &SWEPT_ROWS)])?;
            connection.commit()?;
            sum += swept;
            if swept < SWEPT_ROWS {
                break;
            }
        }
    }
    Ok(sum)
}
