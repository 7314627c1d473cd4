//! Errors of observing another machine.

/// The kind of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceErrorKind {
    /// The machine does not exist, or nothing listens there.
    Unreachable,
    /// The machine refused the login.
    Denied,
    /// The machine's identity could not be verified.
    Unproven,
    /// The machine did not answer in time; it may answer later.
    Late,
    /// The connection worked before and is lost.
    Lost,
    /// The answer cannot be used.
    Nonsense,
    /// This program does not support this kind of access.
    Unsupported,
}

/// A machine could not be observed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SourceError {
    pub kind: SourceErrorKind,
    /// What failed, with the machine's name.
    pub message: String,
    /// What to do about it; may be empty.
    pub hint: String,
}

impl SourceError {
    /// An error without a hint.
    pub fn new(kind: SourceErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: String::new() }
    }

    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: hint.into(), ..self }
    }

    /// Whether a retry is useless.
    pub fn is_final(&self) -> bool {
        self.kind != SourceErrorKind::Late
    }
}
