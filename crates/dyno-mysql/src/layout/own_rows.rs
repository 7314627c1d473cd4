//! Rows that sessions have inserted themselves: those behind the loaded ones that hold a value of a run.

use dyno_plan::DataSpec;

use super::super::wire::Connection;
use super::tables::{Shape, tables_of_rows};
use dyno_engine::TargetError;
use dyno_engine::row::first;

/// How many there are in all schemas.
pub(crate) fn count(connection: &mut Connection, spec: &DataSpec) -> Result<u64, TargetError> {
    let records = Shape::of(spec.block_size)?.records();
    let mut sum = 0;
    for table in tables_of_rows(spec) {
        let (name, last) = (table.name(), records * table.rows);
        let rows =
            connection.simple(&format!("SELECT COUNT(*) FROM {name} WHERE id > {last} AND c2 LIKE 'u%'"))?;
        sum += first::<u64>(&rows, 0).unwrap_or(0);
    }
    Ok(sum)
}

/// Deletes them with their spacers; returns how many they were.
pub(crate) fn delete(connection: &mut Connection, spec: &DataSpec) -> Result<u64, TargetError> {
    let records = Shape::of(spec.block_size)?.records();
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
