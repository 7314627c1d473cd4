//! Reads the columns of the last row for statements whose columns are used; they arrive as text after a row
//! description.

use super::encode::oid;
use crate::wire::PostgresFieldReader;
use dyno_engine::{LastRow, Value};

/// The columns of the last row.
#[derive(Debug, Default)]
pub(super) struct PostgresRowReader {
    /// The type numbers of the columns, from the row description.
    types: Vec<u32>,
    pub(super) row: LastRow,
    /// Number of rows that have arrived.
    pub(super) rows: u64,
}

impl PostgresRowReader {
    pub(super) fn clear(&mut self) {
        self.types.clear();
        self.row.clear();
        self.rows = 0;
    }

    /// Reads a message of the result: a row description or a row.
    pub(super) fn read_message(&mut self, tag: u8, body: &[u8]) {
        if tag == b'T' {
            // Through a pooler, a row of the session's settings has arrived before.
            self.clear();
            // A truncated description has fewer columns.
            let _ = self.describe(body);
            return;
        }
        self.rows += 1;
        self.row.clear();
        let mut fields = PostgresFieldReader::new(body);
        let Some(_) = fields.u16() else { return };
        for &of in &self.types {
            let Some(value) = fields.value() else { return };
            self.row.push(value.map_or(Value::Null, |text| read(of, text)));
        }
    }

    fn describe(&mut self, body: &[u8]) -> Option<()> {
        let mut fields = PostgresFieldReader::new(body);
        for _ in 0..fields.u16()? {
            // The name, the table, and the column's number in it.
            let _ = (fields.text()?, fields.i32()?, fields.u16()?);
            self.types.push(fields.i32()?.cast_unsigned());
            // The width, the modifier, and the format.
            let _ = (fields.u16()?, fields.i32()?, fields.u16()?);
        }
        Some(())
    }
}

/// A text value of this type: a number if Dyno can represent every number of the type, otherwise a text.
fn read(type_oid: u32, text: &[u8]) -> Value<'_> {
    let letters = std::str::from_utf8(text).unwrap_or_default();
    match type_oid {
        oid::INT2 | oid::INT4 | oid::INT8 | oid::OID => letters.parse().map_or(Value::Text(text), Value::Int),
        oid::FLOAT4 | oid::FLOAT8 => letters.parse().map_or(Value::Text(text), Value::Real),
        _ => Value::Text(text),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn description(types: &[u32]) -> Vec<u8> {
        let mut body = (types.len() as u16).to_be_bytes().to_vec();
        for of in types {
            body.extend_from_slice(b"a\0\0\0\0\x07\0\x01");
            body.extend_from_slice(&of.to_be_bytes());
            body.extend_from_slice(b"\0\x08\xff\xff\xff\xff\0\0");
        }
        body
    }

    #[test]
    fn row_reader_decodes_numbers_and_keeps_rest_as_text() {
        let mut columns = PostgresRowReader::default();
        columns.read_message(b'D', b"\0\x01\0\0\0\x01x");
        columns.read_message(b'T', &description(&[oid::INT4, oid::FLOAT8, 1700, oid::TEXT]));
        assert_eq!((columns.rows, columns.row.get(0)), (0, None));
        columns.read_message(b'D', b"\0\x04\0\0\0\x02-7\0\0\0\x041e+2\0\0\0\x041.50\xff\xff\xff\xff");
        let all: Vec<_> = (0..5).map(|column| columns.row.get(column)).collect();
        let expected = [
            Some(Value::Int(-7)),
            Some(Value::Real(100.0)),
            Some(Value::Text(b"1.50")),
            Some(Value::Null),
            None,
        ];
        assert_eq!((columns.rows, &all[..]), (1, &expected[..]));
    }

    proptest! {
        #[test]
        fn row_reader_never_panics_on_any_bytes(description: Vec<u8>, row: Vec<u8>) {
            let mut columns = PostgresRowReader::default();
            columns.read_message(b'T', &description);
            columns.read_message(b'D', &row);
        }
    }
}
