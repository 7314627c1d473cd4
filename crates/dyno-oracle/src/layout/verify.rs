//! Measures in the database whether a table matches its spec.

use dyno_plan::DataSpec;

use super::super::connection::OracleConnection;
use super::super::sql;
use super::tables::{TestTable, dictionary_name};
use dyno_engine::layout::{group_fault, keys_fault};
use dyno_engine::row::first;
use dyno_engine::{SchemaFacts, TargetError};

/// Measures `table` and checks its rows.
///
/// # Errors
/// `Data` if rows, keys or rows per block do not match the spec.
pub(super) fn measure(
    connection: &OracleConnection,
    spec: &DataSpec,
    table: &TestTable,
) -> Result<SchemaFacts, TargetError> {
    let name = dictionary_name(table);
    let row_totals = connection.rows(&sql::MEASURE_ROWS.with(&[("table", &table.name())]), &[])?;
    let number = |i| first::<u128>(&row_totals, i).unwrap_or(0);
    check_totals(table, [0, 1, 2, 3, 4].map(number))?;
    let statistics_rows = connection.rows(&sql::MEASURE_TABLE.text(), &[("table_name", &name)])?;
    let statistic = |i| first::<u64>(&statistics_rows, i).unwrap_or(0);
    let (counted, below_mark, pctfree) = (statistic(0), statistic(1), statistic(2));
    // The optimizer's statistics cover all rows; the exact count was made above.
    let off = counted.abs_diff(table.rows) > table.rows / 100;
    if off || below_mark < table.rows || pctfree != 99 {
        let fault = format!(
            "has {counted} rows in {below_mark} blocks and PCTFREE {pctfree} by its statistics, but {} \
            rows were loaded with PCTFREE 99",
            table.rows
        );
        return Err(table_error(&name, &fault));
    }
    check_secondary(connection, spec, table)?;
    // The number of rows that are the first in their block is the number of blocks with rows.
    Ok(table.facts(name, u64::try_from(number(4)).unwrap_or(u64::MAX), statistic(4)))
}

/// Checks the number of rows for some values of the secondary key.
pub(super) fn check_secondary(
    connection: &OracleConnection,
    spec: &DataSpec,
    table: &TestTable,
) -> Result<(), TargetError> {
    if table.secondary_index_name(spec).is_none() {
        return Ok(());
    }
    let sql = sql::COUNT_SECONDARY.with(&[("table", &table.name())]);
    let fault = group_fault(spec, |value| {
        Ok::<_, TargetError>(first(&connection.rows(&sql, &[("value", &value)])?, 0))
    })?;
    fault.map_or(Ok(()), |fault| Err(table_error(&dictionary_name(table), &fault)))
}

/// Checks rows, smallest, largest and sum of keys, and the number of rows that are the first in their block.
fn check_totals(
    table: &TestTable,
    [rows, smallest, largest, sum, blocks]: [u128; 5],
) -> Result<(), TargetError> {
    let shared = format!("has {rows} rows in {blocks} blocks, but the method requires one row per block");
    let fault = keys_fault(table.rows, [rows, smallest, largest, sum]);
    let fault = fault.or_else(|| (blocks != rows).then_some(shared));
    fault.map_or(Ok(()), |fault| Err(table_error(&dictionary_name(table), &fault)))
}

/// The error for a table that does not match the load.
pub(super) fn table_error(table: &str, fault: &str) -> TargetError {
    TargetError::data(format!("table {table} {fault}")).hint(
        "`dyno load --replace` drops the objects that Dyno created and loads again; check that no \
            other user writes to tables DYNO_…",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_engine::data::TableKind;

    #[test]
    fn a_table_is_judged_by_its_keys_and_its_blocks() {
        let table = TestTable { prefix: "dyno_", kind: TableKind::Rows, schema: 1, rows: 100 };
        assert!(check_totals(&table, [100, 1, 100, 5050, 100]).is_ok());
        for (found, words) in
            [([99, 1, 100, 5050, 99], "has 99 rows"), ([100, 1, 100, 5050, 50], "100 rows in 50 blocks")]
        {
            let error = check_totals(&table, found).unwrap_err();
            assert!(error.message.contains(words), "{error}");
        }
    }
}
