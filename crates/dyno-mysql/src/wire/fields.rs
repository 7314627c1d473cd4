//! Reads the fields of one packet: little-endian numbers, and length-prefixed numbers and texts.

use dyno_engine::TextRow;

/// Reads the fields of a packet; every method returns `None` if the packet ends too early.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MySqlFieldReader<'a>(&'a [u8]);

impl<'a> MySqlFieldReader<'a> {
    /// Starts at the beginning of `body`.
    #[inline]
    pub(crate) fn new(body: &'a [u8]) -> Self {
        Self(body)
    }

    pub(crate) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(count)?;
        self.0 = tail;
        Some(head)
    }

    #[inline]
    pub(crate) fn u8(&mut self) -> Option<u8> {
        let (&byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(byte)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes(*self.take(2)?.first_chunk()?))
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(*self.take(4)?.first_chunk()?))
    }

    /// A number whose first byte gives its length (length-encoded integer).
    #[inline]
    pub(crate) fn number(&mut self) -> Option<u64> {
        let width = match self.u8()? {
            small @ 0..=0xfa => return Some(u64::from(small)),
            0xfc => 2,
            0xfd => 3,
            0xfe => 8,
            _ => return None,
        };
        let bytes = self.take(width)?;
        Some(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    /// Bytes with a length prefix; `Some(None)` is NULL, which occurs only in text rows.
    pub(crate) fn value(&mut self) -> Option<Option<&'a [u8]>> {
        if self.0.first() == Some(&0xfb) {
            self.0 = &self.0[1..];
            return Some(None);
        }
        let length = usize::try_from(self.number()?).ok()?;
        self.take(length).map(Some)
    }

    /// A zero-terminated text without the zero; without a terminator, everything up to the end.
    pub(crate) fn text(&mut self) -> &'a [u8] {
        let end = self.0.iter().position(|&byte| byte == 0).unwrap_or(self.0.len());
        let text = &self.0[..end];
        self.0 = self.0.get(end + 1..).unwrap_or_default();
        text
    }

    /// All bytes that have not been read.
    pub(crate) fn rest(self) -> &'a [u8] {
        self.0
    }
}

/// Parses a text row with `columns` values.
pub(crate) fn row(body: &[u8], columns: u64) -> Option<TextRow> {
    let mut fields = MySqlFieldReader::new(body);
    // Invalid UTF-8 is shown with replacement characters and not rejected: this code is not on the hot path.
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let values = (0..columns).map(|_| Some(fields.value()?.map(text)));
    values.collect::<Option<_>>().map(TextRow)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::message;
    use super::*;

    proptest! {
        #[test]
        fn wire_numbers_round_trip(value: u64) {
            let mut out = Vec::new();
            message::number(&mut out, value);
            let mut fields = MySqlFieldReader::new(&out);
            prop_assert_eq!(fields.number(), Some(value));
            prop_assert!(fields.rest().is_empty());
        }

        #[test]
        fn row_reader_never_panics_on_any_bytes(body: Vec<u8>) {
            let mut fields = MySqlFieldReader::new(&body);
            while !fields.rest().is_empty() && fields.value().is_some() {}
            fields.text();
        }
    }
}
