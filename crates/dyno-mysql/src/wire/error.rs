//! What the server says when it refuses, and what that means.

use std::fmt;

use super::fields::Fields;
use dyno_engine::{ErrorClass, Refusal, TargetErrorKind};

/// An error of the server. Numbers and texts are those of the MySQL and MariaDB reference manuals, "Server Error Messages".
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MyError {
    /// The number: 1045.
    pub number: u16,
    /// The SQLSTATE: `28000`; `HY000` where the server has none.
    pub state: String,
    /// The server's sentence.
    pub message: String,
}

impl fmt::Display for MyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {})", self.message, self.number, self.state)
    }
}

impl std::error::Error for MyError {}

impl MyError {
    /// Reads an error packet behind its first byte.
    pub(crate) fn read(body: &[u8]) -> Self {
        let mut fields = Fields::new(body);
        let number = fields.u16().unwrap_or_default();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end_matches('\0').replace('\n', " ");
        // Before the handshake is over errors have no SQLSTATE.
        let rest = fields.rest();
        let (state, message) = match rest.split_first() {
            Some((b'#', rest)) => rest.split_at(rest.len().min(5)),
            _ => (b"HY000".as_slice(), rest),
        };
        Self { number, state: text(state), message: text(message) }
    }
}

impl Refusal for MyError {
    const SERVER: &'static str = "a MySQL or MariaDB server";

    fn kind(&self) -> TargetErrorKind {
        match self.number {
            // No right on a database, command, column, server, routine.
            1044 | 1142 | 1143 | 1227 | 1370 | 3879 => TargetErrorKind::Privilege,
            // Wrong password or none, host not allowed or blocked, plugin unknown to the client, account locked, password
            // expired, secure transport required.
            1045 | 1129 | 1130 | 1251 | 1524 | 1698 | 1820 | 1862 | 3118 | 3159 | 4151 => {
                TargetErrorKind::Denied
            }
            // Too many connections (server, user), unknown database, shutting down, a connection that was killed.
            1040 | 1049 | 1053 | 1203 | 1226 | 1927 | 3168 => TargetErrorKind::Unreachable,
            // Disk full in its several words, and a tablespace that may not grow.
            1021 | 1026 | 1114 => TargetErrorKind::Full,
            _ => TargetErrorKind::Database,
        }
    }

    fn class(&self) -> ErrorClass {
        match self.number {
            // Lock wait timeout, deadlock (Galera's certification failures too), row changed since it was read, lock not
            // available at once.
            1205 | 1213 | 1020 | 3572 => ErrorClass::Retryable,
            // Shutting down, connection killed, packets broken or late, idle too long, a cluster node that is not ready.
            1047 | 1053 | 1077..=1079 | 1152 | 1158..=1161 | 1927 | 4031 => ErrorClass::Connection,
            _ => ErrorClass::Fatal,
        }
    }

    fn way_out(&self) -> &str {
        match self.number {
            4031 => "raise wait_timeout on the server",
            3024 => "raise max_execution_time on the server, or set it to 0",
            1969 => "raise max_statement_time on the server, or set it to 0",
            _ => "",
        }
    }

    fn code(&self) -> String {
        self.number.to_string()
    }
}

/// What can go wrong on the wire.
pub(crate) type WireError = dyno_engine::net::WireError<MyError>;

/// The error packet `body`, its first byte included.
#[cold]
pub(crate) fn refused(body: &[u8]) -> WireError {
    WireError::Server(Box::new(MyError::read(body.get(1..).unwrap_or_default())))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_parts_of_an_error_are_kept() {
        let error = MyError::read(b"\x15\x04#28000Access denied");
        assert_eq!((error.number, error.state.as_str()), (1045, "28000"));
        assert_eq!(error.to_string(), "Access denied (1045, 28000)");
        let target = error.clone().into_target();
        assert_eq!(target.kind, TargetErrorKind::Denied);
        assert_eq!(MyError::of(&target), Some(&error));
        let early = MyError::read(b"\x10\x04Too many connections");
        assert_eq!((early.number, early.message.as_str()), (1040, "Too many connections"));
    }

    #[test]
    fn classes_follow_the_number() {
        let class = |number| MyError { number, ..MyError::default() }.class();
        assert_eq!((class(1213), class(1205)), (ErrorClass::Retryable, ErrorClass::Retryable));
        let target = |number| MyError { number, ..MyError::read(b"") }.into_target();
        assert!(target(1213).is_retryable);
        assert!(!target(1045).is_retryable);
        assert_eq!((class(1053), class(1927)), (ErrorClass::Connection, ErrorClass::Connection));
        assert_eq!((class(1146), class(1114)), (ErrorClass::Fatal, ErrorClass::Fatal));
    }

    proptest! {
        #[test]
        fn any_bytes_read_as_some_error(body: Vec<u8>) {
            MyError::read(&body);
        }
    }
}
