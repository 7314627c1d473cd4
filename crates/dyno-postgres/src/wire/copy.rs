//! Sends rows in bulk with `COPY … FROM STDIN`.

use super::connection::PostgresConnection;
use super::error::PostgresError;
use super::message;
use dyno_engine::{Refusal as _, TargetError};

/// Bytes that are collected before they are sent: this saves system calls and adds no more latency than a
/// full socket buffer.
const GATHER_BYTES: usize = 128 * 1024;

impl PostgresConnection {
    /// Starts a `COPY … FROM STDIN`.
    ///
    /// # Errors
    /// The server returned an error, or `sql` is another statement.
    pub fn copy_in(&mut self, sql: &str) -> Result<CopyIn<'_>, TargetError> {
        message::query(&mut self.line.out, sql);
        self.line.send()?;
        let (tag, body) = self.next()?;
        match tag {
            b'G' => return Ok(CopyIn::new(self)),
            b'E' => {
                let error = PostgresError::read(self.line.body(body));
                if error.is_fatal() {
                    return Err(error.into_target());
                }
                self.read_results()?;
                return Err(error.into_target());
            }
            _ => {}
        }
        self.read_results()?;
        Err(TargetError::database(format!("this is no COPY … FROM STDIN: {sql}")))
    }
}

/// An open `COPY … FROM STDIN`. [`CopyIn::finish`] or [`CopyIn::fail`] ends it; dropping it is the same as
/// failing it.
#[derive(Debug)]
pub struct CopyIn<'a> {
    connection: &'a mut PostgresConnection,
    open: bool,
}

impl<'a> CopyIn<'a> {
    /// Starts the copy after the server has requested data.
    pub(super) fn new(connection: &'a mut PostgresConnection) -> Self {
        connection.line.out.clear();
        Self { connection, open: true }
    }

    /// Sends some data in pieces of any size; a piece need not contain whole rows.
    ///
    /// # Errors
    /// The connection was lost. Errors in the data are returned by [`CopyIn::finish`].
    pub fn send(&mut self, data: &[u8]) -> Result<(), TargetError> {
        let out = &mut self.connection.line.out;
        message::message(out, b'd', |out| out.extend_from_slice(data));
        if out.len() >= GATHER_BYTES { self.push() } else { Ok(()) }
    }

    fn push(&mut self) -> Result<(), TargetError> {
        let result = self.connection.line.send();
        self.open &= result.is_ok();
        Ok(result?)
    }

    /// Ends the data; returns the number of rows that the server accepted.
    ///
    /// # Errors
    /// The server rejected the data, or the connection was lost.
    pub fn finish(mut self) -> Result<u64, TargetError> {
        message::message(&mut self.connection.line.out, b'c', |_| ());
        self.push()?;
        self.open = false;
        self.connection.read_results()?;
        Ok(self.connection.rows_affected())
    }

    /// Ends the copy and discards all of it.
    ///
    /// # Errors
    /// The connection was lost.
    pub fn fail(mut self) -> Result<(), TargetError> {
        self.break_off()
    }

    fn break_off(&mut self) -> Result<(), TargetError> {
        message::message(&mut self.connection.line.out, b'f', |out| {
            message::text(out, "broken off by the client");
        });
        self.push()?;
        self.open = false;
        match self.connection.read_results() {
            // The server answers a failed copy with an error, as expected.
            Err(super::PostgresWireError::Server(_)) | Ok(_) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

impl Drop for CopyIn<'_> {
    fn drop(&mut self) {
        if self.open {
            // Nothing can report the error here; a lost connection fails at its next use.
            let _ = self.break_off();
        }
    }
}
