//! Errors of runs over several driver hosts.

use dyno_engine::{TargetError, TargetErrorKind};
use thiserror::Error;

/// An error of a run over several hosts, with a hint.
#[derive(Debug, Error)]
pub enum FleetError {
    /// The NATS server cannot be reached, or it refuses the connection.
    #[error("the NATS server at {address} cannot be used: {reason}")]
    Meeting {
        /// The URL of the NATS server.
        address: String,
        /// The reason that the client or server gives.
        reason: String,
        /// What the user can do.
        hint: String,
    },
    /// The options ask for something impossible.
    #[error("{problem}")]
    Usage {
        /// Why the options are refused.
        problem: String,
        /// What the user can do.
        hint: String,
    },
    /// There are too few agents, or an agent refuses.
    #[error("{problem}")]
    Agents {
        /// Which agents are missing or refuse.
        problem: String,
        /// What the user can do.
        hint: String,
    },
    /// The user cancelled before all driver hosts were reserved.
    #[error("stopped before all driver hosts were reserved")]
    Cancelled,
    /// Results cannot be stored, or cannot be read from disk.
    #[error("{what}: {source}")]
    Kept {
        /// The file or folder, and the failed action.
        what: String,
        source: std::io::Error,
    },
}

impl FleetError {
    /// What the user can do; empty if there is no hint.
    pub fn hint(&self) -> &str {
        match self {
            Self::Meeting { hint, .. } | Self::Usage { hint, .. } | Self::Agents { hint, .. } => hint,
            Self::Cancelled | Self::Kept { .. } => "",
        }
    }
}

impl From<FleetError> for TargetError {
    fn from(error: FleetError) -> Self {
        let kind = match error {
            FleetError::Cancelled => TargetErrorKind::Cancelled,
            _ => TargetErrorKind::Database,
        };
        let made = Self::new(kind, error.to_string());
        if error.hint().is_empty() { made } else { made.hint(error.hint().to_owned()) }
    }
}
