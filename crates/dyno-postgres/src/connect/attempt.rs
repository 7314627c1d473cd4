//! One attempt at a connection: what it does about TLS, and how it can fail.

use crate::wire::PgError;
use dyno_engine::TargetError;

/// Why one attempt failed: the server's refusal may be answered by another attempt, with or without TLS.
pub(super) enum Failure {
    /// Another attempt would fail in the same way.
    Final(TargetError),
    /// The server refused us as we came.
    Refused(Box<PgError>),
    /// TLS could not be agreed on.
    Tls(TargetError),
}

impl From<TargetError> for Failure {
    fn from(error: TargetError) -> Self {
        Self::Final(error)
    }
}

/// What one attempt does about TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encrypt {
    Never,
    IfPossible,
    Always,
}
