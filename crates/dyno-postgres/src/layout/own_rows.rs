//! Rows that sessions have inserted themselves: those above the loaded keys that hold a value of a run.

use dyno_plan::DataSpec;

use super::super::wire::Connection;
use super::deletions;
use super::session::go_by_index;
use super::tables::{Table, tables_of_rows};
use dyno_engine::TargetError;
use dyno_engine::row::first;

/// Which rows these are.
fn condition(table: &Table) -> String {
    format!("FROM {} WHERE custid > {} AND c2 LIKE 'u%'", table.name(), table.rows)
}

/// How many there are in all schemas.
pub(crate) fn count(connection: &mut Connection, spec: &DataSpec) -> Result<u64, TargetError> {
    // Found by the index, whatever the planner knows of keys that were not there when it last looked.
    go_by_index(connection)?;
    let mut sum = 0;
    for table in tables_of_rows(spec) {
        let rows = connection.simple(&format!("SELECT count(*) {}", condition(&table)))?;
        sum += first::<u64>(&rows, 0).unwrap_or(0);
    }
    Ok(sum)
}

/// Table and block of each of them.
pub(crate) fn places(connection: &mut Connection, spec: &DataSpec) -> Result<Vec<String>, TargetError> {
    go_by_index(connection)?;
    let mut places = Vec::new();
    for table in tables_of_rows(spec) {
        let rows =
            connection.simple(&format!("SELECT split_part(ctid::text, ',', 1) {}", condition(&table)))?;
        places.extend(rows.iter().filter_map(|row| Some(format!("{} {}", table.name(), row.get(0)?))));
    }
    Ok(places)
}

/// Deletes them, and notes that it was Dyno who did; returns how many they were.
pub(crate) fn delete(connection: &mut Connection, spec: &DataSpec) -> Result<u64, TargetError> {
    go_by_index(connection)?;
    let mut sum = 0;
    for table in tables_of_rows(spec) {
        connection.simple(&format!("DELETE {}", condition(&table)))?;
        sum += connection.rows_affected();
    }
    if sum > 0 {
        deletions::add(connection, sum)?;
    }
    Ok(sum)
}
