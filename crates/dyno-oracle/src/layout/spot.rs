//! Whether the data is still what was loaded, found out before a run and without reading it all.
//!
//! The table's indexes and no other, no trigger, the smallest and largest key, some values of the secondary key, and a sample
//! of rows compared byte for byte: by key where there is an index, by blocks that the seed chooses where there is none.

use dyno_plan::DataSpec;

use super::super::connection::{Connection, Row};
use super::super::sql;
use super::tables::{Table, VIRTUAL, dictionary_name, indexes, tables};
use super::verify::{check_secondary, wrong};
use dyno_engine::TargetError;
use dyno_engine::data::{CLASSIC_COLUMN_BYTES, SPOT_ROWS, order_fault, order_keys};
use dyno_engine::layout::{RowText, checked_key, ends_fault, once_fault, text_columns};
use dyno_engine::row::first;

/// Looks at every table of `spec`; another `seed` looks at other rows.
///
/// # Errors
/// `Data` names the table and what is wrong with it.
pub(crate) fn spot_check(connection: &Connection, spec: &DataSpec, seed: u64) -> Result<(), TargetError> {
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

/// Its indexes and triggers.
fn check_facts(connection: &Connection, spec: &DataSpec, table: &Table) -> Result<(), TargetError> {
    let name = dictionary_name(table);
    let rows = connection.rows(&sql::SPOT_INDEXES.text(), &[("table_name", &name)])?;
    if let Some(fault) = index_fault(&indexes(table, spec), &rows) {
        return Err(wrong(&name, &fault));
    }
    let constraints = connection.rows(&sql::SPOT_CONSTRAINTS.text(), &[("table_name", &name)])?;
    if let Some(constraint) = constraints.first().and_then(|row| row.get(0)) {
        let found = format!("has a constraint {constraint}, which every change would have to be checked for");
        return Err(wrong(&name, &found));
    }
    let triggers = connection.rows(&sql::SPOT_TRIGGERS.text(), &[("table_name", &name)])?;
    if let Some(trigger) = triggers.first().and_then(|row| row.get(0)) {
        return Err(wrong(&name, &format!("has a trigger {trigger}, which does work of its own")));
    }
    Ok(())
}

/// What is wrong with the indexes in the dictionary (index, column, status), if anything.
fn index_fault(wanted: &[(String, &str)], found: &[Row]) -> Option<String> {
    let wanted: Vec<(String, String)> =
        wanted.iter().map(|(name, column)| (name.to_uppercase(), column.to_uppercase())).collect();
    for (name, column) in &wanted {
        let is_it = |row: &Row| {
            row.get(0) == Some(name.as_str())
                // What the dictionary calls a virtual column that is indexed is not written down in the manuals; whether
                // the index finds the right rows is looked at all the same.
                && (column.eq_ignore_ascii_case(VIRTUAL) || row.get(1) == Some(column.as_str()))
                && row.get(2) == Some("VALID")
        };
        if !found.iter().any(is_it) {
            return Some(format!("has no usable index {name} on {column}"));
        }
    }
    let mut names = found.iter().filter_map(|row| row.get(0));
    let further = names.find(|name| !wanted.iter().any(|(wanted, _)| wanted == name));
    further.map(|index| format!("has a further index {index}, which every update would have to keep"))
}

/// The smallest and the largest key.
fn check_ends(connection: &Connection, table: &Table) -> Result<(), TargetError> {
    let name = dictionary_name(table);
    let end = |statement: sql::Statement| -> Result<Option<i64>, TargetError> {
        let rows = connection.rows(&statement.with(&[("table", &table.name())]), &[])?;
        Ok(first(&rows, 0))
    };
    let found = (end(sql::SPOT_SMALLEST)?, end(sql::SPOT_LARGEST)?);
    ends_fault("keys", found, table.rows).map_or(Ok(()), |fault| Err(wrong(&name, &fault)))
}

fn check_keys(
    connection: &Connection,
    table: &Table,
    text: &mut RowText,
    seed: u64,
) -> Result<(), TargetError> {
    let name = dictionary_name(table);
    let sql = sql::SPOT_KEY.with(&[("table", &table.name()), ("text", &text_columns(" || "))]);
    let (wanted, mut found, mut places) = (order_keys(table.rows, seed), Vec::new(), Vec::new());
    // A key and the next: whether they lie far apart is looked at, too.
    for key in &wanted {
        for row in connection.rows(&sql, &[("key", key)])? {
            found.push(checked_key(table, &row, text).map_err(|fault| wrong(&name, &fault))?);
            places.extend(row.get(3).and_then(block_of).map(|block| (*key, block)));
        }
    }
    let fault = once_fault(&wanted, &found).or_else(|| order_fault(table.rows, &places));
    fault.map_or(Ok(()), |fault| Err(wrong(&name, &fault)))
}

/// File and block of a rowid as one number, in the order in which a file is written: OOOOOOFFFBBBBBBRRR, each letter six bits
/// ("Rowid Data Types" in the SQL Language Reference).
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
    connection: &Connection,
    table: &Table,
    text: &mut RowText,
    seed: u64,
) -> Result<(), TargetError> {
    let sql = sql::SPOT_BLOCKS.with(&[
        ("table", &table.name()),
        ("text", &text_columns(" || ")),
        ("pct", &sample_pct(table.rows)),
        // The largest seed that SAMPLE takes.
        ("seed", &(seed & u64::from(u32::MAX)).to_string()),
    ]);
    for row in connection.rows(&sql, &[])? {
        checked_key(table, &row, text).map_err(|fault| wrong(&dictionary_name(table), &fault))?;
    }
    Ok(())
}

/// The share of blocks in which about [`SPOT_ROWS`] rows lie, as SAMPLE takes it: above 0 and below 100 %.
fn sample_pct(rows: u64) -> String {
    let pct = 100.0 * SPOT_ROWS as f64 / rows.max(1) as f64;
    format!("{:.6}", pct.clamp(0.000_001, 99.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_in_the_order_of_their_rowids() {
        assert_eq!(block_of("AAAR3sAAEAAAACXAAA"), Some(4 << 36 | 151));
        assert_eq!(block_of("AAAR3sAAEAAAACYAAA"), Some(4 << 36 | 152));
        assert_eq!(block_of("short"), None);
    }

    #[test]
    fn samples_are_shares_that_the_database_takes() {
        assert_eq!(sample_pct(1), "99.000000");
        assert_eq!(sample_pct(64_000), "0.100000");
        assert_eq!(sample_pct(u64::MAX), "0.000001");
    }

    #[test]
    fn indexes_are_those_of_the_load_and_no_more() {
        let index = |name: &str, column| (name.to_owned(), column);
        let row = |cells: [&str; 3]| Row(cells.map(|cell| Some(cell.to_owned())).to_vec());
        let main = row(["DYNO_ROWS_1_CUSTID", "CUSTID", "VALID"]);
        let secondary = row(["DYNO_ROWS_1_SEC", "SEC", "VALID"]);
        let older = [index("dyno_rows_1_custid", "custid")];
        let newer = [older[0].clone(), index("dyno_rows_1_sec", "sec")];
        let both = [main.clone(), secondary];
        assert_eq!(index_fault(&newer, &both), None);
        assert_eq!(index_fault(&older, &both[..1]), None);
        assert_eq!(index_fault(&[], &[]), None, "a table for scans");
        for (wanted, found, words) in [
            (&newer[..], &both[..1], "no usable index DYNO_ROWS_1_SEC on SEC"),
            (&older[..], &both[..], "a further index DYNO_ROWS_1_SEC"),
            (&[][..], &both[..1], "a further index DYNO_ROWS_1_CUSTID"),
            (&newer[..], &[main, row(["DYNO_ROWS_1_SEC", "SEC", "UNUSABLE"])][..], "no usable index"),
        ] {
            let fault = index_fault(wanted, found).unwrap();
            assert!(fault.contains(words), "{fault}");
        }
    }
}
