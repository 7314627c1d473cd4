//! The columns of the last row, where a statement's are read: they come as text, with their types before them.

use super::encode::oid;
use crate::wire::Fields;
use dyno_engine::{LastRow, Value};

/// The columns of the last row.
#[derive(Debug, Default)]
pub(super) struct Columns {
    /// Their types, by number.
    types: Vec<u32>,
    pub(super) row: LastRow,
    /// How many rows there were.
    pub(super) rows: u64,
}

impl Columns {
    /// Forgets the row.
    pub(super) fn clear(&mut self) {
        self.types.clear();
        self.row.clear();
        self.rows = 0;
    }

    /// Takes in a message of the answer: a description of rows, or a row.
    pub(super) fn heard(&mut self, tag: u8, body: &[u8]) {
        if tag == b'T' {
            // Through a pooler a row of a session's settings has come before.
            self.clear();
            // One that ends too early has fewer columns.
            let _ = self.describe(body);
            return;
        }
        self.rows += 1;
        self.row.clear();
        let mut fields = Fields::new(body);
        let Some(_) = fields.u16() else { return };
        for &of in &self.types {
            let Some(value) = fields.value() else { return };
            self.row.push(value.map_or(Value::Null, |text| read(of, text)));
        }
    }

    fn describe(&mut self, body: &[u8]) -> Option<()> {
        let mut fields = Fields::new(body);
        for _ in 0..fields.u16()? {
            // Its name, its table and its place there.
            let _ = (fields.text()?, fields.i32()?, fields.u16()?);
            self.types.push(fields.i32()?.cast_unsigned());
            // Width, modifier, format.
            let _ = (fields.u16()?, fields.i32()?, fields.u16()?);
        }
        Some(())
    }
}

/// A value in text, of this type: a number where every such number is one here, a text else.
fn read(of: u32, text: &[u8]) -> Value<'_> {
    let letters = std::str::from_utf8(text).unwrap_or_default();
    match of {
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
    fn numbers_are_numbers_and_everything_else_is_text() {
        let mut columns = Columns::default();
        columns.heard(b'D', b"\0\x01\0\0\0\x01x");
        columns.heard(b'T', &description(&[oid::INT4, oid::FLOAT8, 1700, oid::TEXT]));
        assert_eq!((columns.rows, columns.row.get(0)), (0, None));
        columns.heard(b'D', b"\0\x04\0\0\0\x02-7\0\0\0\x041e+2\0\0\0\x041.50\xff\xff\xff\xff");
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
        fn no_bytes_can_make_it_panic(description: Vec<u8>, row: Vec<u8>) {
            let mut columns = Columns::default();
            columns.heard(b'T', &description);
            columns.heard(b'D', &row);
        }
    }
}
