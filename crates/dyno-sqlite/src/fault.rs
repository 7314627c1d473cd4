//! Converts SQLite's errors to Dyno's.

use rusqlite::ffi;

use dyno_engine::{ErrorClass, OpError, TargetError, TargetErrorKind};

/// A failed call into SQLite with its code and message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} ({})", code_name(*code))]
pub(super) struct SqliteError {
    /// SQLite's extended result code; the low byte is the primary code.
    pub(super) code: i32,
    /// SQLite's message for the error.
    pub(super) message: String,
}

/// Names of primary result codes, by number.
const NAMES: [&str; 27] = [
    "SQLITE_OK",
    "SQLITE_ERROR",
    "SQLITE_INTERNAL",
    "SQLITE_PERM",
    "SQLITE_ABORT",
    "SQLITE_BUSY",
    "SQLITE_LOCKED",
    "SQLITE_NOMEM",
    "SQLITE_READONLY",
    "SQLITE_INTERRUPT",
    "SQLITE_IOERR",
    "SQLITE_CORRUPT",
    "SQLITE_NOTFOUND",
    "SQLITE_FULL",
    "SQLITE_CANTOPEN",
    "SQLITE_PROTOCOL",
    "SQLITE_EMPTY",
    "SQLITE_SCHEMA",
    "SQLITE_TOOBIG",
    "SQLITE_CONSTRAINT",
    "SQLITE_MISMATCH",
    "SQLITE_MISUSE",
    "SQLITE_NOLFS",
    "SQLITE_AUTH",
    "SQLITE_FORMAT",
    "SQLITE_RANGE",
    "SQLITE_NOTADB",
];

/// The name of a result code: that of the primary code, with the number of an extended one.
pub(super) fn code_name(code: i32) -> String {
    let primary = usize::try_from(code & 0xff).ok().and_then(|primary| NAMES.get(primary));
    match primary {
        Some(name) if code > 0xff => format!("{name}/{code}"),
        Some(name) => (*name).to_owned(),
        None => format!("SQLITE_{code}"),
    }
}

/// The class of a result code for a session.
fn class_of(code: i32) -> ErrorClass {
    match code & 0xff {
        ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED => ErrorClass::Retryable,
        // Only an interrupter interrupts statements, and it means that the connection ends.
        ffi::SQLITE_INTERRUPT => ErrorClass::Connection,
        _ => ErrorClass::Fatal,
    }
}

/// The kind of target error of a result code, and a hint.
fn kind_of(code: i32) -> (TargetErrorKind, &'static str) {
    match code & 0xff {
        ffi::SQLITE_FULL => {
            (TargetErrorKind::Full, "free space on the file system of the database, or load less data")
        }
        ffi::SQLITE_CANTOPEN | ffi::SQLITE_NOTADB => {
            (TargetErrorKind::Unreachable, "name another file in target.url, or correct its permissions")
        }
        ffi::SQLITE_PERM | ffi::SQLITE_READONLY | ffi::SQLITE_AUTH => {
            (TargetErrorKind::Privilege, "allow writing to the file and to its directory")
        }
        ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED => {
            (TargetErrorKind::Database, "end other processes that use the file, or wait longer with busy=")
        }
        ffi::SQLITE_INTERRUPT => (TargetErrorKind::Cancelled, ""),
        _ => (TargetErrorKind::Database, ""),
    }
}

impl SqliteError {
    /// An error with SQLite's general message for `code`, without details from a connection.
    pub(super) fn bare(code: i32) -> Self {
        Self { code, message: ffi::code_to_str(code).to_owned() }
    }

    /// Converts the error to that of an operation.
    pub(super) fn into_op(self) -> Box<OpError> {
        Box::new(OpError { class: class_of(self.code), code: code_name(self.code), message: self.message })
    }

    /// Converts the error to a target error while `doing` something (`"load rows"`).
    pub(super) fn into_target(self, doing: &str) -> TargetError {
        let (kind, hint) = kind_of(self.code);
        TargetError::new(kind, format!("sqlite: cannot {doing}: {self}")).hint(hint).cause(self)
    }
}

impl From<rusqlite::Error> for SqliteError {
    fn from(error: rusqlite::Error) -> Self {
        match error {
            rusqlite::Error::SqliteFailure(failure, message) => Self {
                code: failure.extended_code,
                message: message.unwrap_or_else(|| ffi::code_to_str(failure.extended_code).to_owned()),
            },
            rusqlite::Error::SqlInputError { error, msg, .. } => {
                Self { code: error.extended_code, message: msg }
            }
            other => Self { code: ffi::SQLITE_ERROR, message: other.to_string() },
        }
    }
}

/// Adds the action that failed to an error.
pub(super) trait SqliteErrorContext<T> {
    /// Turns a failure into a target error that begins with `cannot {doing}`.
    fn doing(self, doing: &str) -> Result<T, TargetError>;
}

impl<T, E: Into<SqliteError>> SqliteErrorContext<T> for Result<T, E> {
    fn doing(self, doing: &str) -> Result<T, TargetError> {
        self.map_err(|error| error.into().into_target(doing))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sqlite_error_codes_have_documented_names_and_classes() {
        for (code, name, class) in [
            (ffi::SQLITE_BUSY, "SQLITE_BUSY", ErrorClass::Retryable),
            (ffi::SQLITE_LOCKED, "SQLITE_LOCKED", ErrorClass::Retryable),
            (ffi::SQLITE_INTERRUPT, "SQLITE_INTERRUPT", ErrorClass::Connection),
            (ffi::SQLITE_FULL, "SQLITE_FULL", ErrorClass::Fatal),
            (ffi::SQLITE_CORRUPT, "SQLITE_CORRUPT", ErrorClass::Fatal),
            (ffi::SQLITE_NOTADB, "SQLITE_NOTADB", ErrorClass::Fatal),
            (ffi::SQLITE_IOERR_WRITE, "SQLITE_IOERR/778", ErrorClass::Fatal),
            (ffi::SQLITE_BUSY_SNAPSHOT, "SQLITE_BUSY/517", ErrorClass::Retryable),
        ] {
            assert_eq!((code_name(code).as_str(), class_of(code)), (name, class));
        }
    }

    #[test]
    fn full_disk_error_states_cause_and_remedy() {
        let error = SqliteError::bare(ffi::SQLITE_FULL).into_target("load rows");
        assert_eq!(error.kind, TargetErrorKind::Full);
        assert!(error.message.contains("cannot load rows"));
        assert!(error.message.contains("SQLITE_FULL"));
        assert!(error.hint.contains("load less data"), "{error:?}");
        assert!(!error.hint.contains("data.scale"), "{error:?}");
    }
}
