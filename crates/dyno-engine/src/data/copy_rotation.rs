//! Rearranges the text of a row, as the database does when it copies schema 1 to another schema.
//!
//! A copy must differ from its source, because storage that deduplicates would keep equal blocks once. SQL
//! must make the difference exactly and cheaply. Rotations do both: of the columns in the row, and of the
//! characters in each column.

use super::TEXT_COLUMNS;

/// The rearrangement of the text of one schema. Schema 1 keeps its text.
///
/// The rearrangements of [`CopyRotation::distinct`] successive schemas differ; then they repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyRotation {
    columns: usize,
    characters: usize,
}

impl CopyRotation {
    /// The rearrangement for `schema`, from 1, in columns of `column_bytes`.
    pub fn of_schema(schema: u32, column_bytes: usize) -> Self {
        let number = schema.saturating_sub(1) as usize;
        Self { columns: number % TEXT_COLUMNS, characters: number / TEXT_COLUMNS % column_bytes }
    }

    /// The number of schemas until contents repeat.
    pub fn distinct(column_bytes: usize) -> usize {
        TEXT_COLUMNS * column_bytes
    }

    /// The column of schema 1 whose text `column` gets; columns are counted from 0.
    pub fn source_column(self, column: usize) -> usize {
        (column + self.columns) % TEXT_COLUMNS
    }

    /// The number of characters that move from the beginning of each column to its end.
    pub fn characters(self) -> usize {
        self.characters
    }

    /// Rearranges `text`, all columns of a row of schema 1 one after the other.
    pub fn apply(self, text: &mut [u8]) {
        let column_bytes = text.len() / TEXT_COLUMNS;
        text.rotate_left(self.columns * column_bytes);
        if self.characters > 0 {
            text.chunks_exact_mut(column_bytes).for_each(|column| column.rotate_left(self.characters));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::super::{CLASSIC_COLUMN_BYTES, Filler, TableKind};
    use super::*;
    use dyno_plan::DataSpec;

    fn spec(compressible: u32) -> DataSpec {
        DataSpec {
            schemas: 10_000,
            rows: 1_000,
            scan_rows: 1_000,
            block_size: 8192,
            compressible,
            seed: 7,
            secondary: true,
            copied: true,
        }
    }

    fn row(spec: &DataSpec, schema: u32, kind: TableKind, key: u64) -> String {
        let filler = Filler::new(spec, schema, kind, CLASSIC_COLUMN_BYTES);
        let mut text = vec![0; filler.row_bytes()];
        filler.fill(key, &mut text);
        String::from_utf8(text).unwrap()
    }

    /// Oracle's SUBSTR: characters from position `from`, counted from 1; NULL is the empty text.
    fn substr(text: &str, from: usize, length: usize) -> &str {
        let rest = text.get(from - 1..).unwrap_or_default();
        rest.get(..length).unwrap_or(rest)
    }

    proptest! {
        #[test]
        fn copied_row_has_text_that_sql_makes_from_schema_1(
            schema in 1u32..=10_000, key in 1u64..=1_000, compressible in 0u32..=100, is_scan: bool,
        ) {
            let kind = if is_scan { TableKind::Scan } else { TableKind::Rows };
            let spec = spec(compressible);
            let source = row(&spec, 1, kind, key);
            let source: Vec<&str> =
                (0..TEXT_COLUMNS).map(|column| &source[column * CLASSIC_COLUMN_BYTES..][..CLASSIC_COLUMN_BYTES]).collect();
            let (columns, moved) = ((schema - 1) as usize % 19, (schema - 1) as usize / 19 % 128);
            let copied: String = (0..TEXT_COLUMNS)
                .map(|column| source[(column + columns) % 19])
                .map(|text| format!("{}{}", substr(text, moved + 1, 128), substr(text, 1, moved)))
                .collect();
            prop_assert_eq!(row(&spec, schema, kind, key), copied);
        }
    }

    #[test]
    fn copies_differ_until_all_rearrangements_are_used() {
        let distinct = CopyRotation::distinct(CLASSIC_COLUMN_BYTES) as u32;
        assert_eq!(distinct, 2_432, "the documentation states this number");
        let rows: HashSet<String> =
            (1..=distinct).map(|schema| row(&spec(0), schema, TableKind::Rows, 5)).collect();
        assert_eq!(rows.len(), distinct as usize);
        assert_eq!(row(&spec(0), distinct + 1, TableKind::Rows, 5), row(&spec(0), 1, TableKind::Rows, 5));
    }

    #[test]
    fn schema_1_has_same_text_with_and_without_copies() {
        let sent = DataSpec { copied: false, ..spec(0) };
        assert_eq!(row(&spec(0), 1, TableKind::Rows, 9), row(&sent, 1, TableKind::Rows, 9));
        assert_ne!(row(&spec(0), 2, TableKind::Rows, 9), row(&sent, 2, TableKind::Rows, 9));
    }
}
