//! What the database says when it refuses, and what that means.

use std::fmt;

use oracledb::ErrorKind;

use dyno_engine::{ErrorClass, OpError, Refusal, TargetError, TargetErrorKind};

/// An error of the database. Numbers are those of the manual "Database Error Messages".
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OraError {
    /// The number: 1017 of ORA-01017.
    pub number: usize,
    /// The database's sentence, with its `ORA-01017:` in front.
    pub message: String,
}

impl fmt::Display for OraError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for OraError {}

impl OraError {
    /// The database's error that the driver met, on one line.
    pub(super) fn met(error: &oracledb::Error) -> Option<Self> {
        match error.kind() {
            ErrorKind::DbError(server) => Some(Self {
                number: server.code(),
                // The first line says what happened; what follows is a stack, and a link to help.
                message: first_line(server.message()).to_owned(),
            }),
            _ => None,
        }
    }
}

impl Refusal for OraError {
    const SERVER: &'static str = "an Oracle database";

    fn kind(&self) -> TargetErrorKind {
        match self.number {
            // No right: on an object, a command, a tablespace, to log in, in PL/SQL (a name that must be declared).
            1031 | 1045 | 1950 | 990 | 6550 => TargetErrorKind::Privilege,
            // Wrong name or password, none, locked, expired, too many failures.
            1005 | 1017 | 28_000 | 28_001 | 28_007 | 28_008 | 28_009 => TargetErrorKind::Denied,
            // Starting, shutting down, not open, restricted, too many sessions or processes, too many of this user.
            18 | 20 | 1033 | 1034 | 1035 | 1089 | 1090 | 1092 | 1109 | 2391 | 2399 => {
                TargetErrorKind::Unreachable
            }
            number if is_lost(number) => TargetErrorKind::Unreachable,
            // Quota, segments that cannot grow, undo, archived logs, a full disk.
            257
            | 1536
            | 1628
            | 1630..=1632
            | 1650..=1656
            | 1658
            | 1659
            | 1683
            | 1688
            | 1691
            | 1692
            | 1237
            | 19_502
            | 19_809
            | 27_072
            | 30_036 => TargetErrorKind::Full,
            // Cancelled by this side.
            1013 => TargetErrorKind::Cancelled,
            _ => TargetErrorKind::Database,
        }
    }

    fn class(&self) -> ErrorClass {
        match self.number {
            // Lock not available, deadlock, snapshot too old, cannot serialize, lock wait timeout.
            54 | 60 | 1555 | 8177 | 30_006 => ErrorClass::Retryable,
            number if is_lost(number) => ErrorClass::Connection,
            _ => ErrorClass::Fatal,
        }
    }

    fn code(&self) -> String {
        format!("ORA-{:05}", self.number)
    }
}

/// Whether the connection is gone with this error: killed, not logged on, instance down, network, idle too long, or failed
/// over to another instance.
fn is_lost(number: usize) -> bool {
    matches!(
        number,
        28 | 31
            | 1012
            | 1033
            | 1034
            | 1041
            | 1089
            | 1090
            | 1092
            | 2396
            | 3113
            | 3114
            | 3135
            | 12_153
            | 12_537
            | 12_547
            | 12_570
            | 12_571
            | 12_583
            | 24_343
            | 25_401..=25_409 | 45_903
    )
}

/// The first line of a text that says anything.
fn first_line(text: &str) -> &str {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("an error without words")
}

/// The driver's words, which hold those of their cause, on one line.
pub(super) fn words(error: &oracledb::Error) -> String {
    let said = error.to_string();
    said.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(", ")
}

/// An error of the driver after the connection was made.
pub(super) fn target(error: &oracledb::Error) -> TargetError {
    if let Some(server) = OraError::met(error) {
        return server.into_target();
    }
    match error.kind() {
        ErrorKind::CallTimeoutExceeded => {
            TargetError::unreachable("the database did not answer within the URL's call-timeout")
                .hint("raise call-timeout, or look what the session waits for: SELECT * FROM V$SESSION")
        }
        ErrorKind::DeadConnection
        | ErrorKind::NotConnected
        | ErrorKind::StreamOperation
        | ErrorKind::UnableToRecover => {
            TargetError::unreachable(format!("the connection to the database is lost: {}", words(error)))
        }
        _ => TargetError::database(words(error)),
    }
}

/// An error of the driver in an operation.
#[cold]
pub(super) fn op(error: &oracledb::Error) -> Box<OpError> {
    if let Some(server) = OraError::met(error) {
        return server.op();
    }
    let (class, code) = match error.kind() {
        ErrorKind::DeadConnection
        | ErrorKind::NotConnected
        | ErrorKind::StreamOperation
        | ErrorKind::UnableToRecover
        // The statement was cancelled or not; who cannot tell begins anew.
        | ErrorKind::CallTimeoutExceeded => (ErrorClass::Connection, "io"),
        _ => (ErrorClass::Fatal, "driver"),
    };
    let message = format!("the connection to the database failed: {}", words(error));
    Box::new(OpError { class, code: code.to_owned(), message })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(number: usize) -> OraError {
        OraError { number, message: format!("ORA-{number:05}: words") }
    }

    #[test]
    fn classes_follow_the_number() {
        for number in [54, 60, 1555, 8177] {
            assert_eq!(error(number).class(), ErrorClass::Retryable, "{number}");
        }
        for number in [28, 1012, 1089, 3113, 3114, 3135, 25_408] {
            assert_eq!(error(number).class(), ErrorClass::Connection, "{number}");
            assert_eq!(error(number).kind(), TargetErrorKind::Unreachable, "{number}");
        }
        for number in [1, 942, 1400, 904, 1653] {
            assert_eq!(error(number).class(), ErrorClass::Fatal, "{number}");
        }
    }

    #[test]
    fn kinds_follow_the_number() {
        for (number, kind) in [
            (1017, TargetErrorKind::Denied),
            (28_000, TargetErrorKind::Denied),
            (1031, TargetErrorKind::Privilege),
            (1950, TargetErrorKind::Privilege),
            (1536, TargetErrorKind::Full),
            (1654, TargetErrorKind::Full),
            (20, TargetErrorKind::Unreachable),
            (942, TargetErrorKind::Database),
        ] {
            assert_eq!(error(number).kind(), kind, "{number}");
        }
        let target = error(1017).into_target();
        assert_eq!(OraError::of(&target), Some(&error(1017)));
    }

    #[test]
    fn the_first_line_is_what_is_said() {
        assert_eq!(first_line("\nORA-06550: line 1\nPLS-00201: x\n"), "ORA-06550: line 1");
        assert_eq!(first_line(""), "an error without words");
    }
}
