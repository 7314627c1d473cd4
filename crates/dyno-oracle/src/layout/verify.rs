//! Whether a table is what it shall be, measured from the database itself.

use dyno_plan::DataSpec;

use super::super::connection::Connection;
use super::super::sql;
use super::tables::Table;
use dyno_engine::error::{TargetError, TargetErrorKind};
use dyno_engine::load::SchemaFacts;

/// Measures `table`.
///
/// # Errors
/// `Data` if rows, keys or rows per block are not what was asked for.
pub(super) fn measure(
    connection: &Connection,
    spec: &DataSpec,
    table: &Table,
) -> Result<SchemaFacts, TargetError> {
    let name = table.dictionary_name();
    let found = connection.rows(&sql::MEASURE_ROWS.with(&[("table", &table.name())]), &[])?;
    let number = |i| found.first().and_then(|row| row.parse::<u128>(i)).unwrap_or(0);
    judge(table, [0, 1, 2, 3, 4].map(number))?;
    let told = connection.rows(&sql::MEASURE_TABLE.text(), &[("table_name", &name)])?;
    let told = |i| told.first().and_then(|row| row.parse::<u64>(i)).unwrap_or(0);
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
    Ok(SchemaFacts {
        schema: table.schema,
        kind: table.kind.name(),
        // Rows that stand first in their block are as many as there are blocks with rows.
        blocks: u64::try_from(number(4)).unwrap_or(u64::MAX),
        table: name,
        rows: table.rows,
        bytes: told(4),
    })
}

/// Whether some values of the secondary key have the rows that they shall have.
pub(super) fn check_secondary(
    connection: &Connection,
    spec: &DataSpec,
    table: &Table,
) -> Result<(), TargetError> {
    if !table.has_secondary(spec) {
        return Ok(());
    }
    let sql = sql::COUNT_SECONDARY.with(&[("table", &table.name())]);
    for value in [1, spec.groups().div_ceil(2), spec.groups()] {
        let rows = connection.rows(&sql, &[("value", &value)])?;
        let found: u64 = rows.first().and_then(|row| row.parse(0)).unwrap_or(0);
        let wanted = spec.group_rows(value);
        if found != wanted {
            let found = format!("has {found} rows with secondary key {value}, and {wanted} is right");
            return Err(wrong(&table.dictionary_name(), &found));
        }
    }
    Ok(())
}

/// Whether rows, smallest, largest and sum of keys, and rows that stand first in their block are what they shall be. The
/// loader writes each position once, so what could cheat all of them cannot come from it.
fn judge(table: &Table, found: [u128; 5]) -> Result<(), TargetError> {
    let rows = u128::from(table.rows);
    let [there, smallest, largest, sum, blocks] = found;
    if [there, smallest, largest, sum] != [rows, 1, rows, rows * (rows + 1) / 2] {
        let found = format!(
            "holds {there} rows with keys {smallest} to {largest}, and {rows} rows with keys 1 to {rows}, each once, were \
             loaded"
        );
        return Err(wrong(&table.dictionary_name(), &found));
    }
    if blocks != rows {
        let found = format!("holds {rows} rows in {blocks} blocks, and one row per block is the method");
        return Err(wrong(&table.dictionary_name(), &found));
    }
    Ok(())
}

/// That something is wrong with a table.
pub(super) fn wrong(table: &str, found: &str) -> TargetError {
    TargetError::new(TargetErrorKind::Data, format!("table {table} {found}"))
        .hint("`dyno load --replace` drops what Dyno made and loads anew; check that nobody else writes to tables DYNO_…")
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_engine::data::TableKind;

    #[test]
    fn a_table_is_judged_by_its_keys_and_its_blocks() {
        let table = Table { kind: TableKind::Rows, schema: 1, rows: 100 };
        assert!(judge(&table, [100, 1, 100, 5050, 100]).is_ok());
        for (found, words) in [
            ([99, 1, 100, 5050, 99], "holds 99 rows"),
            ([100, 0, 100, 5050, 100], "keys 0 to 100"),
            ([100, 1, 100, 5051, 100], "each once"),
            ([100, 1, 100, 5050, 50], "100 rows in 50 blocks"),
        ] {
            let error = judge(&table, found).unwrap_err();
            assert!(error.message.contains(words), "{error}");
        }
    }
}
