//! A connection for everything outside the hot path: queries, settings, loading.

use std::ops::Range;
use std::time::Duration;

use super::cancel::CancelToken;
use super::error::PostgresWireError;
use super::fields::{PostgresFieldReader, row};
use super::protocol::PostgresProtocol;
use super::{Breaker, PostgresError, message};
use crate::connect::{self, PostgresConnectConfig};
use dyno_engine::net::{Stream, WireMessage, WireStream};
use dyno_engine::{TargetError, TextRow};

/// One connection to a server. The documentation of the module [`wire`](super) has an example.
#[derive(Debug)]
pub struct PostgresConnection {
    pub(crate) line: WireStream<PostgresProtocol>,
    parameters: Vec<(String, String)>,
    pid: i32,
    key: Vec<u8>,
    rows_affected: u64,
    config: PostgresConnectConfig,
}

impl PostgresConnection {
    /// Connects, authenticates, and waits until the server is ready. `application_name` is shown in the
    /// server's views.
    ///
    /// # Errors
    /// `Unreachable`, `Denied`, or `PasswordNeeded` if the server requires a password and none is set; each
    /// with a hint.
    pub fn open(config: &PostgresConnectConfig, application_name: &str) -> Result<Self, TargetError> {
        connect::establish(config, application_name, &Breaker::default())
    }

    /// A connection on a stream on which nothing has been sent yet.
    pub(crate) fn from_stream(stream: Stream, config: &PostgresConnectConfig) -> Self {
        Self {
            line: WireStream::new(stream),
            parameters: Vec::new(),
            pid: 0,
            key: Vec::new(),
            rows_affected: 0,
            config: config.clone(),
        }
    }

    /// The next message that belongs to a result; messages that the server sends on its own are processed on
    /// the way.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<WireMessage, PostgresWireError> {
        loop {
            match self.next_here()? {
                Some(message) => return Ok(message),
                None => self.line.fill()?,
            }
        }
    }

    /// Like [`PostgresConnection::next`], but `None` if the next message has not arrived.
    #[inline]
    pub(crate) fn next_here(&mut self) -> Result<Option<WireMessage>, PostgresWireError> {
        loop {
            match self.line.inbound.cut()? {
                Some((tag @ (b'S' | b'N' | b'A'), body)) => self.take_notice(tag, body),
                message => return Ok(message),
            }
        }
    }

    #[cold]
    pub(crate) fn take_notice(&mut self, tag: u8, body: Range<usize>) {
        if tag != b'S' {
            return;
        }
        let mut fields = PostgresFieldReader::new(self.line.body(body));
        let (Some(name), Some(value)) = (fields.text(), fields.text()) else { return };
        let name = String::from_utf8_lossy(name).into_owned();
        let value = String::from_utf8_lossy(value).into_owned();
        match self.parameters.iter_mut().find(|(known, _)| *known == name) {
            Some(parameter) => parameter.1 = value,
            None => self.parameters.push((name, value)),
        }
    }

    /// Stores what identifies this connection in a cancel request.
    pub(crate) fn set_key(&mut self, body: Range<usize>) -> Result<(), PostgresWireError> {
        let mut fields = PostgresFieldReader::new(self.line.body(body));
        self.pid =
            fields.i32().ok_or_else(|| PostgresWireError::protocol("a cancel key without a process ID"))?;
        self.key = fields.rest().to_vec();
        Ok(())
    }

    /// Sends `sql`, which may contain several statements, and returns all their rows in order.
    ///
    /// Several statements without `BEGIN` are one transaction.
    ///
    /// # Errors
    /// The server returned an error for a statement, or the connection was lost. After an error of the server
    /// the connection remains usable.
    pub fn simple(&mut self, sql: &str) -> Result<Vec<TextRow>, TargetError> {
        message::query(&mut self.line.out, sql);
        self.line.send()?;
        Ok(self.read_results()?)
    }

    /// Sends one statement with text values for `$1`, `$2`, … and returns its rows.
    ///
    /// # Errors
    /// As [`PostgresConnection::simple`].
    pub fn query(&mut self, sql: &str, params: &[&str]) -> Result<Vec<TextRow>, TargetError> {
        Ok(self.ask(sql, params)?)
    }

    /// [`PostgresConnection::query`] with the protocol's own error type.
    pub(crate) fn ask(&mut self, sql: &str, params: &[&str]) -> Result<Vec<TextRow>, PostgresWireError> {
        message::parse(&mut self.line.out, "", sql, &[]);
        message::bind_text(&mut self.line.out, "", params);
        message::execute(&mut self.line.out);
        message::sync(&mut self.line.out);
        self.line.send()?;
        self.read_results()
    }

    /// Reads all results up to ReadyForQuery, so that the connection is ready again in any case.
    pub(crate) fn read_results(&mut self) -> Result<Vec<TextRow>, PostgresWireError> {
        let mut rows = Vec::new();
        let mut failed = None;
        loop {
            let (tag, body) = match self.next() {
                Ok(message) => message,
                // The server's last error says more than the end of the stream.
                Err(error) => return Err(failed.unwrap_or(error)),
            };
            match tag {
                b'D' => rows.push(
                    row(self.line.body(body))
                        .ok_or_else(|| PostgresWireError::protocol("a truncated row"))?,
                ),
                b'C' => self.rows_affected = message_rows(self.line.body(body)).unwrap_or(0),
                b'E' if failed.is_none() => {
                    failed =
                        Some(PostgresWireError::Server(Box::new(PostgresError::read(self.line.body(body)))));
                }
                // The server waits for data that Dyno will not send.
                b'G' => {
                    message::message(&mut self.line.out, b'f', |out| message::text(out, "use copy_in"));
                    self.line.send()?;
                }
                b'Z' => return failed.map_or(Ok(rows), Err),
                _ => {}
            }
        }
    }

    /// Rows that the last statement returned, changed or copied, as the server counted them.
    pub fn rows_affected(&self) -> u64 {
        self.rows_affected
    }

    /// The server's version as a number: 150004 is 15.4; 0 if it is unknown.
    pub fn server_version_num(&self) -> u32 {
        self.parameter("server_version").map_or(0, version_num)
    }

    /// A parameter that the server reports on its own: `server_version`, `TimeZone`, `in_hot_standby`.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The process id of this connection's server process.
    pub fn backend_pid(&self) -> i32 {
        self.pid
    }

    /// Whether the connection is encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.line.stream.is_tls()
    }

    /// A token with which another thread can cancel this connection's statement.
    pub fn cancel_token(&self) -> CancelToken {
        CancelToken::new(&self.config, self.pid, &self.key)
    }

    /// Ends the connection with the protocol's Terminate message.
    pub fn close(self) {
        self.line.close(message::terminate, None);
    }

    /// Like [`PostgresConnection::close`], but waits until the server's process has reported its statistics and
    /// exited.
    pub(crate) fn close_within(mut self, wait: Duration) {
        self.end_within(wait);
    }

    /// Like [`Self::close_within`], for a connection that will be replaced; nothing more is sent on it.
    pub(crate) fn end_within(&mut self, wait: Duration) {
        self.line.end(message::terminate, Some(wait));
    }
}

/// The row count in a command tag, `UPDATE 12` or `INSERT 0 12`; absent if the tag has none.
#[inline]
pub(crate) fn message_rows(tag: &[u8]) -> Option<u64> {
    let digits = tag.strip_suffix(&[0]).unwrap_or(tag);
    let mut rows = 0u64;
    let mut unit = 1u64;
    for &byte in digits.iter().rev() {
        if !byte.is_ascii_digit() {
            break;
        }
        rows = rows.wrapping_add(u64::from(byte - b'0').wrapping_mul(unit));
        unit = unit.wrapping_mul(10);
    }
    (unit > 1).then_some(rows)
}

/// `15.4 (Debian …)` → 150004; `18beta1` → 180000.
fn version_num(text: &str) -> u32 {
    let number = |text: &str| {
        text.chars()
            .take_while(char::is_ascii_digit)
            .fold(0u32, |n, c| n.saturating_mul(10).saturating_add(c.to_digit(10).unwrap_or(0)))
    };
    let (major, rest) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let minor = rest.strip_prefix('.').map_or(0, number);
    number(major).saturating_mul(10_000).saturating_add(minor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_strings_become_numbers() {
        assert_eq!(version_num("15.19 (Debian 15.19-0+deb12u1)"), 150_019);
        assert_eq!(version_num("18.4"), 180_004);
        assert_eq!(version_num("19devel"), 190_000);
        assert_eq!(version_num("18beta1"), 180_000);
    }

    #[test]
    fn command_tag_yields_row_count() {
        assert_eq!(message_rows(b"UPDATE 12\0"), Some(12));
        assert_eq!(message_rows(b"INSERT 0 1200\0"), Some(1200));
        assert_eq!(message_rows(b"COPY 7\0"), Some(7));
        assert_eq!(message_rows(b"VACUUM\0"), None);
    }
}
