//! Counts and deletes the rows that sessions have inserted: rows above the loaded keys that hold a value of a
//! run.

use dyno_plan::DataSpec;

use super::super::wire::PostgresConnection;
use super::deletions;
use super::session::go_by_index;
use super::tables::{TestTable, tables_of_rows};
use dyno_engine::TargetError;
use dyno_engine::row::first;

/// The condition that selects these rows.
fn condition(table: &TestTable) -> String {
    format!("FROM {} WHERE custid > {} AND c2 LIKE 'u%'", table.name(), table.rows)
}

/// The number of such rows in all schemas.
pub(crate) fn count(connection: &mut PostgresConnection, spec: &DataSpec) -> Result<u64, TargetError> {
    // The index is used even if the planner's statistics do not include these keys.
    go_by_index(connection)?;
    let mut sum = 0;
    for table in tables_of_rows(spec) {
        let rows = connection.simple(&format!("SELECT count(*) {}", condition(&table)))?;
        sum += first::<u64>(&rows, 0).unwrap_or(0);
    }
    Ok(sum)
}

/// Table and block of each such row.
pub(crate) fn places(
    connection: &mut PostgresConnection,
    spec: &DataSpec,
) -> Result<Vec<String>, TargetError> {
    go_by_index(connection)?;
    let mut places = Vec::new();
    for table in tables_of_rows(spec) {
        let rows =
            connection.simple(&format!("SELECT split_part(ctid::text, ',', 1) {}", condition(&table)))?;
        places.extend(rows.iter().filter_map(|row| Some(format!("{} {}", table.name(), row.get(0)?))));
    }
    Ok(places)
}

/// Deletes these rows and records that Dyno did so; returns their number.
pub(crate) fn delete(connection: &mut PostgresConnection, spec: &DataSpec) -> Result<u64, TargetError> {
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
