//! Checks that the keys of a table are those that were loaded.

use dyno_plan::DataSpec;

use super::super::wire::{PostgresConnection, TextRow};
use super::session::go_by_index;
use super::tables::TestTable;
use dyno_engine::TargetError;
use dyno_engine::layout::{group_fault, keys_fault};
use dyno_engine::row::first;

pub(super) fn table_error(table: &TestTable, fault: &str) -> TargetError {
    TargetError::data(format!("table {} {fault}", table.name())).hint(
        "`dyno load --replace` drops the objects that Dyno created and loads again; check that no \
            other user writes to schema dyno",
    )
}

/// Count, minimum, maximum and sum of all keys, as [`check_keys`] expects them.
pub(super) const KEYS: &str = "count(*), min(custid), max(custid), sum(custid)";

/// Checks the columns of [`KEYS`] in `row` against the loaded keys.
pub(super) fn check_keys(table: &TestTable, row: &TextRow) -> Result<(), TargetError> {
    let actual = [0, 1, 2, 3].map(|column| row.parse(column).unwrap_or(0));
    keys_fault(table.rows, actual).map_or(Ok(()), |fault| Err(table_error(table, &fault)))
}

/// Checks the number of rows for some values of the secondary key.
pub(super) fn check_secondary(
    connection: &mut PostgresConnection,
    spec: &DataSpec,
    table: &TestTable,
) -> Result<(), TargetError> {
    if table.secondary_index_name(spec).is_none() {
        return Ok(());
    }
    // The index is used; any other plan would read the whole table.
    go_by_index(connection)?;
    let (name, key) = (table.name(), spec.secondary_sql("%"));
    let fault = group_fault(spec, |value| {
        let rows = connection.simple(&format!("SELECT count(*) FROM {name} WHERE ({key}) = {value}"))?;
        Ok::<_, TargetError>(first(&rows, 0))
    })?;
    fault.map_or(Ok(()), |fault| Err(table_error(table, &fault)))
}
