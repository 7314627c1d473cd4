//! Counts and deletes the rows that sessions have inserted: rows after the loaded ones that hold a value of a
//! run.

use dyno_plan::DataSpec;

use super::super::wire::MySqlConnection;
use super::tables::{MySqlRowShape, tables_of_rows};
use dyno_engine::TargetError;
use dyno_engine::row::first;

/// The number of such rows in all schemas.
pub(crate) fn count(connection: &mut MySqlConnection, spec: &DataSpec) -> Result<u64, TargetError> {
    let records = MySqlRowShape::of(spec.block_size)?.records();
    let mut sum = 0;
    for table in tables_of_rows(spec) {
        let (name, last) = (table.name(), records * table.rows);
        let rows =
            connection.simple(&format!("SELECT COUNT(*) FROM {name} WHERE id > {last} AND c2 LIKE 'u%'"))?;
        sum += first::<u64>(&rows, 0).unwrap_or(0);
    }
    Ok(sum)
}

/// Deletes these rows with their spacers; returns the number of rows.
pub(crate) fn delete(connection: &mut MySqlConnection, spec: &DataSpec) -> Result<u64, TargetError> {
    let records = MySqlRowShape::of(spec.block_size)?.records();
    let mut sum = 0;
    for table in tables_of_rows(spec) {
        let (name, last) = (table.name(), records * table.rows);
        connection.simple(&format!(
            "DELETE FROM {name} WHERE id > {last} AND (c2 LIKE 'u%' OR (custid IS NULL AND c2 IS NULL))"
        ))?;
        sum += connection.rows_affected() / records;
    }
    Ok(sum)
}
