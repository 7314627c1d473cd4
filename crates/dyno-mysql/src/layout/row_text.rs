//! Generates rows as text: the lines of a `LOAD DATA` file and the tuples of an `INSERT`.

use dyno_plan::DataSpec;

use super::tables::{MySqlRowShape, TestTable};
use dyno_engine::data::TEXT_COLUMNS;
use dyno_engine::layout::RowText;

/// The escape byte in a file. No row contains it, so nothing needs escaping; followed by `N` it means NULL.
pub(super) const ESCAPE: u8 = 0x01;

/// Bytes of content in one row of `shape`: keys, version and text.
pub(super) fn content_bytes(shape: MySqlRowShape) -> u64 {
    24 + (TEXT_COLUMNS * shape.column_bytes + shape.pad_bytes) as u64
}

/// Generates the rows of one table, each after its spacers.
#[derive(Debug)]
pub(super) struct MySqlRowGenerator {
    shape: MySqlRowShape,
    text: RowText,
    pad: Vec<u8>,
    spacer: Vec<u8>,
}

impl MySqlRowGenerator {
    pub(super) fn new(spec: &DataSpec, table: &TestTable, shape: MySqlRowShape) -> Self {
        Self {
            text: RowText::new(spec, table, shape.column_bytes),
            pad: vec![0; shape.pad_bytes],
            spacer: vec![b'.'; shape.spacer_bytes],
            shape,
        }
    }

    /// The most bytes that one row and its spacers take as text if nothing is escaped.
    pub(super) fn line_bytes_max(&self) -> usize {
        // A row has one or three spacers.
        TEXT_COLUMNS * self.shape.column_bytes
            + self.pad.len()
            + self.shape.spacers as usize * (self.spacer.len() + 128)
            + 128
    }

    /// Generates the text of spacer `id`. It is filler as in rows if spacers fill most of a page, and nearly
    /// empty otherwise.
    fn make_spacer(&mut self, id: u64) {
        if self.shape.pads_spacers() {
            // `!id` is far above the keys of rows.
            self.text.filler.fill_rest(!id, &mut self.spacer);
        }
    }

    /// Generates the row at insert position `position` in the buffers and returns its key.
    fn make(&mut self, position: u64) -> u64 {
        let key = self.text.key(position);
        self.text.of(key);
        self.text.filler.fill_rest(key, &mut self.pad);
        key
    }

    /// Appends the lines of the row at insert position `position`, spacers first.
    pub(super) fn append_lines(&mut self, position: u64, out: &mut Vec<u8>) {
        let key = self.make(position);
        let id = self.shape.id(position);
        let null = [ESCAPE, b'N'];
        for spacer in self.shape.spacer_ids(id) {
            self.make_spacer(spacer);
            out.extend_from_slice(format!("{spacer}\t").as_bytes());
            out.extend_from_slice(&null);
            out.extend_from_slice(b"\t0\t");
            (1..TEXT_COLUMNS).for_each(|_| out.extend_from_slice(&[null[0], null[1], b'\t']));
            let (last, pad): (&[u8], &[u8]) =
                if self.shape.pads_spacers() { (&null, &self.spacer) } else { (&self.spacer, &null) };
            out.extend_from_slice(last);
            out.push(b'\t');
            out.extend_from_slice(pad);
            out.push(b'\n');
        }
        out.extend_from_slice(format!("{id}\t{key}\t0\t").as_bytes());
        for column in self.text.columns() {
            out.extend_from_slice(column);
            out.push(b'\t');
        }
        out.extend_from_slice(&self.pad);
        out.push(b'\n');
    }

    /// Appends the row and its spacers as tuples of VALUES.
    pub(super) fn append_values(&mut self, position: u64, out: &mut String) {
        let key = self.make(position);
        let id = self.shape.id(position);
        for spacer in self.shape.spacer_ids(id) {
            self.make_spacer(spacer);
            out.push_str(&format!("({spacer},NULL,0"));
            (1..TEXT_COLUMNS).for_each(|_| out.push_str(",NULL"));
            if self.shape.pads_spacers() {
                out.push_str(",NULL,");
                append_literal(&self.spacer, out);
            } else {
                out.push(',');
                append_literal(&self.spacer, out);
                out.push_str(",NULL");
            }
            out.push_str("),");
        }
        out.push_str(&format!("({id},{key},0"));
        for column in self.text.columns().chain([self.pad.as_slice()]) {
            out.push(',');
            append_literal(column, out);
        }
        out.push(')');
    }
}

/// Appends `text` in quotes. Filler is printable ASCII; bytes that would end the literal are escaped.
fn append_literal(text: &[u8], out: &mut String) {
    let text = std::str::from_utf8(text).expect("filler is ASCII");
    out.push('\'');
    out.push_str(&text.replace('\\', r"\\").replace('\'', r"\'"));
    out.push('\'');
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_engine::data::TableKind;

    #[test]
    fn mysql_load_lines_have_all_columns_and_unique_keys() {
        every_key_comes_once(16_384);
        every_key_comes_once(65_536);
    }

    fn every_key_comes_once(block_size: u64) {
        let spec = DataSpec {
            schemas: 1,
            rows: 9,
            scan_rows: 0,
            block_size,
            compressible: 0,
            seed: 3,
            secondary: false,
            copied: false,
        };
        let table = TestTable { prefix: "dyno_", kind: TableKind::Rows, schema: 1, rows: 9 };
        let shape = MySqlRowShape::of(block_size).unwrap();
        let mut maker = MySqlRowGenerator::new(&spec, &table, shape);
        let mut keys = Vec::new();
        for position in 0..9 {
            let mut out = Vec::new();
            maker.append_lines(position, &mut out);
            assert!(out.len() <= maker.line_bytes_max());
            let lines: Vec<&[u8]> = out.strip_suffix(b"\n").unwrap().split(|&b| b == b'\n').collect();
            let fields: Vec<Vec<&[u8]>> =
                lines.iter().map(|line| line.split(|&b| b == b'\t').collect()).collect();
            let records = shape.records() as usize;
            assert_eq!(fields.iter().map(Vec::len).collect::<Vec<_>>(), vec![4 + TEXT_COLUMNS; records]);
            let (row, spacers) = fields.split_last().unwrap();
            let key: u64 = std::str::from_utf8(row[1]).unwrap().parse().unwrap();
            assert_eq!(row[3], &maker.text.of(key)[..shape.column_bytes]);
            assert_eq!((row[0], row[22].len()), (shape.id(position).to_string().as_bytes(), shape.pad_bytes));
            for (spacer, id) in spacers.iter().zip(shape.spacer_ids(shape.id(position))) {
                assert_eq!((spacer[1], spacer[3]), (b"\x01N".as_slice(), b"\x01N".as_slice()));
                assert_eq!(spacer[0], id.to_string().as_bytes());
                let text = spacer[if shape.pads_spacers() { 22 } else { 21 }];
                assert_eq!(text.len(), shape.spacer_bytes);
            }
            keys.push(key);
        }
        keys.sort_unstable();
        assert_eq!(keys, (1..=9).collect::<Vec<_>>());
    }

    #[test]
    fn row_text_values_are_escaped() {
        let spec = DataSpec {
            schemas: 1,
            rows: 50,
            scan_rows: 0,
            block_size: 16_384,
            compressible: 0,
            seed: 3,
            secondary: false,
            copied: false,
        };
        let table = TestTable { prefix: "dyno_", kind: TableKind::Scan, schema: 1, rows: 50 };
        let mut maker = MySqlRowGenerator::new(&spec, &table, MySqlRowShape::of(16_384).unwrap());
        let mut out = String::new();
        maker.append_values(0, &mut out);
        assert!(out.contains("\\'"), "8 KB of filler hold both");
        assert!(out.contains("\\\\"), "8 KB of filler hold both");
        // After removing escaped characters, quotes occur in pairs.
        let plain = out.replace("\\\\", "").replace("\\'", "");
        assert_eq!(plain.matches('\'').count(), 2 * (TEXT_COLUMNS + 1 + 1));
    }
}
