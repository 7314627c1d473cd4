//! Whether the keys of a table are those that were loaded.

use dyno_plan::DataSpec;

use super::super::wire::{Connection, Row};
use super::session::go_by_index;
use super::tables::Table;
use dyno_engine::TargetError;
use dyno_engine::layout::{group_fault, keys_fault};
use dyno_engine::row::first;

pub(super) fn wrong(table: &Table, found: &str) -> TargetError {
    TargetError::data(format!("table {} {found}", table.name()))
        .hint("`dyno load --replace` drops what Dyno made and loads anew; check that nobody else writes to schema dyno")
}

/// Count, smallest, largest and sum of all keys, as [`check_keys`] takes them.
pub(super) const KEYS: &str = "count(*), min(custid), max(custid), sum(custid)";

/// Whether the columns of [`KEYS`] in `row` are those of what was loaded.
pub(super) fn check_keys(table: &Table, row: &Row) -> Result<(), TargetError> {
    let found = [0, 1, 2, 3].map(|column| row.parse(column).unwrap_or(0));
    keys_fault(table.rows, found).map_or(Ok(()), |fault| Err(wrong(table, &fault)))
}

/// Whether some values of the secondary key have the rows that they shall have.
pub(super) fn check_secondary(
    connection: &mut Connection,
    spec: &DataSpec,
    table: &Table,
) -> Result<(), TargetError> {
    if table.secondary_index_name(spec).is_none() {
        return Ok(());
    }
    // Found by the index: all else would read the whole table.
    go_by_index(connection)?;
    let (name, key) = (table.name(), spec.secondary_sql("%"));
    let fault = group_fault(spec, |value| {
        let rows = connection.simple(&format!("SELECT count(*) FROM {name} WHERE ({key}) = {value}"))?;
        Ok::<_, TargetError>(first(&rows, 0))
    })?;
    fault.map_or(Ok(()), |fault| Err(wrong(table, &fault)))
}
