//! Sending rows in bulk: `LOAD DATA LOCAL INFILE`, with a file that never was one.

use super::connection::Connection;
use super::error::{WireError, refused};
use super::message::{self, command};

/// First byte of the server's request for a file.
const FILE: u8 = 0xfb;

/// Bytes of one packet of the file.
pub(crate) const FILE_PACKET_BYTES: usize = 256 * 1024;

impl Connection {
    /// Runs the `LOAD DATA LOCAL INFILE` statement `sql`; `fill` appends the next piece of the file to the buffer, some
    /// [`FILE_PACKET_BYTES`], and nothing at its end. Returns the rows that the server took.
    ///
    /// # Errors
    /// The server refused; or `fill` failed, and then the server has got a file that ends early, to be rolled back.
    pub(crate) fn load_local<E: From<WireError>>(
        &mut self,
        sql: &str,
        mut fill: impl FnMut(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<u64, E> {
        message::command(&mut self.line.out, command::QUERY, sql);
        self.line.send()?;
        let (mut sequence, body) = self.line.receive()?;
        let body = self.line.body(body);
        match body.first() {
            Some(&FILE) => {}
            Some(0xff) => return Err(refused(body).into()),
            _ => return Err(WireError::protocol("no request for the file of a LOAD DATA").into()),
        }
        let mut filled = Ok(());
        loop {
            sequence = sequence.wrapping_add(1);
            let mut at_end = true;
            message::packet(&mut self.line.out, sequence, |out| {
                let before = out.len();
                if filled.is_ok() {
                    filled = fill(out);
                }
                if filled.is_err() {
                    out.truncate(before);
                }
                at_end = out.len() == before;
            });
            self.line.send()?;
            if at_end {
                break;
            }
        }
        let answered = self.read_result(&mut Vec::new());
        filled?;
        answered?;
        Ok(self.rows_affected())
    }
}
