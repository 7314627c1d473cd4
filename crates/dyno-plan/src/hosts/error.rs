//! The error for an invalid description of a host.

/// What is wrong with the description of a host. It repeats nothing of a URL, which may contain a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}: {hint}")]
pub struct HostError {
    /// What is wrong with the description.
    pub problem: String,
    /// What to write instead.
    pub hint: String,
    /// Whether the problem is a password in the URL.
    pub is_secret: bool,
}

impl HostError {
    pub(crate) fn new(problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { problem: problem.into(), hint: hint.into(), is_secret: false }
    }
}
