//! The test tables: their names and shape.

use dyno_plan::DataSpec;

use dyno_engine::data::{CLASSIC_COLUMN_BYTES, TEXT_COLUMNS, TableKind};
use dyno_engine::error::{TargetError, TargetErrorKind};

/// Block sizes that can be loaded: a row of 2.5 KB has to fit into a block.
const BLOCK_BYTES: std::ops::RangeInclusive<u64> = 4096..=32_768;

/// The column of the secondary key.
pub(super) const VIRTUAL: &str = "sec";

/// One test table of a spec.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Table {
    /// What it is for.
    pub(crate) kind: TableKind,
    /// The schema's number, from 1.
    pub(crate) schema: u32,
    /// Rows it shall hold.
    pub(crate) rows: u64,
}

impl Table {
    /// Every table of `spec` that has rows.
    pub(crate) fn all(spec: &DataSpec) -> Vec<Self> {
        let of = |kind, rows| (1..=spec.schemas).map(move |schema| Self { kind, schema, rows });
        of(TableKind::Rows, spec.rows)
            .chain(of(TableKind::Scan, spec.scan_rows))
            .filter(|table| table.rows > 0)
            .collect()
    }

    /// The name as statements have it; letters, digits and underscores only, so it needs no quotes: `dyno_rows_1`.
    pub(crate) fn name(&self) -> String {
        format!("dyno_{}_{}", self.kind.name(), self.schema)
    }

    /// The name as the dictionary has it: `DYNO_ROWS_1`.
    pub(crate) fn dictionary_name(&self) -> String {
        self.name().to_uppercase()
    }

    /// Whether rows have a secondary key.
    pub(crate) fn has_secondary(&self, spec: &DataSpec) -> bool {
        self.kind == TableKind::Rows && spec.secondary
    }

    /// Its indexes.
    pub(crate) fn indexes(&self, spec: &DataSpec) -> Vec<Index> {
        let index = |column: &'static str| Index { name: format!("{}_{column}", self.name()), column };
        let main = (self.kind == TableKind::Rows).then(|| index("custid"));
        main.into_iter().chain(self.has_secondary(spec).then(|| index(VIRTUAL))).collect()
    }

    /// Definitions of the columns behind `custid` and `ver`.
    ///
    /// The secondary key follows from `custid`, so it takes no room in the row and an update changes nothing of it. A column
    /// of its own and not only an index on the expression: where the instance puts binds in the place of literals
    /// (CURSOR_SHARING = FORCE), an expression in a query is no longer that of an index.
    pub(crate) fn column_definitions(&self, spec: &DataSpec) -> String {
        let texts = columns().map(|name| format!("{name} VARCHAR2({CLASSIC_COLUMN_BYTES} BYTE)"));
        let secondary = self.has_secondary(spec).then(|| {
            let key = spec.secondary_sql_by(|term, groups| format!("MOD({term}, {groups})"));
            format!("{VIRTUAL} NUMBER GENERATED ALWAYS AS ({key}) VIRTUAL")
        });
        texts.chain(secondary).collect::<Vec<_>>().join(",\n  ")
    }
}

/// One index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Index {
    /// The name as statements have it: `dyno_rows_1_sec`.
    pub(crate) name: String,
    /// Its only column.
    pub(crate) column: &'static str,
}

impl Index {
    /// The name as the dictionary has it.
    pub(crate) fn dictionary_name(&self) -> String {
        self.name.to_uppercase()
    }
}

/// Names of the text columns.
fn columns() -> impl Iterator<Item = String> {
    (2..2 + TEXT_COLUMNS).map(|number| format!("c{number}"))
}

/// The text columns' names, and their binds.
pub(crate) fn names_and_binds() -> (String, String) {
    let names: Vec<String> = columns().collect();
    let binds: Vec<String> = names.iter().map(|name| format!(":{name}")).collect();
    (names.join(", "), binds.join(", "))
}

/// All text columns in one.
pub(crate) fn text_expression() -> String {
    columns().collect::<Vec<_>>().join(" || ")
}

/// Fails where blocks of this size cannot hold one row.
pub(crate) fn check_block_bytes(block_bytes: u64) -> Result<(), TargetError> {
    if BLOCK_BYTES.contains(&block_bytes) {
        return Ok(());
    }
    let message = format!("blocks of {block_bytes} bytes cannot hold one row of Dyno's each");
    Err(TargetError::new(TargetErrorKind::Unsupported, message)
        .hint("name a tablespace with blocks of 4K, 8K, 16K or 32K by ?tablespace=NAME"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_fits_into_the_smallest_block_and_fills_more_than_pctfree_leaves() {
        // 110 bytes of header and row directory at most, 3 of row header, 2 of length and 22 of each number, 1 of each text's.
        let row = 3 + 2 * 23 + TEXT_COLUMNS * (1 + CLASSIC_COLUMN_BYTES) + 2;
        assert!(row + 110 + 23 < 4096, "{row}");
        assert!(row as u64 > 32_768 / 100, "PCTFREE 99 would let a second row in");
        const { assert!(TEXT_COLUMNS * CLASSIC_COLUMN_BYTES <= 4000, "all text in one is a VARCHAR2") };
    }

    #[test]
    fn block_sizes_without_room_are_refused() {
        assert!(check_block_bytes(8192).is_ok());
        assert_eq!(check_block_bytes(2048).unwrap_err().kind, TargetErrorKind::Unsupported);
    }

    #[test]
    fn every_text_column_is_named_once() {
        let table = Table { kind: TableKind::Rows, schema: 1, rows: 500 };
        assert_eq!(table.column_definitions(&spec(false)).matches("VARCHAR2(128 BYTE)").count(), 19);
        let (names, binds) = names_and_binds();
        assert!(names.starts_with("c2, c3") && binds.ends_with(":c20"));
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
        }
    }

    #[test]
    fn the_secondary_key_is_a_column_without_room_in_the_tables_of_rows() {
        let [rows, scan] =
            [TableKind::Rows, TableKind::Scan].map(|kind| Table { kind, schema: 3, rows: 500 });
        let sec = "sec NUMBER GENERATED ALWAYS AS \
                   (CASE WHEN custid <= 500 THEN MOD(custid + 19, 20) + 1 ELSE custid END) VIRTUAL";
        assert!(rows.column_definitions(&spec(true)).ends_with(sec));
        for definitions in [rows.column_definitions(&spec(false)), scan.column_definitions(&spec(true))] {
            assert!(definitions.ends_with("c20 VARCHAR2(128 BYTE)"), "{definitions}");
        }
        let names = |table: Table, secondary| -> Vec<(String, &str)> {
            let indexes = table.indexes(&spec(secondary));
            indexes.iter().map(|index| (index.dictionary_name(), index.column)).collect()
        };
        let main = ("DYNO_ROWS_3_CUSTID".to_owned(), "custid");
        assert_eq!(names(rows, false), std::slice::from_ref(&main), "data of older versions");
        assert_eq!(names(rows, true), [main, ("DYNO_ROWS_3_SEC".to_owned(), "sec")]);
        assert!(names(scan, true).is_empty());
    }
}
