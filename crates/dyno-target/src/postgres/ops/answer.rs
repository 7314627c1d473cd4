//! Reading the answer to one operation.

use crate::clock::Clock;
use crate::postgres::wire::{Connection, PgError, WireError, message_rows};

/// What the server answered.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Answer {
    /// The number in the last row, where the row is one `int8`.
    pub(super) value: u64,
    /// Rows, as the command tag counts them.
    pub(super) rows: u64,
    /// When the statement had ended and its commit began.
    pub(super) ended_ns: Option<u64>,
}

/// Reads up to ReadyForQuery. With a `clock`, the arrival of CommandComplete is timed, if it was seen before the rest.
#[inline]
pub(super) fn read(connection: &mut Connection, clock: Option<&dyn Clock>) -> Result<Answer, WireError> {
    let mut answer = Answer::default();
    loop {
        let (tag, body) = connection.next()?;
        match tag {
            b'D' => {
                // Column count, length word, value.
                if let Some(value) = connection.body(body).get(6..14).and_then(|bytes| bytes.first_chunk()) {
                    answer.value = u64::from_be_bytes(*value);
                }
            }
            b'C' => {
                if let Some(clock) = clock {
                    // Whatever has arrived behind it shows that the commit has ended as well.
                    answer.ended_ns = connection.inbound.is_empty().then(|| clock.now_ns());
                }
                answer.rows = message_rows(connection.body(body));
            }
            b'Z' => return Ok(answer),
            b'E' => {
                let error = PgError::read(connection.body(body));
                return Err(refused(connection, error));
            }
            _ => {}
        }
    }
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
