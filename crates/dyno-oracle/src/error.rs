//! The database's errors and their meaning.

use std::fmt;

use oracledb::ErrorKind;

use super::hints::way_out;
use dyno_engine::{ErrorClass, OpError, Refusal, TargetError, TargetErrorKind};

/// An error of the database. Numbers are those of the manual "Database Error Messages".
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OracleError {
    /// The error number: 1017 for ORA-01017.
    pub number: usize,
    /// The message text from the database, including its `ORA-01017:`.
    pub message: String,
}

impl fmt::Display for OracleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for OracleError {}

impl OracleError {
    /// The database's error inside a driver error, on one line.
    pub(super) fn from_driver(error: &oracledb::Error) -> Option<Self> {
        match error.kind() {
            ErrorKind::DbError(server) => Some(Self::of_text(server.code(), server.message())),
            _ => None,
        }
    }
}

/// Numbers of errors that only report where another error occurred: in recursive SQL, in a parallel server,
/// in a PL/SQL call.
const WRAPPERS: [usize; 3] = [604, 12_801, 6_512];

impl OracleError {
    /// The error in a text: the first one that is not a wrapper, with the compiler's lines that belong to it.
    fn of_text(code: usize, text: &str) -> Self {
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let number_of = |line: &str| line.strip_prefix("ORA-")?.get(..5)?.parse::<usize>().ok();
        let begins = |line: &&str| number_of(line).is_some_and(|number| !WRAPPERS.contains(&number));
        let Some(begin) = lines.iter().position(begins) else {
            return Self {
                number: code,
                message: lines.first().copied().unwrap_or("an error without text").to_owned(),
            };
        };
        let number = number_of(lines[begin]).unwrap_or(code);
        // The compiler's lines follow; the next error number begins a stack or another error.
        let compiler = lines[begin + 1..]
            .iter()
            .take_while(|line| line.starts_with("PLS-") || line.starts_with("PL/SQL:"));
        let message = std::iter::once(&lines[begin]).chain(compiler).copied().collect::<Vec<_>>().join(" ");
        Self { number, message }
    }

    /// Whether the error means that this user lacks a privilege or cannot see an object.
    pub(super) fn is_missing_grant(&self) -> bool {
        matches!(self.number, 942 | 1_031 | 1_720)
            || (self.number == 6_550
                && ["PLS-00201", "PLS-00904"].iter().any(|code| self.message.contains(code)))
    }
}

impl Refusal for OracleError {
    const SERVER: &'static str = "an Oracle database";

    fn kind(&self) -> TargetErrorKind {
        match self.number {
            // In PL/SQL: an undeclared name or an inaccessible object. Other compiler errors are not about
            // privileges.
            6_550 if self.is_missing_grant() => TargetErrorKind::Privilege,
            // No privilege: on an object, a command, a tablespace, or to log in.
            1031 | 1045 | 1950 | 990 => TargetErrorKind::Privilege,
            // User name or password wrong or missing, account locked or expired, too many failed attempts.
            1005 | 1017 | 28_000 | 28_001 | 28_007 | 28_008 | 28_009 => TargetErrorKind::Denied,
            // Starting, shutting down, not open, restricted, too many sessions or processes, too many
            // sessions of this user.
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
            // Dyno canceled the call.
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

    fn way_out(&self) -> &str {
        way_out(self.number, self.is_missing_grant())
    }

    fn code(&self) -> String {
        format!("ORA-{:05}", self.number)
    }
}

/// Whether the connection is lost with this error: killed, not logged on, instance down, network, idle too
/// long, or failed over to another instance.
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

/// The driver's message, which includes that of its cause, on one line.
pub(super) fn one_line(error: &oracledb::Error) -> String {
    let text = error.to_string();
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(", ")
}

/// Converts an error of the driver on an open connection.
pub(super) fn to_target_error(error: &oracledb::Error) -> TargetError {
    if let Some(server) = OracleError::from_driver(error) {
        return server.into_target();
    }
    match error.kind() {
        ErrorKind::CallTimeoutExceeded => TargetError::unreachable(TOO_LONG)
            .hint("raise call-timeout, or check what the session waits for: SELECT * FROM V$SESSION"),
        ErrorKind::DeadConnection
        | ErrorKind::NotConnected
        | ErrorKind::StreamOperation
        | ErrorKind::UnableToRecover => {
            TargetError::unreachable(format!("the connection to the database is lost: {}", one_line(error)))
        }
        _ => TargetError::database(one_line(error)),
    }
}

/// The message for a call that exceeded the connection's limit.
const TOO_LONG: &str = "the database did not answer within the URL's call-timeout";

/// Whether the driver has interrupted a call because of its limit.
pub(super) fn is_call_timeout(error: &oracledb::Error) -> bool {
    matches!(error.kind(), ErrorKind::CallTimeoutExceeded | ErrorKind::UnableToRecover)
}

/// Converts an error of the driver in an operation.
#[cold]
pub(super) fn to_op_error(error: &oracledb::Error) -> Box<OpError> {
    if let Some(server) = OracleError::from_driver(error) {
        return server.op();
    }
    let (class, code) = match error.kind() {
        ErrorKind::DeadConnection
        | ErrorKind::NotConnected
        | ErrorKind::StreamOperation
        | ErrorKind::UnableToRecover
        // It is unknown whether the statement was executed, so the session reconnects.
        | ErrorKind::CallTimeoutExceeded => (ErrorClass::Connection, "io"),
        _ => (ErrorClass::Fatal, "driver"),
    };
    let message = match error.kind() {
        ErrorKind::CallTimeoutExceeded => {
            format!("{TOO_LONG} (an hour unless given), and the driver had the call cancelled")
        }
        ErrorKind::UnableToRecover => {
            "the database did not end a call that was to be cancelled, after the URL's call-timeout or an error".to_owned()
        }
        _ => format!("the connection to the database failed: {}", one_line(error)),
    };
    Box::new(OpError { class, code: code.to_owned(), message })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(number: usize) -> OracleError {
        OracleError { number, message: format!("ORA-{number:05}: words") }
    }

    #[test]
    fn oracle_error_class_follows_error_number() {
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
    fn oracle_error_kind_follows_error_number() {
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
        assert_eq!(OracleError::of(&target), Some(&error(1017)));
    }

    #[test]
    fn innermost_oracle_error_is_reported() {
        for (code, text, number, message) in [
            (
                6_550,
                "ORA-06550: line 2, column 15:\nPLS-00201: identifier 'SYS.DBMS_LOCK' must be declared\nORA-06550: line 2, \
                 column 3:\nPL/SQL: Statement ignored\n",
                6_550,
                "ORA-06550: line 2, column 15: PLS-00201: identifier 'SYS.DBMS_LOCK' must be declared",
            ),
            (
                604,
                "ORA-00604: error occurred at recursive SQL level 1\nORA-01653: unable to extend table D.T by 8\nORA-06512: at line 4",
                1_653,
                "ORA-01653: unable to extend table D.T by 8",
            ),
            (
                12_801,
                "ORA-12801: error signaled in parallel query server P001\nORA-30036: unable to extend segment by 8",
                30_036,
                "ORA-30036: unable to extend segment by 8",
            ),
            (
                942,
                "ORA-00942: table or view does not exist\n",
                942,
                "ORA-00942: table or view does not exist",
            ),
            (
                604,
                "ORA-00604: error occurred at recursive SQL level 1",
                604,
                "ORA-00604: error occurred at recursive SQL level 1",
            ),
            (7, "", 7, "an error without text"),
        ] {
            assert_eq!(OracleError::of_text(code, text), OracleError { number, message: message.to_owned() });
        }
    }

    #[test]
    fn compile_error_is_privilege_only_for_missing_identifier() {
        let compiled =
            |line: &str| OracleError::of_text(6_550, &format!("ORA-06550: line 1, column 7:\n{line}\n"));
        assert_eq!(compiled("PLS-00201: identifier 'X' must be declared").kind(), TargetErrorKind::Privilege);
        assert_eq!(compiled("PLS-00103: Encountered the symbol \"END\"").kind(), TargetErrorKind::Database);
    }
}
