//! Reads the fields of one message in order.

use dyno_engine::TextRow;

/// Reads the fields of one message's body; every method returns `None` if the body ends too early.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PostgresFieldReader<'a>(&'a [u8]);

impl<'a> PostgresFieldReader<'a> {
    /// Starts at the beginning of `body`.
    #[inline]
    pub(crate) fn new(body: &'a [u8]) -> Self {
        Self(body)
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(count)?;
        self.0 = tail;
        Some(head)
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    /// Two bytes, big-endian.
    pub(crate) fn u16(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(*self.take(2)?.first_chunk()?))
    }

    /// Four bytes, big-endian, signed.
    pub(crate) fn i32(&mut self) -> Option<i32> {
        Some(i32::from_be_bytes(*self.take(4)?.first_chunk()?))
    }

    /// A value of a row: four bytes of length, then the value; length -1 is NULL.
    pub(crate) fn value(&mut self) -> Option<Option<&'a [u8]>> {
        match self.i32()? {
            -1 => Some(None),
            length => self.take(usize::try_from(length).ok()?).map(Some),
        }
    }

    /// A zero-terminated string, without the zero.
    pub(crate) fn text(&mut self) -> Option<&'a [u8]> {
        let end = self.0.iter().position(|&byte| byte == 0)?;
        let text = &self.0[..end];
        self.0 = &self.0[end + 1..];
        Some(text)
    }

    /// All bytes that have not been read.
    pub(crate) fn rest(self) -> &'a [u8] {
        self.0
    }
}

/// Parses the row in the body of a DataRow message.
pub(super) fn row(body: &[u8]) -> Option<TextRow> {
    let mut fields = PostgresFieldReader::new(body);
    let columns = fields.u16()?;
    // Invalid UTF-8 (a SQL_ASCII database) is shown with replacement characters and not rejected: this code
    // is not on the hot path.
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let values = (0..columns).map(|_| Some(fields.value()?.map(text)));
    values.collect::<Option<_>>().map(TextRow)
}
