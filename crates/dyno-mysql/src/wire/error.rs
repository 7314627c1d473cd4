//! The server's errors and their meaning.

use std::fmt;

use super::fields::MySqlFieldReader;
use dyno_engine::{ErrorClass, Refusal, TargetErrorKind};

/// An error of the server. Numbers and texts are those of the MySQL and MariaDB manuals, "Server Error
/// Messages".
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MySqlError {
    /// The error number, for example 1045.
    pub number: u16,
    /// The SQLSTATE: `28000`; `HY000` if the server has none.
    pub state: String,
    /// The message text from the server.
    pub message: String,
}

impl fmt::Display for MySqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {})", self.message, self.number, self.state)
    }
}

impl std::error::Error for MySqlError {}

impl MySqlError {
    /// Parses an error packet after its first byte.
    pub(crate) fn read(body: &[u8]) -> Self {
        let mut fields = MySqlFieldReader::new(body);
        let number = fields.u16().unwrap_or_default();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end_matches('\0').replace('\n', " ");
        // Until the handshake is complete, errors have no SQLSTATE.
        let rest = fields.rest();
        let (state, message) = match rest.split_first() {
            Some((b'#', rest)) => rest.split_at(rest.len().min(5)),
            _ => (b"HY000".as_slice(), rest),
        };
        Self { number, state: text(state), message: text(message) }
    }
}

impl Refusal for MySqlError {
    const SERVER: &'static str = "a MySQL or MariaDB server";

    fn kind(&self) -> TargetErrorKind {
        match self.number {
            // No privilege on a database, command, column, server or routine.
            1044 | 1142 | 1143 | 1227 | 1370 | 3879 => TargetErrorKind::Privilege,
            // Wrong or missing password, host not allowed or blocked, plugin unknown to the client, account
            // locked, password expired, secure transport required.
            1045 | 1129 | 1130 | 1251 | 1524 | 1698 | 1820 | 1862 | 3118 | 3159 | 4151 => {
                TargetErrorKind::Denied
            }
            // Too many connections (server, user), unknown database, server is shutting down, connection was
            // killed.
            1040 | 1049 | 1053 | 1203 | 1226 | 1927 | 3168 => TargetErrorKind::Unreachable,
            // Disk full (several errors), and a tablespace that may not grow.
            1021 | 1026 | 1114 => TargetErrorKind::Full,
            _ => TargetErrorKind::Database,
        }
    }

    fn class(&self) -> ErrorClass {
        match self.number {
            // Lock wait timeout, deadlock (including Galera's certification failures), row changed since it
            // was read, lock not available immediately.
            1205 | 1213 | 1020 | 3572 => ErrorClass::Retryable,
            // Server is shutting down, connection killed, packets broken or late, idle too long, cluster node
            // not ready.
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

/// An error of a connection or of the server.
pub(crate) type MySqlWireError = dyno_engine::net::WireError<MySqlError>;

/// Parses the error packet `body`, including its first byte.
#[cold]
pub(crate) fn refused(body: &[u8]) -> MySqlWireError {
    MySqlWireError::Server(Box::new(MySqlError::read(body.get(1..).unwrap_or_default())))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn mysql_error_fields_are_kept() {
        let error = MySqlError::read(b"\x15\x04#28000Access denied");
        assert_eq!((error.number, error.state.as_str()), (1045, "28000"));
        assert_eq!(error.to_string(), "Access denied (1045, 28000)");
        let target = error.clone().into_target();
        assert_eq!(target.kind, TargetErrorKind::Denied);
        assert_eq!(MySqlError::of(&target), Some(&error));
        let early = MySqlError::read(b"\x10\x04Too many connections");
        assert_eq!((early.number, early.message.as_str()), (1040, "Too many connections"));
    }

    #[test]
    fn oracle_error_class_follows_error_number() {
        let class = |number| MySqlError { number, ..MySqlError::default() }.class();
        assert_eq!((class(1213), class(1205)), (ErrorClass::Retryable, ErrorClass::Retryable));
        let target = |number| MySqlError { number, ..MySqlError::read(b"") }.into_target();
        assert!(target(1213).is_retryable);
        assert!(!target(1045).is_retryable);
        assert_eq!((class(1053), class(1927)), (ErrorClass::Connection, ErrorClass::Connection));
        assert_eq!((class(1146), class(1114)), (ErrorClass::Fatal, ErrorClass::Fatal));
    }

    proptest! {
        #[test]
        fn postgres_error_reads_any_bytes_without_panic(body: Vec<u8>) {
            MySqlError::read(&body);
        }
    }
}
