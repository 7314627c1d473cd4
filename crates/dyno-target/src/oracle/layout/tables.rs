//! The test tables: their names and shape.

use dyno_plan::DataSpec;

use crate::data::{CLASSIC_COLUMN_BYTES, TEXT_COLUMNS, TableKind};
use crate::error::{TargetError, TargetErrorKind};

/// Block sizes that can be loaded: a row of 2.5 KB has to fit into a block.
const BLOCK_BYTES: std::ops::RangeInclusive<u64> = 4096..=32_768;

/// One test table of a spec.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::oracle) struct Table {
    /// What it is for.
    pub(in crate::oracle) kind: TableKind,
    /// The schema's number, from 1.
    pub(in crate::oracle) schema: u32,
    /// Rows it shall hold.
    pub(in crate::oracle) rows: u64,
}

impl Table {
    /// Every table of `spec` that has rows.
    pub(in crate::oracle) fn all(spec: &DataSpec) -> Vec<Self> {
        let of = |kind, rows| (1..=spec.schemas).map(move |schema| Self { kind, schema, rows });
        of(TableKind::Rows, spec.rows)
            .chain(of(TableKind::Scan, spec.scan_rows))
            .filter(|table| table.rows > 0)
            .collect()
    }

    /// The name as statements have it; letters, digits and underscores only, so it needs no quotes: `dyno_rows_1`.
    pub(in crate::oracle) fn name(&self) -> String {
        format!("dyno_{}_{}", self.kind.name(), self.schema)
    }

    /// The name as the dictionary has it: `DYNO_ROWS_1`.
    pub(in crate::oracle) fn dictionary_name(&self) -> String {
        self.name().to_uppercase()
    }

    /// The index's name in the dictionary, if the table has one.
    pub(in crate::oracle) fn index_name(&self) -> Option<String> {
        (self.kind == TableKind::Rows).then(|| format!("{}_CUSTID", self.dictionary_name()))
    }
}

/// Names of the text columns.
fn columns() -> impl Iterator<Item = String> {
    (2..2 + TEXT_COLUMNS).map(|number| format!("c{number}"))
}

/// The text columns' definitions. Bytes, whatever the database counts by default.
pub(in crate::oracle) fn column_definitions() -> String {
    columns()
        .map(|name| format!("{name} VARCHAR2({CLASSIC_COLUMN_BYTES} BYTE)"))
        .collect::<Vec<_>>()
        .join(",\n  ")
}

/// The text columns' names, and their binds.
pub(in crate::oracle) fn names_and_binds() -> (String, String) {
    let names: Vec<String> = columns().collect();
    let binds: Vec<String> = names.iter().map(|name| format!(":{name}")).collect();
    (names.join(", "), binds.join(", "))
}

/// All text columns in one.
pub(in crate::oracle) fn text_expression() -> String {
    columns().collect::<Vec<_>>().join(" || ")
}

/// Fails where blocks of this size cannot hold one row.
pub(in crate::oracle) fn check_block_bytes(block_bytes: u64) -> Result<(), TargetError> {
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
        assert_eq!(column_definitions().matches("VARCHAR2(128 BYTE)").count(), 19);
        let (names, binds) = names_and_binds();
        assert!(names.starts_with("c2, c3") && binds.ends_with(":c20"));
    }
}
