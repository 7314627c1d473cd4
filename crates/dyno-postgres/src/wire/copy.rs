//! Sending rows in bulk: `COPY … FROM STDIN`.

use super::connection::Connection;
use super::error::PgError;
use super::message;
use dyno_engine::{Refusal as _, TargetError};

/// Bytes that are gathered before they are sent: fewer system calls, and no more latency than a full socket buffer has.
const GATHER_BYTES: usize = 128 * 1024;

impl Connection {
    /// Starts a `COPY … FROM STDIN`.
    ///
    /// # Errors
    /// The server refused it, or `sql` is another statement.
    pub fn copy_in(&mut self, sql: &str) -> Result<CopyIn<'_>, TargetError> {
        message::query(&mut self.line.out, sql);
        self.line.send()?;
        let (tag, body) = self.next()?;
        match tag {
            b'G' => return Ok(CopyIn::new(self)),
            b'E' => {
                let error = PgError::read(self.line.body(body));
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

/// A `COPY … FROM STDIN` under way. Ended by [`CopyIn::finish`] or [`CopyIn::fail`]; dropping it is failing it.
#[derive(Debug)]
pub struct CopyIn<'a> {
    connection: &'a mut Connection,
    open: bool,
}

impl<'a> CopyIn<'a> {
    /// The server has said that it waits for data.
    pub(super) fn new(connection: &'a mut Connection) -> Self {
        connection.line.out.clear();
        Self { connection, open: true }
    }

    /// Sends some data, in any pieces; rows need not be whole.
    ///
    /// # Errors
    /// The connection is lost. What the server thinks of the data, it says at [`CopyIn::finish`].
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

    /// Ends the data; returns how many rows the server took.
    ///
    /// # Errors
    /// The server refused the data, or the connection is lost.
    pub fn finish(mut self) -> Result<u64, TargetError> {
        message::message(&mut self.connection.line.out, b'c', |_| ());
        self.push()?;
        self.open = false;
        self.connection.read_results()?;
        Ok(self.connection.rows_affected())
    }

    /// Ends the copy so that nothing of it stays.
    ///
    /// # Errors
    /// The connection is lost.
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
            // The server answers a failed copy with an error: that is what was asked for.
            Err(super::WireError::Server(_)) | Ok(_) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

impl Drop for CopyIn<'_> {
    fn drop(&mut self) {
        if self.open {
            // Nobody is left to tell; a lost connection shows itself at its next use.
            let _ = self.break_off();
        }
    }
}
