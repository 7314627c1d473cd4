//! Parses the result of one operation as its messages arrive.

use crate::wire::{PostgresConnection, PostgresError, PostgresWireError, message_rows};
use dyno_engine::Clock;

/// The result of an operation, as far as Dyno uses it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PostgresStatementResult {
    /// The first column of the last row as an integer: negative numbers in two's complement, 0 if NULL.
    pub(super) value: u64,
    /// Whether the first column of the last row is not an integer.
    pub(super) is_odd: bool,
    /// Number of rows in the command tag; the rows that arrived if the tag has none, as some compatible servers
    /// leave it out.
    pub(super) rows: u64,
    /// Number of rows that arrived.
    arrived: u64,
    /// The first letter of the command tag.
    pub(super) tag: u8,
    /// When the statement ended and its commit began; absent if that was not visible.
    pub(super) ended_ns: Option<u64>,
}

/// Parser state for a result that may still be incomplete.
#[derive(Debug, Default)]
pub(super) struct PostgresReplyReader {
    answer: PostgresStatementResult,
    /// Whether rows contain their values as text.
    is_text: bool,
    /// Number of earlier requests whose results have not arrived, and the row counts of those that have.
    earlier_pending: u32,
    earlier_rows: Vec<u64>,
    refusal: Option<Box<PostgresError>>,
}

impl PostgresReplyReader {
    /// A parser that has read nothing; rows will arrive as text or in binary.
    pub(super) fn new(is_text: bool) -> Self {
        Self { is_text, ..Self::default() }
    }

    /// A parser for a request that was sent after this many others.
    pub(super) fn after_requests(requests: u32) -> Self {
        Self { earlier_pending: requests, ..Self::default() }
    }

    /// Row counts of the requests that were sent before.
    pub(super) fn earlier_rows(&self) -> &[u64] {
        &self.earlier_rows
    }

    /// Parses the messages that have arrived, up to ReadyForQuery; returns `None` while the result is
    /// incomplete. With a `clock`, it records when CommandComplete arrived, if that came before the rest. Row
    /// descriptions and rows are passed to `each`.
    ///
    /// # Errors
    /// The server returned an error and the connection is ready again, or the connection was lost.
    #[inline]
    pub(super) fn take(
        &mut self,
        connection: &mut PostgresConnection,
        clock: Option<&dyn Clock>,
        mut each: impl FnMut(u8, &[u8]),
    ) -> Result<Option<PostgresStatementResult>, PostgresWireError> {
        while let Some((tag, body)) = connection.next_here()? {
            match tag {
                b'D' if self.earlier_pending > 0 => {}
                b'C' if self.earlier_pending > 0 => {
                    self.earlier_pending -= 1;
                    self.earlier_rows.push(message_rows(connection.line.body(body)).unwrap_or(0));
                }
                b'D' => {
                    // The last row counts: through a pooler, the row of the session's settings precedes it.
                    let row = connection.line.body(body);
                    each(tag, row);
                    self.answer.arrived += 1;
                    let number = if self.is_text { written(row) } else { integer(row) };
                    (self.answer.value, self.answer.is_odd) = (number.unwrap_or(0), number.is_none());
                }
                b'T' => each(tag, connection.line.body(body)),
                b'C' => {
                    if let Some(clock) = clock {
                        // Any data after this message shows that the commit has already ended.
                        self.answer.ended_ns = connection.line.inbound.is_empty().then(|| clock.now_ns());
                    }
                    let tag = connection.line.body(body);
                    self.answer.tag = tag.first().copied().unwrap_or_default();
                    self.answer.rows = message_rows(tag).unwrap_or(self.answer.arrived);
                }
                b'Z' => return self.end().map(Some),
                b'E' => self.record_refusal(PostgresError::read(connection.line.body(body)))?,
                _ => {}
            }
        }
        Ok(None)
    }

    #[inline]
    fn end(&mut self) -> Result<PostgresStatementResult, PostgresWireError> {
        match self.refusal.take() {
            None => Ok(std::mem::take(&mut self.answer)),
            Some(error) => Err(PostgresWireError::Server(error)),
        }
    }

    /// After an error the server continues to ReadyForQuery, unless the error ended the connection.
    #[cold]
    fn record_refusal(&mut self, error: PostgresError) -> Result<(), PostgresWireError> {
        let error = Box::new(error);
        if error.is_fatal() {
            return Err(PostgresWireError::Server(error));
        }
        self.refusal.get_or_insert(error);
        Ok(())
    }
}

/// The integer in the first column of a row: an `int8` or a shorter type; NULL gives 0.
#[inline]
fn integer(row: &[u8]) -> Option<u64> {
    // The column count, the length word, and the value.
    let (length, value) = row.get(2..)?.split_first_chunk::<4>()?;
    let number = match u32::from_be_bytes(*length) {
        8 => i64::from_be_bytes(*value.first_chunk()?),
        4 => i64::from(i32::from_be_bytes(*value.first_chunk()?)),
        2 => i64::from(i16::from_be_bytes(*value.first_chunk()?)),
        u32::MAX => 0,
        _ => return None,
    };
    Some(number as u64)
}

/// Like [`integer`], for a row that arrives as text.
#[cold]
fn written(row: &[u8]) -> Option<u64> {
    let (length, value) = row.get(2..)?.split_first_chunk::<4>()?;
    let length = u32::from_be_bytes(*length);
    if length == u32::MAX {
        return Some(0);
    }
    let digits = std::str::from_utf8(value.get(..length as usize)?).ok()?;
    digits.parse::<i64>().ok().map(|number| number as u64)
}

/// Reads messages until the connection is ready again.
#[cold]
pub(super) fn refused(connection: &mut PostgresConnection, error: PostgresError) -> PostgresWireError {
    let fatal = error.is_fatal();
    let error = PostgresWireError::Server(Box::new(error));
    if fatal {
        return error;
    }
    loop {
        match connection.next() {
            Ok((b'Z', _)) => return error,
            Ok(_) => {}
            // The connection broke after the error: the session must know that it is lost.
            Err(lost) => return lost,
        }
    }
}
