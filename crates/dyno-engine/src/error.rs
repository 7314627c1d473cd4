//! What can go wrong with a target, in kinds that a program can match on.

use std::fmt;

/// The kind of a [`TargetError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetErrorKind {
    /// The plan asks for something that this engine cannot do.
    Unsupported,
    /// The server cannot be reached, or the file cannot be opened.
    Unreachable,
    /// User name, password or TLS was refused.
    Denied,
    /// A password is asked for, and none was given: a program may ask the user for one.
    PasswordNeeded,
    /// A privilege is missing.
    Privilege,
    /// The loaded data is not what the plan describes, or there is none.
    Data,
    /// Another Dyno is at work on the target.
    Busy,
    /// No space left, for the database.
    Full,
    /// The database reported another error.
    Database,
    /// Stopped because the user asked for it.
    Cancelled,
}

/// An error of a target: what failed, and the way out.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct TargetError {
    /// Its kind.
    pub kind: TargetErrorKind,
    /// One sentence in lower case: what failed, with the database's own words. Never holds a secret.
    pub message: String,
    /// The way out, empty where there is none.
    pub hint: String,
    /// Whether the database took the work back because of others (deadlock, lock wait, serialization), so that trying again
    /// can succeed.
    pub is_retryable: bool,
    /// The cause.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl TargetError {
    /// An error of `kind` that says `message`.
    pub fn new(kind: TargetErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: String::new(), is_retryable: false, source: None }
    }

    /// The plan asks for what this engine cannot do.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(TargetErrorKind::Unsupported, message)
    }

    /// The server cannot be reached.
    pub fn unreachable(message: impl Into<String>) -> Self {
        Self::new(TargetErrorKind::Unreachable, message)
    }

    /// The server lets this user in no such way.
    pub fn denied(message: impl Into<String>) -> Self {
        Self::new(TargetErrorKind::Denied, message)
    }

    /// A privilege is missing.
    pub fn privilege(message: impl Into<String>) -> Self {
        Self::new(TargetErrorKind::Privilege, message)
    }

    /// The data is not what it shall be.
    pub fn data(message: impl Into<String>) -> Self {
        Self::new(TargetErrorKind::Data, message)
    }

    /// The database reported something else.
    pub fn database(message: impl Into<String>) -> Self {
        Self::new(TargetErrorKind::Database, message)
    }

    /// Adds the way out.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    /// Says in front what was being done.
    #[must_use]
    pub fn during(self, doing: &str) -> Self {
        Self { message: format!("{doing}: {}", self.message), ..self }
    }

    /// As the error of an operation of a session on what refuses with `R`.
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

    /// Adds the cause.
    #[must_use]
    pub fn cause(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }
}

/// What a database says when it refuses: the source of a [`TargetError`] that tells of it.
pub trait Refusal: std::error::Error + Send + Sync + Sized + 'static {
    /// Whose words they are: `a PostgreSQL server`.
    const SERVER: &'static str;

    /// What it means to a program.
    fn kind(&self) -> TargetErrorKind;

    /// What it means for a session that did an operation.
    fn class(&self) -> ErrorClass;

    /// Its code: `40001`, `1213`.
    fn code(&self) -> String;

    /// The database's own advice; empty where it gives none.
    fn way_out(&self) -> &str {
        ""
    }

    /// The refusal behind `error`, if there is one.
    fn of(error: &TargetError) -> Option<&Self> {
        error.source.as_deref()?.downcast_ref()
    }

    /// As an error of a target.
    fn into_target(self) -> TargetError {
        let is_retryable = self.class() == ErrorClass::Retryable;
        let error = TargetError::new(self.kind(), self.to_string()).hint(self.way_out());
        TargetError { is_retryable, ..error.cause(self) }
    }

    /// As an error of an operation.
    fn op(&self) -> Box<OpError> {
        Box::new(OpError { class: self.class(), code: self.code(), message: self.to_string() })
    }
}

/// What a failed operation means for the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ErrorClass {
    /// Deadlock, serialization failure, lock timeout: counted, and another operation is drawn.
    Retryable,
    /// The connection is lost: it is opened anew.
    Connection,
    /// Anything else: the run ends as failed.
    Fatal,
}

dyno_plan::names! {
    /// The word in records: `retryable`.
    ErrorClass { Retryable = "retryable", Connection = "connection", Fatal = "fatal" }
}

/// How a workload whose sessions are read-only is allowed to write.
pub const ALLOW_WRITES: &str = "write `writes = true` at the top of workload.toml to let it write";

/// A failed operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpError {
    /// What it means for the session.
    pub class: ErrorClass,
    /// The database's code: `40001`, `SQLITE_BUSY`; `io` for the connection itself.
    pub code: String,
    /// The database's words.
    pub message: String,
}

impl OpError {
    /// One after which the run cannot go on.
    #[cold]
    pub fn fatal(code: &str, message: impl Into<String>) -> Box<Self> {
        Box::new(Self { class: ErrorClass::Fatal, code: code.to_owned(), message: message.into() })
    }

    /// Adds why the session is read-only and what allows it to write.
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
