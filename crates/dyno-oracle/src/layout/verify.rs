//! Whether a table is what it shall be, measured from the database itself.

use dyno_plan::DataSpec;

use super::super::connection::Connection;
use super::super::sql;
use super::tables::{Table, dictionary_name};
use dyno_engine::layout::{group_fault, keys_fault};
use dyno_engine::row::first;
use dyno_engine::{SchemaFacts, TargetError};

/// Measures `table`.
///
/// # Errors
/// `Data` if rows, keys or rows per block are not what was asked for.
pub(super) fn measure(
    connection: &Connection,
    spec: &DataSpec,
    table: &Table,
) -> Result<SchemaFacts, TargetError> {
    let name = dictionary_name(table);
    let found = connection.rows(&sql::MEASURE_ROWS.with(&[("table", &table.name())]), &[])?;
    let number = |i| first::<u128>(&found, i).unwrap_or(0);
    judge(table, [0, 1, 2, 3, 4].map(number))?;
    let told = connection.rows(&sql::MEASURE_TABLE.text(), &[("table_name", &name)])?;
    let told = |i| first::<u64>(&told, i).unwrap_or(0);
    let (counted, below_mark, pctfree) = (told(0), told(1), told(2));
    // The statistics are of all rows; what counts them exactly stands above.
    let off = counted.abs_diff(table.rows) > table.rows / 100;
    if off || below_mark < table.rows || pctfree != 99 {
        let found = format!(
            "has {counted} rows in {below_mark} blocks and PCTFREE {pctfree} by its statistics, and {} rows were loaded \
             with PCTFREE 99",
            table.rows
        );
        return Err(wrong(&name, &found));
    }
    check_secondary(connection, spec, table)?;
    // Rows that stand first in their block are as many as there are blocks with rows.
    Ok(table.facts(name, u64::try_from(number(4)).unwrap_or(u64::MAX), told(4)))
}

/// Whether some values of the secondary key have the rows that they shall have.
pub(super) fn check_secondary(
    connection: &Connection,
    spec: &DataSpec,
    table: &Table,
) -> Result<(), TargetError> {
    if table.secondary_index_name(spec).is_none() {
        return Ok(());
    }
    let sql = sql::COUNT_SECONDARY.with(&[("table", &table.name())]);
    let fault = group_fault(spec, |value| {
        Ok::<_, TargetError>(first(&connection.rows(&sql, &[("value", &value)])?, 0))
    })?;
    fault.map_or(Ok(()), |fault| Err(wrong(&dictionary_name(table), &fault)))
}

/// Whether rows, smallest, largest and sum of keys, and rows that stand first in their block are what they shall be.
fn judge(table: &Table, [rows, smallest, largest, sum, blocks]: [u128; 5]) -> Result<(), TargetError> {
    let shared = format!("holds {rows} rows in {blocks} blocks, and one row per block is the method");
    let fault = keys_fault(table.rows, [rows, smallest, largest, sum]);
    let fault = fault.or_else(|| (blocks != rows).then_some(shared));
    fault.map_or(Ok(()), |fault| Err(wrong(&dictionary_name(table), &fault)))
}

/// That something is wrong with a table.
pub(super) fn wrong(table: &str, found: &str) -> TargetError {
    TargetError::data(format!("table {table} {found}"))
        .hint("`dyno load --replace` drops what Dyno made and loads anew; check that nobody else writes to tables DYNO_…")
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_engine::data::TableKind;

    #[test]
    fn a_table_is_judged_by_its_keys_and_its_blocks() {
        let table = Table { prefix: "dyno_", kind: TableKind::Rows, schema: 1, rows: 100 };
        assert!(judge(&table, [100, 1, 100, 5050, 100]).is_ok());
        for (found, words) in
            [([99, 1, 100, 5050, 99], "holds 99 rows"), ([100, 1, 100, 5050, 50], "100 rows in 50 blocks")]
        {
            let error = judge(&table, found).unwrap_err();
            assert!(error.message.contains(words), "{error}");
        }
    }
}
