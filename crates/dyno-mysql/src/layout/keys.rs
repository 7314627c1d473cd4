//! Whether the keys of a table are those that were loaded.

use dyno_plan::DataSpec;

use super::super::wire::Connection;
use super::tables::{Shape, Table};
use dyno_engine::TargetError;
use dyno_engine::layout::group_fault;
use dyno_engine::row::first;

/// That something is wrong with a table.
pub(super) fn wrong(table: &str, found: &str) -> TargetError {
    TargetError::data(format!("table {table} {found}"))
        .hint("`dyno load --replace` drops what Dyno made and loads anew; check that nobody else writes to tables dyno_…")
}

/// Keys are `1..=rows` if count, smallest, largest and sum are theirs; the loader writes each position once, so what could
/// cheat all four cannot come from it. Records are more: each row has its spacers.
pub(super) fn check_keys(
    connection: &mut Connection,
    table: &Table,
    shape: Shape,
) -> Result<(), TargetError> {
    let name = table.name();
    let found = connection.simple(&format!(
        "SELECT COUNT(*), COUNT(custid), MIN(custid), MAX(custid), SUM(custid) FROM {name}"
    ))?;
    let number = |i| first::<u128>(&found, i).unwrap_or(0);
    let rows = u128::from(table.rows);
    let expected = [u128::from(shape.records()) * rows, rows, 1, rows, rows * (rows + 1) / 2];
    let found = [0, 1, 2, 3, 4].map(number);
    if found == expected {
        return Ok(());
    }
    let [records, rows_found, min, max, _] = found;
    let what = format!(
        "holds {rows_found} rows with keys {min} to {max} and {} spacers, and {rows} rows with keys 1 to {rows}, each once \
         and with its spacers, were loaded",
        records - rows_found.min(records)
    );
    Err(wrong(&name, &what))
}

/// Whether some values of the secondary key have the rows that they shall have.
pub(super) fn check_secondary(
    connection: &mut Connection,
    spec: &DataSpec,
    table: &Table,
) -> Result<(), TargetError> {
    let Some(index) = table.secondary_index_name(spec) else { return Ok(()) };
    let name = table.name();
    let fault = group_fault(spec, |value| {
        let sql = format!("SELECT COUNT(*) FROM {name} FORCE INDEX ({index}) WHERE sec = {value}");
        Ok::<_, TargetError>(first(&connection.simple(&sql)?, 0))
    })?;
    fault.map_or(Ok(()), |fault| Err(wrong(&name, &fault)))
}
