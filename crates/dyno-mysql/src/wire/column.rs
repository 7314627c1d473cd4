//! The first column of a result in binary, as a number.

use super::error::WireError;
use super::fields::Fields;

/// Types of columns, by their number in the protocol.
mod kind {
    pub(super) const TINY: u8 = 0x01;
    pub(super) const SHORT: u8 = 0x02;
    pub(super) const LONG: u8 = 0x03;
    pub(super) const LONGLONG: u8 = 0x08;
    pub(super) const INT24: u8 = 0x09;
    pub(super) const YEAR: u8 = 0x0d;
    pub(super) const NEWDECIMAL: u8 = 0xf6;
}

/// Flag in a column's definition: its numbers are never negative.
const UNSIGNED: u16 = 0x20;

/// What a column is, as far as its numbers go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Column {
    kind: u8,
    unsigned: bool,
}

impl Column {
    /// Reads the definition of a column.
    pub(crate) fn read(body: &[u8]) -> Result<Self, WireError> {
        let mut fields = Fields::new(body);
        let mut read = || {
            // Catalog, schema, table and column, the latter two also under their own names.
            for _ in 0..6 {
                fields.value()?;
            }
            // How long the rest is, the collation, the width.
            fields.number()?;
            fields.u16()?;
            fields.u32()?;
            Some(Self { kind: fields.u8()?, unsigned: fields.u16()? & UNSIGNED != 0 })
        };
        read().ok_or_else(|| WireError::protocol("a definition of a column that ends too early"))
    }

    /// Whether it holds integers, or decimal numbers, which sums of integers are.
    pub(crate) fn is_number(self) -> bool {
        self.kind == kind::NEWDECIMAL || self.width().is_some()
    }

    /// Bytes of an integer.
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

    /// The number that `row`, of so many `columns`, begins with; 0 where that is NULL, two's complement where it is
    /// negative, `None` where it is no number.
    #[inline]
    pub(crate) fn number(self, row: &[u8], columns: u64) -> Option<u64> {
        // The row's mark, then a bit for each column behind two that are not used.
        let head = 1 + (columns as usize + 2).div_ceil(8);
        let value = row.get(head..)?;
        if row[1] & 0b100 != 0 {
            return Some(0);
        }
        let Some(width) = self.width() else {
            return if self.kind == kind::NEWDECIMAL { whole(value) } else { None };
        };
        let mut bytes = [0; 8];
        bytes[..width].copy_from_slice(value.get(..width)?);
        let number = u64::from_le_bytes(bytes);
        let negative = !self.unsigned && number >> (8 * width - 1) == 1;
        Some(if negative { number | u64::MAX.unbounded_shl(8 * width as u32) } else { number })
    }
}

/// The whole part of a decimal number in text.
#[cold]
fn whole(value: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(Fields::new(value).value()??).ok()?;
    let whole = text.split('.').next()?;
    whole.parse().ok().or_else(|| whole.parse::<i64>().ok().map(|number| number as u64))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn number(kind: u8, unsigned: bool, value: &[u8]) -> Option<u64> {
        Column { kind, unsigned }.number(&[&[0, 0], value].concat(), 1)
    }

    #[test]
    fn integers_of_every_width_and_decimal_numbers_are_read() {
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
        let null = Column { kind: kind::LONGLONG, unsigned: false };
        assert_eq!(null.number(&[0, 0b100], 1), Some(0));
        // Seven columns take two bytes for which of them are NULL.
        assert_eq!(Column { kind: kind::TINY, unsigned: false }.number(&[0, 0, 0, 9], 7), Some(9));
    }

    proptest! {
        #[test]
        fn no_bytes_can_make_it_panic(kind: u8, body: Vec<u8>, columns in 0u64..70_000) {
            let _ = Column::read(&body);
            Column { kind, unsigned: false }.number(&body, columns);
        }
    }
}
