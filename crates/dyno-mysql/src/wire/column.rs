//! Decodes the columns of a binary result: the first one as a number, or all as values.

use super::error::MySqlWireError;
use super::fields::MySqlFieldReader;
use dyno_engine::{LastRow, Value};

/// The protocol's type numbers of columns.
mod kind {
    pub(super) const TINY: u8 = 0x01;
    pub(super) const SHORT: u8 = 0x02;
    pub(super) const LONG: u8 = 0x03;
    pub(super) const FLOAT: u8 = 0x04;
    pub(super) const DOUBLE: u8 = 0x05;
    pub(super) const TIMESTAMP: u8 = 0x07;
    pub(super) const LONGLONG: u8 = 0x08;
    pub(super) const INT24: u8 = 0x09;
    pub(super) const DATE: u8 = 0x0a;
    pub(super) const TIME: u8 = 0x0b;
    pub(super) const DATETIME: u8 = 0x0c;
    pub(super) const YEAR: u8 = 0x0d;
    pub(super) const BIT: u8 = 0x10;
    pub(super) const JSON: u8 = 0xf5;
    pub(super) const NEWDECIMAL: u8 = 0xf6;
}

/// The collation number of binary data.
const BINARY: u16 = 63;

/// Flag of a column definition: its numbers are never negative.
const UNSIGNED: u16 = 0x20;

/// The definition of a column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct MySqlColumnDef {
    kind: u8,
    unsigned: bool,
    /// Whether its texts are binary data.
    binary: bool,
}

impl MySqlColumnDef {
    /// A column of decimal numbers.
    #[cfg(test)]
    pub(crate) fn decimal() -> Self {
        Self { kind: kind::NEWDECIMAL, ..Self::default() }
    }

    /// Reads the definition of a column.
    pub(crate) fn read(body: &[u8]) -> Result<Self, MySqlWireError> {
        let mut fields = MySqlFieldReader::new(body);
        let mut read = || {
            // Catalog, schema, alias and name of the table, alias and name of the column.
            for _ in 0..6 {
                fields.value()?;
            }
            // The length of the rest, the collation, and the display width.
            fields.number()?;
            let binary = fields.u16()? == BINARY;
            fields.u32()?;
            Some(Self { kind: fields.u8()?, unsigned: fields.u16()? & UNSIGNED != 0, binary })
        };
        read().ok_or_else(|| MySqlWireError::protocol("a truncated column definition"))
    }

    /// Whether it holds integers or decimal numbers; sums of integers are decimal.
    pub(crate) fn is_number(self) -> bool {
        self.kind == kind::NEWDECIMAL || self.width().is_some()
    }

    /// Whether it holds decimal numbers.
    pub(crate) fn is_decimal(self) -> bool {
        self.kind == kind::NEWDECIMAL
    }

    /// Bytes of an integer of its type; `None` for other types.
    #[inline]
    fn width(self) -> Option<usize> {
        match self.kind {
            kind::LONGLONG => Some(8),
            kind::LONG | kind::INT24 => Some(4),
            kind::SHORT | kind::YEAR => Some(2),
            kind::TINY => Some(1),
            _ => None,
        }
    }

    /// The first value of `row`, which has `columns` columns, as a number. 0 if it is NULL, two's complement
    /// if it is negative, `None` if it is not a number.
    #[inline]
    pub(crate) fn number(self, row: &[u8], columns: u64) -> Option<u64> {
        let value = row.get(head(columns as usize)..)?;
        if row[1] & 0b100 != 0 {
            return Some(0);
        }
        let Some(width) = self.width() else {
            return if self.is_decimal() { whole(MySqlFieldReader::new(value).value()??) } else { None };
        };
        self.integer(value.get(..width)?)
    }

    /// Like [`MySqlColumnDef::number`], for a row with text values.
    #[inline]
    pub(crate) fn written_number(self, row: &[u8]) -> Option<u64> {
        let Some(value) = MySqlFieldReader::new(row).value()? else { return Some(0) };
        match self.width() {
            Some(_) => whole(value),
            None => whole(value).filter(|_| self.is_decimal()),
        }
    }

    /// Decodes an integer of the column's width.
    #[inline]
    fn integer(self, value: &[u8]) -> Option<u64> {
        let width = value.len();
        let mut bytes = [0; 8];
        bytes[..width].copy_from_slice(value);
        let number = u64::from_le_bytes(bytes);
        let negative = !self.unsigned && number >> (8 * width - 1) == 1;
        Some(if negative { number | u64::MAX.unbounded_shl(8 * width as u32) } else { number })
    }

    /// Appends the next value of `fields` to `row`; `None` if the fields end too early.
    fn add(self, fields: &mut MySqlFieldReader<'_>, row: &mut LastRow) -> Option<()> {
        if let Some(width) = self.width() {
            let number = self.integer(fields.take(width)?)?;
            match i64::try_from(number) {
                Err(_) if self.unsigned => row.push(Value::Text(number.to_string().as_bytes())),
                _ => row.push(Value::Int(number.cast_signed())),
            }
            return Some(());
        }
        match self.kind {
            kind::DOUBLE => row.push(Value::Real(f64::from_le_bytes(*fields.take(8)?.first_chunk()?))),
            kind::FLOAT => {
                let short = f32::from_le_bytes(*fields.take(4)?.first_chunk()?);
                // Through its decimal text, the float 0.1 becomes the double 0.1.
                row.push(short.to_string().parse().map_or(Value::Null, Value::Real));
            }
            kind::DATE | kind::DATETIME | kind::TIMESTAMP => {
                let text = date_time_text(fields.value()??, self.kind == kind::DATE)?;
                row.push(Value::Text(text.as_bytes()));
            }
            kind::TIME => row.push(Value::Text(time(fields.value()??)?.as_bytes())),
            _ => row.push(self.letters(fields.value()??)),
        }
        Some(())
    }

    /// A value that is text or binary data in both encodings.
    fn letters(self, bytes: &[u8]) -> Value<'_> {
        let is_text = !self.binary || matches!(self.kind, kind::NEWDECIMAL | kind::JSON);
        if is_text && self.kind != kind::BIT { Value::Text(bytes) } else { Value::Bytes(bytes) }
    }

    /// Appends the text value `written` to `row`, with the same result as [`MySqlColumnDef::add`]. The exception is
    /// `FLOAT`, of which the server writes six digits.
    fn add_written(self, written: &[u8], row: &mut LastRow) {
        let letters = || std::str::from_utf8(written).unwrap_or_default();
        let moment = matches!(self.kind, kind::DATETIME | kind::TIMESTAMP | kind::TIME);
        match self.kind {
            _ if self.width().is_some() => {
                row.push(letters().parse().map_or(Value::Text(written), Value::Int));
            }
            kind::DOUBLE | kind::FLOAT => row.push(letters().parse().map_or(Value::Null, Value::Real)),
            _ if moment => row.push(Value::Text(with_micros(letters()).as_bytes())),
            kind::DATE => row.push(Value::Text(written)),
            _ => row.push(self.letters(written)),
        }
    }
}

/// The offset of the values in a row with `columns` columns: after the marker byte and one NULL bit per
/// column plus two unused bits.
#[inline]
fn head(columns: usize) -> usize {
    1 + (columns + 2).div_ceil(8)
}

/// Decodes the binary values of a row of `columns`.
pub(crate) fn values(columns: &[MySqlColumnDef], body: &[u8], row: &mut LastRow) -> Option<()> {
    row.clear();
    let mut fields = MySqlFieldReader::new(body.get(head(columns.len())..)?);
    for (bit, column) in (2..).zip(columns) {
        if body[1 + bit / 8] >> (bit % 8) & 1 == 1 {
            row.push(Value::Null);
        } else {
            column.add(&mut fields, row)?;
        }
    }
    Some(())
}

/// Decodes the text values of a row of `columns`.
pub(crate) fn written_values(columns: &[MySqlColumnDef], body: &[u8], row: &mut LastRow) -> Option<()> {
    row.clear();
    let mut fields = MySqlFieldReader::new(body);
    for column in columns {
        match fields.value()? {
            None => row.push(Value::Null),
            Some(written) => column.add_written(written, row),
        }
    }
    Some(())
}

/// A timestamp whose fraction has six digits, or none if it is 0, as in the binary encoding.
fn with_micros(written: &str) -> String {
    match written.split_once('.') {
        Some((moment, part)) if part.bytes().any(|digit| digit != b'0') => format!("{moment}.{part:0<6}"),
        Some((moment, _)) => moment.to_owned(),
        None => written.to_owned(),
    }
}

/// A date, or a timestamp with or without microseconds; omitted parts are 0.
fn date_time_text(value: &[u8], is_day: bool) -> Option<String> {
    let mut fields = MySqlFieldReader::new(value);
    let (year, month, day) = match value.is_empty() {
        true => (0, 0, 0),
        false => (fields.u16()?, fields.u8()?, fields.u8()?),
    };
    let day = format!("{year:04}-{month:02}-{day:02}");
    if is_day {
        return Some(day);
    }
    Some(format!("{day} {}", clock(&mut fields, 0)))
}

/// A time of day or a duration.
fn time(value: &[u8]) -> Option<String> {
    let mut fields = MySqlFieldReader::new(value);
    let (sign, days) = match value.is_empty() {
        true => (0, 0),
        false => (fields.u8()?, fields.u32()?),
    };
    let sign = if sign == 1 { "-" } else { "" };
    Some(format!("{sign}{}", clock(&mut fields, days)))
}

fn clock(fields: &mut MySqlFieldReader<'_>, days: u32) -> String {
    let [hours, minutes, seconds] = [(); 3].map(|()| fields.u8().unwrap_or(0));
    let hours = u64::from(days) * 24 + u64::from(hours);
    match fields.u32() {
        None | Some(0) => format!("{hours:02}:{minutes:02}:{seconds:02}"),
        Some(micros) => format!("{hours:02}:{minutes:02}:{seconds:02}.{micros:06}"),
    }
}

/// The integer part of a number in text.
fn whole(value: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(value).ok()?;
    let whole = text.split('.').next()?;
    whole.parse().ok().or_else(|| whole.parse::<i64>().ok().map(|number| number as u64))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn number(kind: u8, unsigned: bool, value: &[u8]) -> Option<u64> {
        MySqlColumnDef { kind, unsigned, ..MySqlColumnDef::default() }.number(&[&[0, 0], value].concat(), 1)
    }

    #[test]
    fn mysql_integers_of_every_width_and_decimals_are_decoded() {
        assert_eq!(number(kind::LONGLONG, false, &258u64.to_le_bytes()), Some(258));
        assert_eq!(number(kind::LONGLONG, true, &u64::MAX.to_le_bytes()), Some(u64::MAX));
        assert_eq!(number(kind::LONG, false, &[1, 1, 0, 0]), Some(257));
        assert_eq!(number(kind::YEAR, true, &[0xea, 7]), Some(2026));
        assert_eq!(
            (number(kind::TINY, false, &[0xff]), number(kind::TINY, true, &[0xff])),
            (Some(-1i64 as u64), Some(255))
        );
        assert_eq!(number(kind::NEWDECIMAL, false, b"\x05120.5"), Some(120));
        assert_eq!(number(kind::NEWDECIMAL, false, b"\x02-1"), Some(-1i64 as u64));
        assert_eq!(number(0xfd, false, b"\x011"), None, "a text");
        let null = MySqlColumnDef { kind: kind::LONGLONG, ..MySqlColumnDef::default() };
        assert_eq!(null.number(&[0, 0b100], 1), Some(0));
        // Seven columns need two bytes of NULL bits.
        assert_eq!(
            MySqlColumnDef { kind: kind::TINY, ..MySqlColumnDef::default() }.number(&[0, 0, 0, 9], 7),
            Some(9)
        );
    }

    #[test]
    fn binary_values_of_every_type_are_decoded() {
        let decoded = |kind, value: &[u8]| -> String {
            let column = MySqlColumnDef { kind, binary: kind == 0xfc, ..MySqlColumnDef::default() };
            let mut row = LastRow::default();
            values(&[column], &[&[0, 0], value].concat(), &mut row).expect("a whole row");
            match row.get(0).expect("a column") {
                Value::Text(text) => String::from_utf8_lossy(text).into_owned(),
                other => format!("{other:?}"),
            }
        };
        assert_eq!(decoded(kind::TINY, &[0xff]), "Int(-1)");
        assert_eq!(decoded(kind::DOUBLE, &1.5f64.to_le_bytes()), "Real(1.5)");
        assert_eq!(decoded(kind::FLOAT, &0.1f32.to_le_bytes()), "Real(0.1)");
        assert_eq!(decoded(kind::NEWDECIMAL, b"\x051.50 "), "1.50 ");
        assert_eq!(decoded(kind::DATE, b"\x04\xea\x07\x0b\x17"), "2026-11-23");
        assert_eq!(decoded(kind::DATETIME, b"\x04\xea\x07\x0b\x17"), "2026-11-23 00:00:00");
        assert_eq!(
            decoded(kind::DATETIME, b"\x0b\xea\x07\x0b\x17\x0c\x01\x02\x05\0\0\0"),
            "2026-11-23 12:01:02.000005"
        );
        assert_eq!(decoded(kind::TIME, b"\x08\x01\x01\0\0\0\x02\x03\x04"), "-26:03:04");
        assert_eq!(decoded(kind::TIME, b"\0"), "00:00:00");
        assert_eq!(decoded(0xfd, b"\x02ab"), "ab");
        assert_eq!(decoded(0xfc, b"\x01a"), "Bytes([97])");
        let columns = [MySqlColumnDef { kind: kind::TINY, ..MySqlColumnDef::default() }; 9];
        let mut row = LastRow::default();
        values(&columns, &[0, 0b1111_1000, 0b011, 7, 8], &mut row).expect("a whole row");
        let all: Vec<_> = (0..9).map(|column| row.get(column)).collect();
        let mut expected = [Some(Value::Null); 9];
        (expected[0], expected[8]) = (Some(Value::Int(7)), Some(Value::Int(8)));
        assert_eq!(all, expected);
    }

    #[test]
    fn text_values_decode_like_binary_values() {
        let decoded = |kind, unsigned, written: &str| -> String {
            let column = MySqlColumnDef { kind, unsigned, binary: kind == 0xfc };
            let mut row = LastRow::default();
            let body = [&[written.len() as u8], written.as_bytes()].concat();
            written_values(&[column], &body, &mut row).expect("a whole row");
            match row.get(0).expect("a column") {
                Value::Text(text) => String::from_utf8_lossy(text).into_owned(),
                other => format!("{other:?}"),
            }
        };
        assert_eq!(decoded(kind::TINY, false, "-1"), "Int(-1)");
        assert_eq!(decoded(kind::LONGLONG, true, "18446744073709551615"), "18446744073709551615");
        assert_eq!(decoded(kind::DOUBLE, false, "1.5e-300"), "Real(1.5e-300)");
        assert_eq!(decoded(kind::FLOAT, false, "0.1"), "Real(0.1)");
        assert_eq!(decoded(kind::NEWDECIMAL, false, "1.50"), "1.50");
        assert_eq!(decoded(kind::DATE, false, "2026-11-23"), "2026-11-23");
        assert_eq!(decoded(kind::DATETIME, false, "2026-11-23 00:00:00.000000"), "2026-11-23 00:00:00");
        assert_eq!(decoded(kind::DATETIME, false, "2026-11-23 12:01:02.5"), "2026-11-23 12:01:02.500000");
        assert_eq!(decoded(kind::TIME, false, "-26:03:04"), "-26:03:04");
        assert_eq!(
            (decoded(0xfd, false, "ab"), decoded(0xfc, false, "a")),
            ("ab".to_owned(), "Bytes([97])".to_owned())
        );
        let number =
            |kind, body: &[u8]| MySqlColumnDef { kind, ..MySqlColumnDef::default() }.written_number(body);
        assert_eq!(
            (number(kind::LONG, b"\x03-12"), number(kind::LONG, b"\xfb")),
            (Some(-12i64 as u64), Some(0))
        );
        assert_eq!((number(kind::NEWDECIMAL, b"\x0512.75"), number(0xfd, b"\x0212")), (Some(12), None));
    }

    proptest! {
        #[test]
        fn row_reader_never_panics_on_any_bytes(kind: u8, body: Vec<u8>, columns in 0u64..70_000) {
            let _ = MySqlColumnDef::read(&body);
            let column = MySqlColumnDef { kind, ..MySqlColumnDef::default() };
            column.number(&body, columns);
            values(&[column; 3], &body, &mut LastRow::default());
            column.written_number(&body);
            written_values(&[column; 3], &body, &mut LastRow::default());
        }
    }
}
