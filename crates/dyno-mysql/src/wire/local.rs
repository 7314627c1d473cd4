//! Sends rows in bulk with `LOAD DATA LOCAL INFILE`; Dyno generates the file's contents and no file exists.

use super::connection::MySqlConnection;
use super::error::{MySqlWireError, refused};
use super::message::{self, command};

/// First byte of the server's request for a file.
const FILE: u8 = 0xfb;

/// Bytes of one packet of the file.
pub(crate) const FILE_PACKET_BYTES: usize = 256 * 1024;

impl MySqlConnection {
    /// Executes the `LOAD DATA LOCAL INFILE` statement `sql`. `fill` appends the next piece of the file to
    /// the buffer, about [`FILE_PACKET_BYTES`], and nothing at the end. Returns the number of rows that the
    /// server accepted.
    ///
    /// # Errors
    /// The server returned an error, or `fill` failed. In the second case the server has received a truncated
    /// file, and the caller must roll back.
    pub(crate) fn load_local<E: From<MySqlWireError>>(
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
            _ => return Err(MySqlWireError::protocol("no request for the file of a LOAD DATA").into()),
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
