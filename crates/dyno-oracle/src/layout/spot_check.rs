//! Checks before a run, from a sample, that the data is still what was loaded.
//!
//! It checks that the table has its own indexes, no others and no trigger. It checks the smallest and largest
//! key and some values of the secondary key, and compares a sample of rows byte for byte. The sample is taken
//! by key if there is an index, otherwise from blocks that the seed selects.

use dyno_plan::DataSpec;

use super::super::connection::{OracleConnection, TextRow};
use super::super::sql;
use super::tables::{TestTable, VIRTUAL, dictionary_name, indexes, tables};
use super::verify::{check_secondary, table_error};
use dyno_engine::TargetError;
use dyno_engine::data::{CLASSIC_COLUMN_BYTES, SPOT_ROWS, order_fault, order_keys};
use dyno_engine::layout::{RowText, checked_key, ends_fault, once_fault, text_columns};
use dyno_engine::row::first;

/// Checks every table of `spec`; another `seed` samples other rows.
///
/// # Errors
/// `Data` names the table and the problem.
pub(crate) fn spot_check(
    connection: &OracleConnection,
    spec: &DataSpec,
    seed: u64,
) -> Result<(), TargetError> {
    for table in tables(spec) {
        check_facts(connection, spec, &table)?;
        let mut text = RowText::new(spec, &table, CLASSIC_COLUMN_BYTES);
        let seed = table.look(seed);
        if table.has_keys() {
            check_ends(connection, &table)?;
            check_keys(connection, &table, &mut text, seed)?;
            check_secondary(connection, spec, &table)?;
        } else {
            check_blocks(connection, &table, &mut text, seed)?;
        }
    }
    Ok(())
}

/// Checks the table's indexes and triggers.
fn check_facts(connection: &OracleConnection, spec: &DataSpec, table: &TestTable) -> Result<(), TargetError> {
    let name = dictionary_name(table);
    let rows = connection.rows(&sql::SPOT_INDEXES.text(), &[("table_name", &name)])?;
    if let Some(fault) = index_fault(&indexes(table, spec), &rows) {
        return Err(table_error(&name, &fault));
    }
    let constraints = connection.rows(&sql::SPOT_CONSTRAINTS.text(), &[("table_name", &name)])?;
    if let Some(constraint) = constraints.first().and_then(|row| row.get(0)) {
        let constraint_fault =
            format!("has a constraint {constraint}, which every change would have to check");
        return Err(table_error(&name, &constraint_fault));
    }
    let triggers = connection.rows(&sql::SPOT_TRIGGERS.text(), &[("table_name", &name)])?;
    if let Some(trigger) = triggers.first().and_then(|row| row.get(0)) {
        return Err(table_error(&name, &format!("has a trigger {trigger}, which adds work to operations")));
    }
    Ok(())
}

/// The problem with the indexes in the dictionary (index, column, status); `None` if there is none.
fn index_fault(wanted: &[(String, &str)], index_rows: &[TextRow]) -> Option<String> {
    let wanted: Vec<(String, String)> =
        wanted.iter().map(|(name, column)| (name.to_uppercase(), column.to_uppercase())).collect();
    for (name, column) in &wanted {
        let is_it = |row: &TextRow| {
            row.get(0) == Some(name.as_str())
                // The manuals do not document the dictionary's name of an indexed virtual column. A separate
                // check tests that the index finds the right rows.
                && (column.eq_ignore_ascii_case(VIRTUAL) || row.get(1) == Some(column.as_str()))
                && row.get(2) == Some("VALID")
        };
        if !index_rows.iter().any(is_it) {
            return Some(format!("has no usable index {name} on {column}"));
        }
    }
    let mut names = index_rows.iter().filter_map(|row| row.get(0));
    let further = names.find(|name| !wanted.iter().any(|(wanted, _)| wanted == name));
    further.map(|index| format!("has a further index {index}, which every update would have to maintain"))
}

/// Checks the smallest and the largest key.
fn check_ends(connection: &OracleConnection, table: &TestTable) -> Result<(), TargetError> {
    let name = dictionary_name(table);
    let end = |statement: sql::OracleSqlFile| -> Result<Option<i64>, TargetError> {
        let rows = connection.rows(&statement.with(&[("table", &table.name())]), &[])?;
        Ok(first(&rows, 0))
    };
    let key_range = (end(sql::SPOT_SMALLEST)?, end(sql::SPOT_LARGEST)?);
    ends_fault("keys", key_range, table.rows).map_or(Ok(()), |fault| Err(table_error(&name, &fault)))
}

fn check_keys(
    connection: &OracleConnection,
    table: &TestTable,
    text: &mut RowText,
    seed: u64,
) -> Result<(), TargetError> {
    let name = dictionary_name(table);
    let sql = sql::SPOT_KEY.with(&[("table", &table.name()), ("text", &text_columns(" || "))]);
    let (wanted, mut found, mut places) = (order_keys(table.rows, seed), Vec::new(), Vec::new());
    // Each key and the next one, to check that they are far apart.
    for key in &wanted {
        for row in connection.rows(&sql, &[("key", key)])? {
            found.push(checked_key(table, &row, text).map_err(|fault| table_error(&name, &fault))?);
            places.extend(row.get(3).and_then(block_of).map(|block| (*key, block)));
        }
    }
    let fault = once_fault(&wanted, &found).or_else(|| order_fault(table.rows, &places));
    fault.map_or(Ok(()), |fault| Err(table_error(&name, &fault)))
}

/// File and block of a rowid as one number, in the order in which a file is written: OOOOOOFFFBBBBBBRRR, each
/// letter six bits ("Rowid Data Types" in the SQL Language Reference).
fn block_of(rowid: &str) -> Option<u64> {
    let digit = |letter: u8| match letter {
        b'A'..=b'Z' => Some(letter - b'A'),
        b'a'..=b'z' => Some(letter - b'a' + 26),
        b'0'..=b'9' => Some(letter - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let letters = rowid.as_bytes().get(6..15)?;
    letters.iter().try_fold(0u64, |number, &letter| Some(number << 6 | u64::from(digit(letter)?)))
}

fn check_blocks(
    connection: &OracleConnection,
    table: &TestTable,
    text: &mut RowText,
    seed: u64,
) -> Result<(), TargetError> {
    let sql = sql::SPOT_BLOCKS.with(&[
        ("table", &table.name()),
        ("text", &text_columns(" || ")),
        ("pct", &sample_pct(table.rows)),
        // The largest seed that SAMPLE accepts.
        ("seed", &(seed & u64::from(u32::MAX)).to_string()),
    ]);
    for row in connection.rows(&sql, &[])? {
        checked_key(table, &row, text).map_err(|fault| table_error(&dictionary_name(table), &fault))?;
    }
    Ok(())
}

/// The percentage of blocks that contain about [`SPOT_ROWS`] rows, in SAMPLE's range: above 0 and below 100
/// %.
fn sample_pct(rows: u64) -> String {
    let pct = 100.0 * SPOT_ROWS as f64 / rows.max(1) as f64;
    format!("{:.6}", pct.clamp(0.000_001, 99.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_number_is_decoded_from_rowid() {
        assert_eq!(block_of("AAAR3sAAEAAAACXAAA"), Some(4 << 36 | 151));
        assert_eq!(block_of("AAAR3sAAEAAAACYAAA"), Some(4 << 36 | 152));
        assert_eq!(block_of("short"), None);
    }

    #[test]
    fn sample_percentage_stays_within_database_limits() {
        assert_eq!(sample_pct(1), "99.000000");
        assert_eq!(sample_pct(64_000), "0.100000");
        assert_eq!(sample_pct(u64::MAX), "0.000001");
    }

    #[test]
    fn missing_or_extra_indexes_are_reported() {
        let index = |name: &str, column| (name.to_owned(), column);
        let row = |cells: [&str; 3]| TextRow(cells.map(|cell| Some(cell.to_owned())).to_vec());
        let main = row(["DYNO_ROWS_1_CUSTID", "CUSTID", "VALID"]);
        let secondary = row(["DYNO_ROWS_1_SEC", "SEC", "VALID"]);
        let older = [index("dyno_rows_1_custid", "custid")];
        let newer = [older[0].clone(), index("dyno_rows_1_sec", "sec")];
        let index_pair = [main.clone(), secondary];
        assert_eq!(index_fault(&newer, &index_pair), None);
        assert_eq!(index_fault(&older, &index_pair[..1]), None);
        assert_eq!(index_fault(&[], &[]), None, "a table for scans");
        for (wanted, actual, words) in [
            (&newer[..], &index_pair[..1], "no usable index DYNO_ROWS_1_SEC on SEC"),
            (&older[..], &index_pair[..], "a further index DYNO_ROWS_1_SEC"),
            (&[][..], &index_pair[..1], "a further index DYNO_ROWS_1_CUSTID"),
            (&newer[..], &[main, row(["DYNO_ROWS_1_SEC", "SEC", "UNUSABLE"])][..], "no usable index"),
        ] {
            let fault = index_fault(wanted, actual).unwrap();
            assert!(fault.contains(words), "{fault}");
        }
    }
}
