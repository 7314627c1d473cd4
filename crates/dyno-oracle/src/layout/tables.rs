//! The names and row shape of the test tables.

use dyno_plan::DataSpec;

use dyno_engine::TargetError;
use dyno_engine::data::CLASSIC_COLUMN_BYTES;
pub(crate) use dyno_engine::layout::TestTable;
use dyno_engine::layout::{columns, text_columns};

/// Block sizes that can be loaded: a row of 2.5 KB must fit into a block.
const BLOCK_BYTES: std::ops::RangeInclusive<u64> = 4096..=32_768;

/// The prefix of Dyno's names.
const PREFIX: &str = "dyno_";

/// The virtual column of the secondary key.
pub(super) const VIRTUAL: &str = "sec";

/// Every table of `spec` that has rows.
pub(super) fn tables(spec: &DataSpec) -> Vec<TestTable> {
    TestTable::all(spec, PREFIX)
}

/// The tables of `spec` that are read by key.
pub(super) fn tables_of_rows(spec: &DataSpec) -> impl Iterator<Item = TestTable> {
    TestTable::of_rows(spec, PREFIX)
}

/// The table's name in the dictionary: `DYNO_ROWS_1`.
pub(super) fn dictionary_name(table: &TestTable) -> String {
    table.name().to_uppercase()
}

/// Names and columns of its indexes, as in statements.
pub(crate) fn indexes(table: &TestTable, spec: &DataSpec) -> Vec<(String, &'static str)> {
    let secondary = table.secondary_index_name(spec).map(|name| (name, VIRTUAL));
    table.index_name().map(|name| (name, "custid")).into_iter().chain(secondary).collect()
}

/// Definitions of the columns after `custid` and `ver`.
///
/// The secondary key is computed from `custid`, so it takes no space in the row, and updates do not change
/// it. It is a column and not only an index on the expression. With CURSOR_SHARING = FORCE the instance
/// replaces literals by binds, and an expression in a query would no longer match the index.
pub(crate) fn column_definitions(table: &TestTable, spec: &DataSpec) -> String {
    let texts = columns().map(|name| format!("{name} VARCHAR2({CLASSIC_COLUMN_BYTES} BYTE)"));
    let secondary = table.secondary_index_name(spec).map(|_| {
        let key = spec.secondary_sql_by(|term, groups| format!("MOD({term}, {groups})"));
        format!("{VIRTUAL} NUMBER GENERATED ALWAYS AS ({key}) VIRTUAL")
    });
    texts.chain(secondary).collect::<Vec<_>>().join(",\n  ")
}

/// The text columns' names, and their binds.
pub(crate) fn names_and_binds() -> (String, String) {
    (text_columns(", "), format!(":{}", text_columns(", :")))
}

/// Returns an error if blocks of this size cannot hold one row.
pub(crate) fn check_block_bytes(block_bytes: u64) -> Result<(), TargetError> {
    if BLOCK_BYTES.contains(&block_bytes) {
        return Ok(());
    }
    let message = format!("one row per block is not possible in blocks of {block_bytes} bytes");
    Err(TargetError::unsupported(message)
        .hint("name a tablespace with blocks of 4K, 8K, 16K or 32K by ?tablespace=NAME"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_engine::TargetErrorKind;
    use dyno_engine::data::TEXT_COLUMNS;

    #[test]
    fn row_fits_smallest_block_and_exceeds_space_left_by_pctfree() {
        // Up to 110 bytes of header and row directory, 3 of row header, 2 of length and 22 per number, 1 per
        // text.
        let row = 3 + 2 * 23 + TEXT_COLUMNS * (1 + CLASSIC_COLUMN_BYTES) + 2;
        assert!(row + 110 + 23 < 4096, "{row}");
        assert!(row as u64 > 32_768 / 100, "PCTFREE 99 would let a second row in");
        const { assert!(TEXT_COLUMNS * CLASSIC_COLUMN_BYTES <= 4000, "all text in one is a VARCHAR2") };
    }

    #[test]
    fn too_small_block_size_is_refused() {
        assert!(check_block_bytes(8192).is_ok());
        assert_eq!(check_block_bytes(2048).unwrap_err().kind, TargetErrorKind::Unsupported);
    }

    fn spec(secondary: bool) -> DataSpec {
        DataSpec {
            schemas: 1,
            rows: 500,
            scan_rows: 500,
            block_size: 8192,
            compressible: 0,
            seed: 1,
            secondary,
            copied: false,
        }
    }

    #[test]
    fn secondary_key_is_a_virtual_column_of_row_tables_only() {
        let [rows, scan] = [0, 1].map(|at| tables(&spec(true))[at]);
        let sec = "sec NUMBER GENERATED ALWAYS AS \
                   (CASE WHEN custid <= 500 THEN MOD(custid + 19, 20) + 1 ELSE custid END) VIRTUAL";
        assert!(column_definitions(&rows, &spec(true)).ends_with(sec));
        for definitions in [column_definitions(&rows, &spec(false)), column_definitions(&scan, &spec(true))] {
            assert!(definitions.ends_with("c20 VARCHAR2(128 BYTE)"), "{definitions}");
            assert_eq!(definitions.matches("VARCHAR2(128 BYTE)").count(), 19);
        }
        let main = ("dyno_rows_1_custid".to_owned(), "custid");
        assert_eq!(indexes(&rows, &spec(false)), std::slice::from_ref(&main), "data of older versions");
        assert_eq!(indexes(&rows, &spec(true)), [main, ("dyno_rows_1_sec".to_owned(), "sec")]);
        assert!(indexes(&scan, &spec(true)).is_empty());
        assert!(names_and_binds().1.ends_with(", :c20"));
    }
}
