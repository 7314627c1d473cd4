//! Generates rows in the binary COPY format (PostgreSQL manual, COPY, "Binary Format"), and as text for the
//! few that INSERT writes.

use dyno_plan::DataSpec;

use super::quote::literal;
use super::tables::{COLUMN_BYTES, TestTable};
use dyno_engine::data::TEXT_COLUMNS;
use dyno_engine::layout::RowText;

/// The start of every binary copy: signature, flags, length of the extension area.
pub(super) const HEADER: &[u8; 19] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";

/// The end of every binary copy: a field count of -1.
pub(super) const TRAILER: [u8; 2] = (-1i16).to_be_bytes();

/// Bytes of one row in the copy: the field count, two keys with their lengths, the columns with theirs.
pub(super) const ROW_BYTES: usize = 2 + 2 * (4 + 8) + TEXT_COLUMNS * (4 + COLUMN_BYTES);

/// Bytes of content in one row: key, version and text.
pub(super) const CONTENT_BYTES: u64 = (16 + TEXT_COLUMNS * COLUMN_BYTES) as u64;

/// Generates the rows of one table.
#[derive(Debug)]
pub(super) struct PostgresRowGenerator(RowText);

impl PostgresRowGenerator {
    pub(super) fn new(spec: &DataSpec, table: &TestTable) -> Self {
        Self(RowText::new(spec, table, COLUMN_BYTES))
    }

    /// The row at insert position `position` as a tuple of VALUES.
    pub(super) fn values(&mut self, position: u64) -> String {
        let key = self.0.key(position);
        self.0.of(key);
        let columns = self.0.columns().map(|column| literal(&String::from_utf8_lossy(column)));
        format!("({key}, 0, {})", columns.collect::<Vec<_>>().join(", "))
    }

    /// Appends the row at insert position `position`; allocates nothing while `out` has room for [`ROW_BYTES`] more.
    pub(super) fn append(&mut self, position: u64, out: &mut Vec<u8>) {
        let key = self.0.key(position);
        self.0.of(key);
        out.extend_from_slice(&(2 + TEXT_COLUMNS as i16).to_be_bytes());
        for number in [key, 0] {
            out.extend_from_slice(&8i32.to_be_bytes());
            out.extend_from_slice(&number.to_be_bytes());
        }
        for column in self.0.columns() {
            out.extend_from_slice(&(COLUMN_BYTES as i32).to_be_bytes());
            out.extend_from_slice(column);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copy_row_has_key_and_columns_at_format_offsets() {
        let spec = DataSpec {
            schemas: 1,
            rows: 9,
            scan_rows: 0,
            block_size: 8192,
            compressible: 0,
            seed: 3,
            secondary: false,
            copied: false,
        };
        let table = super::super::tables(&spec)[0];
        let mut maker = PostgresRowGenerator::new(&spec, &table);
        let mut keys = Vec::new();
        for position in 0..9 {
            let mut out = Vec::new();
            maker.append(position, &mut out);
            assert_eq!(out.len(), ROW_BYTES);
            assert_eq!(out[..6], [0, 21, 0, 0, 0, 8]);
            let key = u64::from_be_bytes(*out[6..].first_chunk().unwrap());
            assert_eq!(&out[30..30 + COLUMN_BYTES], &maker.0.of(key)[..COLUMN_BYTES]);
            keys.push(key);
        }
        keys.sort_unstable();
        assert_eq!(keys, (1..=9).collect::<Vec<_>>());
    }
}
