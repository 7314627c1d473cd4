//! The server's errors and their meaning.

use std::fmt;

use super::fields::PostgresFieldReader;
use dyno_engine::{ErrorClass, Refusal, TargetErrorKind};

/// An error of the server with all its fields.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PostgresError {
    /// `ERROR`, `FATAL` or `PANIC`, never translated.
    pub severity: String,
    /// The SQLSTATE, for example `42501`.
    pub code: String,
    /// The message text from the server, in its language.
    pub message: String,
    /// More detail from the server, or empty.
    pub detail: String,
    /// The server's advice, or empty.
    pub hint: String,
    /// The server's context (lines of PL/pgSQL), or empty.
    pub context: String,
    /// Position in the statement in characters, from 1; absent if the server gives none.
    pub position: Option<u32>,
}

impl fmt::Display for PostgresError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)?;
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail)?;
        }
        Ok(())
    }
}

impl std::error::Error for PostgresError {}

impl PostgresError {
    /// Parses the body of an ErrorResponse or NoticeResponse.
    pub(crate) fn read(body: &[u8]) -> Self {
        let mut error = Self::default();
        let mut localized = String::new();
        let mut fields = PostgresFieldReader::new(body);
        while let Some(kind) = fields.u8().filter(|&kind| kind != 0) {
            let Some(text) = fields.text() else { break };
            let text = String::from_utf8_lossy(text).replace('\n', " ");
            match kind {
                b'V' => error.severity = text,
                b'S' => localized = text,
                b'C' => error.code = text,
                b'M' => error.message = text,
                b'D' => error.detail = text,
                b'H' => error.hint = text,
                b'W' => error.context = text,
                b'P' => error.position = text.parse().ok(),
                _ => {}
            }
        }
        if error.severity.is_empty() {
            error.severity = localized;
        }
        error
    }

    /// Whether the server ended the connection with this error.
    pub fn is_fatal(&self) -> bool {
        self.severity == "FATAL" || self.severity == "PANIC"
    }
}

impl Refusal for PostgresError {
    const SERVER: &'static str = "a PostgreSQL server";

    /// The kind by SQLSTATE (PostgreSQL manual, appendix A).
    fn kind(&self) -> TargetErrorKind {
        match self.code.as_str() {
            "42501" => TargetErrorKind::Privilege,
            "53100" => TargetErrorKind::Full,
            // Database does not exist, too many connections, shutting down, starting up.
            "3D000" | "53300" | "57P01" | "57P02" | "57P03" => TargetErrorKind::Unreachable,
            code if code.starts_with("28") => TargetErrorKind::Denied,
            code if code.starts_with("08") => TargetErrorKind::Unreachable,
            _ => TargetErrorKind::Database,
        }
    }

    fn class(&self) -> ErrorClass {
        match self.code.as_str() {
            // Serialization failure, deadlock, lock not available.
            "40001" | "40P01" | "55P03" => ErrorClass::Retryable,
            // Admin shutdown, crash shutdown, cannot connect now, idle-in-transaction timeout.
            "57P01" | "57P02" | "57P03" | "25P03" => ErrorClass::Connection,
            code if code.starts_with("08") => ErrorClass::Connection,
            _ if self.is_fatal() => ErrorClass::Connection,
            _ => ErrorClass::Fatal,
        }
    }

    fn code(&self) -> String {
        self.code.clone()
    }

    fn way_out(&self) -> &str {
        match self.code.as_str() {
            "25P03" => "raise idle_in_transaction_session_timeout for this user, or set it to 0",
            "25P04" => "raise transaction_timeout for this user, or set it to 0",
            "57P05" => "raise idle_session_timeout for this user, or set it to 0",
            "42501" if self.hint.is_empty() => {
                "`dyno check --grants` prints the statements that give this user what Dyno needs"
            }
            _ => &self.hint,
        }
    }
}

/// An error of a connection or of the server.
pub(crate) type PostgresWireError = dyno_engine::net::WireError<PostgresError>;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn server(code: &str, severity: &str) -> PostgresError {
        PostgresError { code: code.into(), severity: severity.into(), ..PostgresError::default() }
    }

    #[test]
    fn postgres_error_fields_are_kept() {
        let body = b"SERREUR\0VERROR\0C42501\0Mpermission denied\0Ddetail\0Hhint\0P17\0\0";
        let error = PostgresError::read(body);
        assert_eq!((error.severity.as_str(), error.code.as_str()), ("ERROR", "42501"));
        assert_eq!(error.to_string(), "permission denied (42501): detail");
        assert_eq!(error.position, Some(17));
        let target = error.clone().into_target();
        assert_eq!((target.kind, target.hint.as_str()), (TargetErrorKind::Privilege, "hint"));
        assert_eq!(PostgresError::of(&target), Some(&error));
    }

    #[test]
    fn postgres_error_class_follows_sqlstate() {
        for code in ["40001", "40P01", "55P03"] {
            assert_eq!(server(code, "ERROR").class(), ErrorClass::Retryable);
        }
        for code in ["08006", "57P01", "57P02", "57P03", "25P03"] {
            assert_eq!(server(code, "FATAL").class(), ErrorClass::Connection);
        }
        assert_eq!(server("XX000", "PANIC").class(), ErrorClass::Connection);
        for code in ["42P01", "53100", "23505", "57014"] {
            assert_eq!(server(code, "ERROR").class(), ErrorClass::Fatal);
        }
    }

    proptest! {
        #[test]
        fn postgres_error_reads_any_bytes_without_panic(body: Vec<u8>) {
            PostgresError::read(&body);
        }
    }
}
