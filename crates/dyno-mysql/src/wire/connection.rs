//! A connection for everything that is not hot: questions, settings, loading.

use std::time::Duration;

use super::error::{WireError, refused};
use super::fields::{Fields, row};
use super::message::mark::{END, ERROR, OK};
use super::message::{self, command};
use super::protocol::My;
use crate::connect::{self, ConnectConfig};
use dyno_engine::net::{Breaker, Line, Stream};
use dyno_engine::{Row, TargetError};

/// Flag in an OK's status: another result follows.
const MORE_RESULTS: u16 = 0x0008;

/// What the server said when it greeted us.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Greeting {
    /// Its version: `10.11.6-MariaDB-0+deb12u1`, `9.7.4-2`.
    pub(crate) version: String,
    /// Whether it is MariaDB.
    pub(crate) mariadb: bool,
    /// The connection's number, as process lists show it.
    pub(crate) id: u32,
}

/// One connection to a server.
#[derive(Debug)]
pub struct Connection {
    pub(crate) line: Line<My>,
    pub(crate) greeting: Greeting,
    /// Whether a byte behind a result's number of columns says if their definitions follow (MySQL:
    /// `CLIENT_OPTIONAL_RESULTSET_METADATA`, MariaDB: `MARIADB_CLIENT_CACHE_METADATA`); they always do if there is none.
    pub(crate) marked: bool,
    rows_affected: u64,
    warnings: u16,
}

/// An OK packet's parts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Ended {
    /// Rows changed.
    pub(crate) rows_affected: u64,
    status: u16,
    warnings: u16,
}

impl Ended {
    /// Whether another result follows.
    #[inline]
    pub(crate) fn more_follow(self) -> bool {
        self.status & MORE_RESULTS != 0
    }

    /// Reads an OK packet behind its first byte.
    #[inline]
    pub(crate) fn read(body: &[u8]) -> Result<Self, WireError> {
        let mut fields = Fields::new(body);
        let mut read = || {
            let rows_affected = fields.number()?;
            fields.number()?;
            Some(Self { rows_affected, status: fields.u16()?, warnings: fields.u16()? })
        };
        read().ok_or_else(|| WireError::protocol("an OK that ends too early"))
    }
}

impl Connection {
    /// Connects, authenticates, and waits until the server is ready. `name` is what the server's views show, where they do.
    ///
    /// # Errors
    /// [`TargetErrorKind::Unreachable`](dyno_engine::TargetErrorKind), `Denied`, or `PasswordNeeded` when the server wants a
    /// password and there is none; each with its way out.
    pub fn open(config: &ConnectConfig, name: &str) -> Result<Self, TargetError> {
        Self::open_guarded(config, name, &Breaker::default())
    }

    /// As [`Connection::open`], guarded by `breaker` from the first moment on.
    pub(crate) fn open_guarded(
        config: &ConnectConfig,
        name: &str,
        breaker: &Breaker,
    ) -> Result<Self, TargetError> {
        connect::establish(config, name, breaker)
    }

    /// A connection on a stream whose server has not been heard yet.
    pub(crate) fn on(stream: Stream) -> Self {
        Self {
            line: Line::new(stream),
            greeting: Greeting::default(),
            marked: false,
            rows_affected: 0,
            warnings: 0,
        }
    }

    /// The body of the next packet, which is no error.
    pub(crate) fn next_body(&mut self) -> Result<&[u8], WireError> {
        let (_, body) = self.line.receive()?;
        let body = self.line.body(body);
        if body.first() == Some(&ERROR) {
            return Err(refused(body));
        }
        Ok(body)
    }

    /// Sends `sql`, which may hold several statements, and returns all their rows, one statement after the other.
    ///
    /// # Errors
    /// The server refused a statement, or the connection is lost. After a refusal the connection can be used.
    pub fn simple(&mut self, sql: &str) -> Result<Vec<Row>, TargetError> {
        Ok(self.ask(sql)?)
    }

    /// [`Connection::simple`] with the wire's own error.
    pub(crate) fn ask(&mut self, sql: &str) -> Result<Vec<Row>, WireError> {
        message::command(&mut self.line.out, command::QUERY, sql);
        self.line.send()?;
        let mut rows = Vec::new();
        while self.read_result(&mut rows)? {}
        Ok(rows)
    }

    /// Reads one result; whether another follows.
    pub(super) fn read_result(&mut self, rows: &mut Vec<Row>) -> Result<bool, WireError> {
        let marked = self.marked;
        let body = self.next_body()?;
        if let Some((&OK, rest)) = body.split_first() {
            let ended = Ended::read(rest)?;
            return Ok(self.note(ended));
        }
        let mut fields = Fields::new(body);
        let columns = fields.number().ok_or_else(|| WireError::protocol("a result without columns"))?;
        if !marked || fields.u8() != Some(0) {
            for _ in 0..columns {
                self.next_body()?;
            }
        }
        loop {
            let body = self.next_body()?;
            // A value longer than 16 MiB begins so too, but no packet here is that long.
            if let Some((&END, rest)) = body.split_first() {
                let ended = Ended::read(rest)?;
                return Ok(self.note(ended));
            }
            let row = row(body, columns);
            rows.push(row.ok_or_else(|| WireError::protocol("a row that ends too early"))?);
        }
    }

    fn note(&mut self, ended: Ended) -> bool {
        self.rows_affected = ended.rows_affected;
        self.warnings = ended.warnings;
        ended.more_follow()
    }

    /// Rows that the last statement changed, as the server counted them.
    pub fn rows_affected(&self) -> u64 {
        self.rows_affected
    }

    /// Warnings of the last statement.
    pub fn warnings(&self) -> u16 {
        self.warnings
    }

    /// The server's version, as it greeted us: `9.7.4-2`.
    pub fn server_version(&self) -> &str {
        &self.greeting.version
    }

    /// The server's version as a number: 101106 is 10.11.6; 0 if it does not tell.
    pub fn version_num(&self) -> u32 {
        version_num(&self.greeting.version)
    }

    /// Whether the server is MariaDB.
    pub fn is_mariadb(&self) -> bool {
        self.greeting.mariadb
    }

    /// The connection's number, as process lists show it.
    pub fn id(&self) -> u32 {
        self.greeting.id
    }

    /// Whether the connection is encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.line.stream.is_tls()
    }

    /// Ends the connection in the protocol's own way.
    pub fn close(self) {
        self.line.close(quit, None);
    }

    /// As [`Connection::close`], and waits until the server has ended its side.
    pub(crate) fn close_within(mut self, wait: Duration) {
        self.end_within(wait);
    }

    /// The same, where another connection takes its place: nothing more is asked of it.
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
    fn versions_become_numbers() {
        assert_eq!(version_num("10.11.6-MariaDB-0+deb12u1"), 101_106);
        assert_eq!(version_num("9.7.4-2"), 90_704);
        assert_eq!(version_num("8.0.36"), 80_036);
        assert_eq!(version_num("what"), 0);
    }

    #[test]
    fn an_ok_tells_rows_and_status() {
        let ended = Ended::read(&[3, 0, 0x0a, 0, 1, 0]).unwrap();
        assert_eq!((ended.rows_affected, ended.status, ended.warnings), (3, 10, 1));
        assert!(Ended::read(&[3]).is_err());
    }
}
