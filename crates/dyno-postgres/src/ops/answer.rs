//! Reading the answer to one operation, as its pieces arrive.

use crate::wire::{Connection, PgError, WireError, message_rows};
use dyno_engine::Clock;

/// What the server answered.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Answer {
    /// The integer that the last row begins with, one below zero as its two's complement; 0 where that is NULL.
    pub(super) value: u64,
    /// Whether the last row begins with something else.
    pub(super) is_odd: bool,
    /// Rows, as the command tag counts them.
    pub(super) rows: u64,
    /// The first letter of the command tag.
    pub(super) tag: u8,
    /// When the statement had ended and its commit began.
    pub(super) ended_ns: Option<u64>,
}

/// An answer of which a part may be here.
#[derive(Debug, Default)]
pub(super) struct Reply {
    answer: Answer,
    /// Whether rows come as text.
    is_text: bool,
    /// How many requests were sent before it whose answers have not come, and the rows of those that have.
    to_come: u32,
    before: Vec<u64>,
    refusal: Option<Box<PgError>>,
}

impl Reply {
    /// Nothing has arrived; rows will come as text, or in binary.
    pub(super) fn new(is_text: bool) -> Self {
        Self { is_text, ..Self::default() }
    }

    /// The same behind so many requests.
    pub(super) fn behind(requests: u32) -> Self {
        Self { to_come: requests, ..Self::default() }
    }

    /// Rows of the requests that were sent before it.
    pub(super) fn before(&self) -> &[u64] {
        &self.before
    }

    /// Takes in what has arrived, up to ReadyForQuery; `None` if that is not here yet. With a `clock`, the arrival of
    /// CommandComplete is timed, if it was seen before the rest. Descriptions of rows, and rows, are shown to `each`.
    ///
    /// # Errors
    /// The server refused, and the connection is in step again; or it is lost.
    #[inline]
    pub(super) fn take(
        &mut self,
        connection: &mut Connection,
        clock: Option<&dyn Clock>,
        mut each: impl FnMut(u8, &[u8]),
    ) -> Result<Option<Answer>, WireError> {
        while let Some((tag, body)) = connection.next_here()? {
            match tag {
                b'D' if self.to_come > 0 => {}
                b'C' if self.to_come > 0 => {
                    self.to_come -= 1;
                    self.before.push(message_rows(connection.line.body(body)));
                }
                b'D' => {
                    // The last row counts: through a pooler those of a session's settings come before.
                    let row = connection.line.body(body);
                    each(tag, row);
                    let number = if self.is_text { written(row) } else { integer(row) };
                    (self.answer.value, self.answer.is_odd) = (number.unwrap_or(0), number.is_none());
                }
                b'T' => each(tag, connection.line.body(body)),
                b'C' => {
                    if let Some(clock) = clock {
                        // Whatever has arrived behind it shows that the commit has ended as well.
                        self.answer.ended_ns = connection.line.inbound.is_empty().then(|| clock.now_ns());
                    }
                    let tag = connection.line.body(body);
                    self.answer.tag = tag.first().copied().unwrap_or_default();
                    self.answer.rows = message_rows(tag);
                }
                b'Z' => return self.end().map(Some),
                b'E' => self.refused(PgError::read(connection.line.body(body)))?,
                _ => {}
            }
        }
        Ok(None)
    }

    #[inline]
    fn end(&mut self) -> Result<Answer, WireError> {
        match self.refusal.take() {
            None => Ok(std::mem::take(&mut self.answer)),
            Some(error) => Err(WireError::Server(error)),
        }
    }

    /// The server goes on to ReadyForQuery after an error, unless it has ended the connection with it.
    #[cold]
    fn refused(&mut self, error: PgError) -> Result<(), WireError> {
        let error = Box::new(error);
        if error.is_fatal() {
            return Err(WireError::Server(error));
        }
        self.refusal.get_or_insert(error);
        Ok(())
    }
}

/// The integer in the first column of a row: an `int8`, or one of the shorter ones; 0 is NULL, too.
#[inline]
fn integer(row: &[u8]) -> Option<u64> {
    // Column count, length word, value.
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

/// The same of a row that comes as text.
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

/// Reads on until the connection is in step again.
#[cold]
pub(super) fn refused(connection: &mut Connection, error: PgError) -> WireError {
    let fatal = error.is_fatal();
    let error = WireError::Server(Box::new(error));
    if fatal {
        return error;
    }
    loop {
        match connection.next() {
            Ok((b'Z', _)) => return error,
            Ok(_) => {}
            // The connection broke while the server was explaining itself: that is what the session has to know.
            Err(lost) => return lost,
        }
    }
}
