//! A connection for everything outside the hot path: queries, settings, loading.

use std::time::Duration;

use super::error::{MySqlWireError, refused};
use super::fields::{MySqlFieldReader, row};
use super::message::mark::{END, ERROR, OK};
use super::message::{self, command};
use super::protocol::MySqlProtocol;
use crate::connect::{self, MySqlConnectConfig};
use dyno_engine::net::{Breaker, Stream, WireStream};
use dyno_engine::{TargetError, TextRow};

/// Flag in the status of an OK packet: another result follows.
const MORE_RESULTS: u16 = 0x0008;

/// The server's version and the connection's id from the greeting.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Greeting {
    /// The server's version as it reports it: `10.11.6-MariaDB-0+deb12u1`, `9.7.4-2`.
    pub(crate) version: String,
    /// Whether the server is MariaDB.
    pub(crate) mariadb: bool,
    /// The connection's id, as in the process list.
    pub(crate) id: u32,
}

/// One connection to a server.
#[derive(Debug)]
pub struct MySqlConnection {
    pub(crate) line: WireStream<MySqlProtocol>,
    pub(crate) greeting: Greeting,
    /// Whether a byte after a result's column count states if definitions follow (MySQL:
    /// `CLIENT_OPTIONAL_RESULTSET_METADATA`, MariaDB: `MARIADB_CLIENT_CACHE_METADATA`). Without that byte
    /// they always follow.
    pub(crate) has_metadata_flag: bool,
    rows_affected: u64,
    warnings: u16,
}

/// The fields of an OK packet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct MySqlOkPacket {
    /// Number of rows that were changed.
    pub(crate) rows_affected: u64,
    status: u16,
    warnings: u16,
}

impl MySqlOkPacket {
    /// Whether another result of the same request follows.
    #[inline]
    pub(crate) fn has_more_results(self) -> bool {
        self.status & MORE_RESULTS != 0
    }

    /// Parses an OK packet after its first byte.
    #[inline]
    pub(crate) fn read(body: &[u8]) -> Result<Self, MySqlWireError> {
        let mut fields = MySqlFieldReader::new(body);
        let mut read = || {
            let rows_affected = fields.number()?;
            fields.number()?;
            Some(Self { rows_affected, status: fields.u16()?, warnings: fields.u16()? })
        };
        read().ok_or_else(|| MySqlWireError::protocol("a truncated OK packet"))
    }
}

impl MySqlConnection {
    /// Connects, authenticates, and waits until the server is ready. `name` is the program name in the
    /// server's views.
    ///
    /// # Errors
    /// [`TargetErrorKind::Unreachable`](dyno_engine::TargetErrorKind), `Denied`, or `PasswordNeeded` if the
    /// server requires a password and none is set; each with a hint.
    pub fn open(config: &MySqlConnectConfig, name: &str) -> Result<Self, TargetError> {
        connect::establish(config, name, &Breaker::default())
    }

    /// A connection on a stream from which nothing has been read yet.
    pub(crate) fn from_stream(stream: Stream) -> Self {
        Self {
            line: WireStream::new(stream),
            greeting: Greeting::default(),
            has_metadata_flag: false,
            rows_affected: 0,
            warnings: 0,
        }
    }

    /// The body of the next packet; an error packet is returned as an error.
    pub(crate) fn next_body(&mut self) -> Result<&[u8], MySqlWireError> {
        let (_, body) = self.line.receive()?;
        let body = self.line.body(body);
        if body.first() == Some(&ERROR) {
            return Err(refused(body));
        }
        Ok(body)
    }

    /// Sends `sql`, which may contain several statements, and returns all their rows in order.
    ///
    /// # Errors
    /// The server returned an error for a statement, or the connection was lost. After an error of the server
    /// the connection remains usable.
    pub fn simple(&mut self, sql: &str) -> Result<Vec<TextRow>, TargetError> {
        Ok(self.ask(sql)?)
    }

    /// [`MySqlConnection::simple`] with the protocol's own error type.
    pub(crate) fn ask(&mut self, sql: &str) -> Result<Vec<TextRow>, MySqlWireError> {
        message::command(&mut self.line.out, command::QUERY, sql);
        self.line.send()?;
        let mut rows = Vec::new();
        while self.read_result(&mut rows)? {}
        Ok(rows)
    }

    /// Reads the answer to an execution without rows.
    ///
    /// # Errors
    /// The server returned an error, or rows; or the connection was lost.
    pub(crate) fn read_answer(&mut self) -> Result<(), MySqlWireError> {
        match self.next_body()?.split_first() {
            Some((&OK, rest)) => MySqlOkPacket::read(rest).map(drop),
            _ => Err(MySqlWireError::protocol("rows where none were expected")),
        }
    }

    /// Reads one result; returns whether another follows.
    pub(super) fn read_result(&mut self, rows: &mut Vec<TextRow>) -> Result<bool, MySqlWireError> {
        let marked = self.has_metadata_flag;
        let body = self.next_body()?;
        if let Some((&OK, rest)) = body.split_first() {
            let ok_packet = MySqlOkPacket::read(rest)?;
            return Ok(self.record_ok(ok_packet));
        }
        let mut fields = MySqlFieldReader::new(body);
        let columns = fields.number().ok_or_else(|| MySqlWireError::protocol("a result without columns"))?;
        if !marked || fields.u8() != Some(0) {
            for _ in 0..columns {
                self.next_body()?;
            }
        }
        loop {
            let body = self.next_body()?;
            // A value longer than 16 MiB begins with the same byte, but no packet here is that long.
            if let Some((&END, rest)) = body.split_first() {
                let end_packet = MySqlOkPacket::read(rest)?;
                return Ok(self.record_ok(end_packet));
            }
            let row = row(body, columns);
            rows.push(row.ok_or_else(|| MySqlWireError::protocol("a truncated row"))?);
        }
    }

    fn record_ok(&mut self, ok_packet: MySqlOkPacket) -> bool {
        self.rows_affected = ok_packet.rows_affected;
        self.warnings = ok_packet.warnings;
        ok_packet.has_more_results()
    }

    /// Rows that the last statement changed, as the server counted them.
    pub fn rows_affected(&self) -> u64 {
        self.rows_affected
    }

    /// Warnings of the last statement.
    pub fn warnings(&self) -> u16 {
        self.warnings
    }

    /// The server's version from the greeting: `9.7.4-2`.
    pub fn server_version(&self) -> &str {
        &self.greeting.version
    }

    /// The server's version as a number: 101106 is 10.11.6; 0 if it cannot be parsed.
    pub fn version_num(&self) -> u32 {
        version_num(&self.greeting.version)
    }

    /// Whether the server is MariaDB.
    pub fn is_mariadb(&self) -> bool {
        self.greeting.mariadb
    }

    /// The connection's id, as in the process list.
    pub fn id(&self) -> u32 {
        self.greeting.id
    }

    /// Whether the connection is encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.line.stream.is_tls()
    }

    /// Ends the connection with the protocol's QUIT command.
    pub fn close(self) {
        self.line.close(quit, None);
    }

    /// Like [`MySqlConnection::close`], but waits until the server has closed its side.
    pub(crate) fn close_within(mut self, wait: Duration) {
        self.end_within(wait);
    }

    /// Like [`Self::close_within`], for a connection that will be replaced; nothing more is sent on it.
    pub(crate) fn end_within(&mut self, wait: Duration) {
        self.line.end(quit, Some(wait));
    }
}

fn quit(out: &mut Vec<u8>) {
    message::command(out, command::QUIT, "");
}

/// `10.11.6-MariaDB` → 101106; `9.7.4-2` → 90704.
pub(crate) fn version_num(text: &str) -> u32 {
    let mut parts = text.split(|c: char| !c.is_ascii_digit());
    let mut next = || parts.next().and_then(|part| part.parse::<u32>().ok()).unwrap_or(0).min(999);
    let (major, minor, patch) = (next(), next(), next());
    major * 10_000 + minor.min(99) * 100 + patch.min(99)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_strings_become_numbers() {
        assert_eq!(version_num("10.11.6-MariaDB-0+deb12u1"), 101_106);
        assert_eq!(version_num("9.7.4-2"), 90_704);
        assert_eq!(version_num("8.0.36"), 80_036);
        assert_eq!(version_num("what"), 0);
    }

    #[test]
    fn ok_packet_contains_rows_status_and_warnings() {
        let ok_packet = MySqlOkPacket::read(&[3, 0, 0x0a, 0, 1, 0]).unwrap();
        assert_eq!((ok_packet.rows_affected, ok_packet.status, ok_packet.warnings), (3, 10, 1));
        assert!(MySqlOkPacket::read(&[3]).is_err());
    }
}
