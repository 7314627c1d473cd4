//! Describes one connection attempt: how it uses TLS, and how it can fail.

use crate::wire::PostgresError;
use dyno_engine::TargetError;

/// Why one attempt failed. After an error of the server, another attempt with or without TLS may succeed.
pub(super) enum PostgresConnectFailure {
    /// Another attempt would fail in the same way.
    Final(TargetError),
    /// The server rejected this attempt.
    Refused(Box<PostgresError>),
    /// TLS could not be negotiated.
    Tls(TargetError),
}

impl From<TargetError> for PostgresConnectFailure {
    fn from(error: TargetError) -> Self {
        Self::Final(error)
    }
}

/// How one attempt uses TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encrypt {
    Never,
    IfPossible,
    Always,
}
