//! Reading the fields of one packet: little-endian numbers, and numbers and texts with their length in front.

use dyno_engine::Row;

/// Reads the fields of a packet; `None` where it ends too early.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    /// Begins at the start of `body`.
    #[inline]
    pub(crate) fn new(body: &'a [u8]) -> Self {
        Self(body)
    }

    /// The next `count` bytes.
    pub(crate) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(count)?;
        self.0 = tail;
        Some(head)
    }

    /// One byte.
    #[inline]
    pub(crate) fn u8(&mut self) -> Option<u8> {
        let (&byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(byte)
    }

    /// Two bytes.
    pub(crate) fn u16(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes(*self.take(2)?.first_chunk()?))
    }

    /// Four bytes.
    pub(crate) fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(*self.take(4)?.first_chunk()?))
    }

    /// A number that says in its first byte how long it is (length-encoded integer).
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

    /// Bytes with their length in front; `Some(None)` is NULL, which only rows of text have.
    pub(crate) fn value(&mut self) -> Option<Option<&'a [u8]>> {
        if self.0.first() == Some(&0xfb) {
            self.0 = &self.0[1..];
            return Some(None);
        }
        let length = usize::try_from(self.number()?).ok()?;
        self.take(length).map(Some)
    }

    /// A zero-terminated text without the zero; to the end where there is no zero.
    pub(crate) fn text(&mut self) -> &'a [u8] {
        let end = self.0.iter().position(|&byte| byte == 0).unwrap_or(self.0.len());
        let text = &self.0[..end];
        self.0 = self.0.get(end + 1..).unwrap_or_default();
        text
    }

    /// What is left.
    pub(crate) fn rest(self) -> &'a [u8] {
        self.0
    }
}

/// The row of `columns` values in a packet.
pub(crate) fn row(body: &[u8], columns: u64) -> Option<Row> {
    let mut fields = Fields::new(body);
    // What is not UTF-8 is shown with marks instead of refused: this row is not hot.
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let values = (0..columns).map(|_| Some(fields.value()?.map(text)));
    values.collect::<Option<_>>().map(Row)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::message;
    use super::*;

    proptest! {
        #[test]
        fn numbers_read_as_they_were_written(value: u64) {
            let mut out = Vec::new();
            message::number(&mut out, value);
            let mut fields = Fields::new(&out);
            prop_assert_eq!(fields.number(), Some(value));
            prop_assert!(fields.rest().is_empty());
        }

        #[test]
        fn no_bytes_can_make_it_panic(body: Vec<u8>) {
            let mut fields = Fields::new(&body);
            while !fields.rest().is_empty() && fields.value().is_some() {}
            fields.text();
        }
    }
}
