//! Whether the keys of a table are those that were loaded.

use dyno_plan::DataSpec;

use super::super::wire::Connection;
use super::tables::Table;
use dyno_engine::error::{TargetError, TargetErrorKind};

pub(super) fn wrong(table: &str, found: &str) -> TargetError {
    TargetError::new(TargetErrorKind::Data, format!("table {table} {found}"))
        .hint("`dyno load --replace` drops what Dyno made and loads anew; check that nobody else writes to schema dyno")
}

/// Keys are `1..=rows` if count, smallest, largest and sum are theirs; the loader writes each position once, so what could
/// cheat all four cannot come from it.
pub(super) fn check_keys(
    table: &Table,
    count: u64,
    min: Option<u64>,
    max: Option<u64>,
    sum: Option<u128>,
) -> Result<(), TargetError> {
    let rows = table.rows;
    let expected_sum = u128::from(rows) * (u128::from(rows) + 1) / 2;
    if (count, min, max, sum) == (rows, Some(1), Some(rows), Some(expected_sum)) {
        return Ok(());
    }
    let found = format!(
        "holds {count} rows with keys {} to {}, and {rows} rows with keys 1 to {rows}, each once, were loaded",
        min.unwrap_or(0),
        max.unwrap_or(0)
    );
    Err(wrong(&table.full_name(), &found))
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
    connection.simple("SET enable_seqscan = off")?;
    for value in [1, spec.groups().div_ceil(2), spec.groups()] {
        let (name, key) = (table.full_name(), spec.secondary_sql("%"));
        let rows = connection.simple(&format!("SELECT count(*) FROM {name} WHERE ({key}) = {value}"))?;
        let found: Option<u64> = rows.first().and_then(|row| row.parse(0));
        let wanted = spec.group_rows(value);
        if found != Some(wanted) {
            let found = format!(
                "has {} rows with secondary key {value}, and {wanted} is right",
                found.unwrap_or_default()
            );
            return Err(wrong(&name, &found));
        }
    }
    Ok(())
}
