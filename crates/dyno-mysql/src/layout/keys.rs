//! Checks that the keys of a table are those that were loaded.

use dyno_plan::DataSpec;

use super::super::wire::MySqlConnection;
use super::tables::{MySqlRowShape, TestTable};
use dyno_engine::TargetError;
use dyno_engine::layout::group_fault;
use dyno_engine::row::first;

/// The error for a table that does not match the load.
pub(super) fn table_error(table: &str, fault: &str) -> TargetError {
    TargetError::data(format!("table {table} {fault}")).hint(
        "`dyno load --replace` drops the objects that Dyno created and loads again; check that no \
            other user writes to tables dyno_…",
    )
}

/// Checks the keys by count, minimum, maximum and sum. The keys are `1..=rows` if all four match: the loader
/// writes each position once, so other combinations cannot come from it. The table has more records than rows
/// because of the spacers.
pub(super) fn check_keys(
    connection: &mut MySqlConnection,
    table: &TestTable,
    shape: MySqlRowShape,
) -> Result<(), TargetError> {
    let name = table.name();
    let summary_rows = connection.simple(&format!(
        "SELECT COUNT(*), COUNT(custid), MIN(custid), MAX(custid), SUM(custid) FROM {name}"
    ))?;
    let number = |i| first::<u128>(&summary_rows, i).unwrap_or(0);
    let rows = u128::from(table.rows);
    let expected = [u128::from(shape.records()) * rows, rows, 1, rows, rows * (rows + 1) / 2];
    let actual = [0, 1, 2, 3, 4].map(number);
    if actual == expected {
        return Ok(());
    }
    let [records, rows_found, min, max, _] = actual;
    let fault = format!(
        "has {rows_found} rows with keys {min} to {max} and {} spacers, but the load wrote {rows} rows \
        with keys 1 to {rows}, each once and with its spacers",
        records - rows_found.min(records)
    );
    Err(table_error(&name, &fault))
}

/// Checks the number of rows for some values of the secondary key.
pub(super) fn check_secondary(
    connection: &mut MySqlConnection,
    spec: &DataSpec,
    table: &TestTable,
) -> Result<(), TargetError> {
    let Some(index) = table.secondary_index_name(spec) else { return Ok(()) };
    let name = table.name();
    let fault = group_fault(spec, |value| {
        let sql = format!("SELECT COUNT(*) FROM {name} FORCE INDEX ({index}) WHERE sec = {value}");
        Ok::<_, TargetError>(first(&connection.simple(&sql)?, 0))
    })?;
    fault.map_or(Ok(()), |fault| Err(table_error(&name, &fault)))
}
