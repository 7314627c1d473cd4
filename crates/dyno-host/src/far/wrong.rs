//! What can be wrong with another machine, and the way out.

/// What kind of trouble it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceErrorKind {
    /// There is no such machine, or nobody listens there.
    Unreachable,
    /// It does not let us in.
    Denied,
    /// It is not known to be the machine that it says it is.
    Unproven,
    /// It did not answer in time, and may yet.
    Late,
    /// It was there and is gone.
    Lost,
    /// It says what cannot be used.
    Nonsense,
    /// This program cannot look at it in that way.
    Unsupported,
}

/// A machine that could not be looked at.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SourceError {
    /// What kind of trouble it is.
    pub kind: SourceErrorKind,
    /// What happened.
    pub message: String,
    /// The way out; may be empty.
    pub hint: String,
}

impl SourceError {
    /// This happened, and there is no way out to tell.
    pub fn new(kind: SourceErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: String::new() }
    }

    /// The same with a way out.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: hint.into(), ..self }
    }

    /// Whether asking again is of no use.
    pub fn is_final(&self) -> bool {
        self.kind != SourceErrorKind::Late
    }
}
