//! What is wrong with the words of a machine.

/// What is wrong with the words of a machine, and the way out; repeats nothing of a URL, in which a password may stand.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}: {hint}")]
pub struct HostError {
    /// What is wrong.
    pub problem: String,
    /// The way out.
    pub hint: String,
    /// Whether it is that a password stands there.
    pub is_secret: bool,
}

impl HostError {
    pub(crate) fn new(problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { problem: problem.into(), hint: hint.into(), is_secret: false }
    }
}
