//! Rows as text: the lines of a `LOAD DATA` file, and the parentheses of an `INSERT`.

use dyno_plan::DataSpec;

use super::tables::{SPACER_BYTES, Shape, Table};
use crate::data::{Filler, Permutation, TEXT_COLUMNS, table_seed};

/// What escapes in a file: a byte that no row holds, so nothing has to be escaped, and with `N` behind it is NULL.
pub(super) const ESCAPE: u8 = 0x01;

/// Makes the rows of one table, each followed by its spacer.
#[derive(Debug)]
pub(super) struct RowMaker {
    filler: Filler,
    order: Permutation,
    text: Vec<u8>,
    pad: Vec<u8>,
}

impl RowMaker {
    /// Rows of `table`.
    pub(super) fn new(spec: &DataSpec, table: &Table, shape: Shape) -> Self {
        let filler = Filler::new(spec, table.schema, table.kind, shape.column_bytes);
        let order = Permutation::new(table.rows, table_seed(spec.seed, table.schema, table.kind));
        Self { text: vec![0; filler.row_bytes()], pad: vec![0; shape.pad_bytes], filler, order }
    }

    /// Bytes of content in one row: keys, version and text.
    pub(super) fn content_bytes(&self) -> u64 {
        24 + self.text.len() as u64 + self.pad.len() as u64
    }

    /// Bytes that one row and its spacer take as text, at most, where nothing is escaped.
    pub(super) fn line_bytes_max(&self) -> usize {
        self.text.len() + self.pad.len() + SPACER_BYTES + 256
    }

    /// The text of the row with `key`: all columns, one after the other.
    pub(super) fn text(&mut self, key: u64) -> &[u8] {
        self.filler.fill(key, &mut self.text);
        &self.text
    }

    /// Key of the row at insert position `position`; its text is then in place.
    fn make(&mut self, position: u64) -> u64 {
        let key = self.order.key(position);
        self.filler.fill(key, &mut self.text);
        self.filler.fill_rest(key, &mut self.pad);
        key
    }

    /// Appends the lines of the row at insert position `position` and of its spacer.
    pub(super) fn append_lines(&mut self, position: u64, out: &mut Vec<u8>) {
        let key = self.make(position);
        let (id, spacer) = ids(position);
        out.extend_from_slice(format!("{id}\t{key}\t0\t").as_bytes());
        for column in self.text.chunks_exact(self.filler.column_bytes()) {
            out.extend_from_slice(column);
            out.push(b'\t');
        }
        out.extend_from_slice(&self.pad);
        out.extend_from_slice(format!("\n{spacer}").as_bytes());
        let null = [b'\t', ESCAPE, b'N'];
        out.extend_from_slice(&null);
        out.extend_from_slice(b"\t0");
        (1..TEXT_COLUMNS).for_each(|_| out.extend_from_slice(&null));
        out.push(b'\t');
        out.resize(out.len() + SPACER_BYTES, b'.');
        out.extend_from_slice(&null);
        out.push(b'\n');
    }

    /// Appends the same as two parentheses of VALUES.
    pub(super) fn append_values(&mut self, position: u64, out: &mut String) {
        let key = self.make(position);
        let (id, spacer) = ids(position);
        out.push_str(&format!("({id},{key},0"));
        let columns = self.text.chunks_exact(self.filler.column_bytes()).chain([self.pad.as_slice()]);
        for column in columns {
            out.push_str(",'");
            // Filler is printable ASCII; what would end the literal is escaped.
            for &byte in column {
                if matches!(byte, b'\'' | b'\\') {
                    out.push('\\');
                }
                out.push(char::from(byte));
            }
            out.push('\'');
        }
        out.push_str(&format!("),({spacer},NULL,0"));
        (1..TEXT_COLUMNS).for_each(|_| out.push_str(",NULL"));
        out.push_str(&format!(",'{}',NULL)", ".".repeat(SPACER_BYTES)));
    }
}

/// The surrogate keys of a row and of its spacer.
fn ids(position: u64) -> (u64, u64) {
    (2 * position + 1, 2 * position + 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::TableKind;

    #[test]
    fn lines_have_a_field_for_every_column_and_every_key_comes_once() {
        let spec =
            DataSpec { schemas: 1, rows: 9, scan_rows: 0, block_size: 16_384, compressible: 0, seed: 3 };
        let table = Table { kind: TableKind::Rows, schema: 1, rows: 9 };
        let shape = Shape::of(16_384).unwrap();
        let mut maker = RowMaker::new(&spec, &table, shape);
        let mut keys = Vec::new();
        for position in 0..9 {
            let mut out = Vec::new();
            maker.append_lines(position, &mut out);
            assert!(out.len() <= maker.line_bytes_max());
            let lines: Vec<&[u8]> = out.strip_suffix(b"\n").unwrap().split(|&b| b == b'\n').collect();
            let fields: Vec<Vec<&[u8]>> =
                lines.iter().map(|line| line.split(|&b| b == b'\t').collect()).collect();
            assert_eq!(fields.iter().map(Vec::len).collect::<Vec<_>>(), [4 + TEXT_COLUMNS; 2]);
            let key: u64 = std::str::from_utf8(fields[0][1]).unwrap().parse().unwrap();
            assert_eq!(fields[0][3], &maker.text(key)[..shape.column_bytes]);
            assert_eq!(fields[0][22].len(), shape.pad_bytes);
            assert_eq!((fields[1][1], fields[1][3]), (b"\x01N".as_slice(), b"\x01N".as_slice()));
            keys.push(key);
        }
        keys.sort_unstable();
        assert_eq!(keys, (1..=9).collect::<Vec<_>>());
    }

    #[test]
    fn values_are_escaped() {
        let spec =
            DataSpec { schemas: 1, rows: 50, scan_rows: 0, block_size: 16_384, compressible: 0, seed: 3 };
        let table = Table { kind: TableKind::Scan, schema: 1, rows: 50 };
        let mut maker = RowMaker::new(&spec, &table, Shape::of(16_384).unwrap());
        let mut out = String::new();
        maker.append_values(0, &mut out);
        assert!(out.contains("\\'") && out.contains("\\\\"), "8 KB of filler hold both");
        // Without what is escaped, quotes come in pairs.
        let plain = out.replace("\\\\", "").replace("\\'", "");
        assert_eq!(plain.matches('\'').count(), 2 * (TEXT_COLUMNS + 1 + 1));
    }
}
