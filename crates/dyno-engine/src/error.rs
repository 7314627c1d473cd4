//! Errors of targets and operations, with kinds that a program can match on.

use std::fmt;

/// The kind of a [`TargetError`], for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetErrorKind {
    /// The plan asks for something that this engine cannot do.
    Unsupported,
    /// The server cannot be reached, or the file cannot be opened.
    Unreachable,
    /// The server refused the user name, the password or TLS.
    Denied,
    /// The server requires a password and none was given: a program may ask the user for one.
    PasswordNeeded,
    /// The user lacks a privilege.
    Privilege,
    /// The loaded data differs from the plan, or is missing.
    Data,
    /// Another Dyno works on the target.
    Busy,
    /// The database has no space left.
    Full,
    /// The database reported another error.
    Database,
    /// The user asked to stop.
    Cancelled,
}

/// An error of a target: what failed, and a hint.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct TargetError {
    /// The error's kind, for programs.
    pub kind: TargetErrorKind,
    /// One lower-case sentence: what failed, with the database's own words. Never contains a secret.
    pub message: String,
    /// What to do about it; empty where there is no advice.
    pub hint: String,
    /// Whether the database rolled the work back because of others (deadlock, lock wait, serialization), so
    /// that a retry can succeed.
    pub is_retryable: bool,
    /// The underlying error, if there is one.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl TargetError {
    /// An error of `kind` with this `message`.
    pub fn new(kind: TargetErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: String::new(), is_retryable: false, source: None }
    }

    /// The error of a plan that asks for an unsupported feature.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(TargetErrorKind::Unsupported, message)
    }

    /// The error of a server that cannot be reached.
    pub fn unreachable(message: impl Into<String>) -> Self {
        Self::new(TargetErrorKind::Unreachable, message)
    }

    /// The error of a login that the server refused.
    pub fn denied(message: impl Into<String>) -> Self {
        Self::new(TargetErrorKind::Denied, message)
    }

    /// The error of a missing privilege.
    pub fn privilege(message: impl Into<String>) -> Self {
        Self::new(TargetErrorKind::Privilege, message)
    }

    /// The error of data that is not as expected.
    pub fn data(message: impl Into<String>) -> Self {
        Self::new(TargetErrorKind::Data, message)
    }

    /// The error of any other failure in the database.
    pub fn database(message: impl Into<String>) -> Self {
        Self::new(TargetErrorKind::Database, message)
    }

    /// Adds a hint: what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    /// Puts the action that failed in front of the message.
    #[must_use]
    pub fn during(self, doing: &str) -> Self {
        Self { message: format!("{doing}: {}", self.message), ..self }
    }

    /// Converts it to the error of a session's operation; `R` is the engine's type of refusals.
    #[cold]
    pub fn into_op<R: Refusal>(self) -> Box<OpError> {
        match R::of(&self) {
            Some(refusal) => refusal.op(),
            None if self.kind == TargetErrorKind::Unreachable => Box::new(OpError {
                class: ErrorClass::Connection,
                code: "io".to_owned(),
                message: self.message,
            }),
            None => OpError::fatal("fill", self.message),
        }
    }

    /// Adds the underlying error as the source.
    #[must_use]
    pub fn cause(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }
}

/// A database's error response: the source of a [`TargetError`].
pub trait Refusal: std::error::Error + Send + Sync + Sized + 'static {
    /// The sender, with its article: `a PostgreSQL server`.
    const SERVER: &'static str;

    /// The kind of the [`TargetError`] it becomes.
    fn kind(&self) -> TargetErrorKind;

    /// Its consequence for the session whose operation failed.
    fn class(&self) -> ErrorClass;

    /// The database's error code: `40001`, `1213`.
    fn code(&self) -> String;

    /// The database's own advice; empty where it gave none.
    fn way_out(&self) -> &str {
        ""
    }

    /// The error response behind `error`, if there is one.
    fn of(error: &TargetError) -> Option<&Self> {
        error.source.as_deref()?.downcast_ref()
    }

    /// Converts it to the error of a target.
    fn into_target(self) -> TargetError {
        let is_retryable = self.class() == ErrorClass::Retryable;
        let error = TargetError::new(self.kind(), self.to_string()).hint(self.way_out());
        TargetError { is_retryable, ..error.cause(self) }
    }

    /// Converts it to the error of an operation.
    fn op(&self) -> Box<OpError> {
        Box::new(OpError { class: self.class(), code: self.code(), message: self.to_string() })
    }
}

/// The consequence of a failed operation for its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ErrorClass {
    /// Deadlock, serialization failure, lock timeout: the failure is counted, and the session draws another
    /// operation.
    Retryable,
    /// The connection is lost; the session reconnects.
    Connection,
    /// Any other error: the run fails.
    Fatal,
}

dyno_plan::names! {
    /// The word in records: `retryable`.
    ErrorClass { Retryable = "retryable", Connection = "connection", Fatal = "fatal" }
}

/// The hint for a write of a read-only session: how to allow writes.
pub const ALLOW_WRITES: &str = "to allow writes, set `writes = true` at the top of workload.toml";

/// The error of a failed operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpError {
    /// The consequence for the session.
    pub class: ErrorClass,
    /// The database's code: `40001`, `SQLITE_BUSY`; `io` for a failure of the connection.
    pub code: String,
    /// The error message of the database.
    pub message: String,
}

impl OpError {
    /// An error that ends the run.
    #[cold]
    pub fn fatal(code: &str, message: impl Into<String>) -> Box<Self> {
        Box::new(Self { class: ErrorClass::Fatal, code: code.to_owned(), message: message.into() })
    }

    /// Adds the reason why the session is read-only and how to allow writes.
    #[cold]
    #[must_use]
    pub fn write_in_read_only_session(mut self: Box<Self>) -> Box<Self> {
        self.message.push_str("; sessions of this workload are read-only: ");
        self.message.push_str(ALLOW_WRITES);
        self
    }
}

impl fmt::Display for OpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {})", self.message, self.code, self.class.name())
    }
}

impl std::error::Error for OpError {}
