//! What goes wrong between hosts.

use dyno_engine::{TargetError, TargetErrorKind};
use thiserror::Error;

/// What goes wrong between hosts, with the way out.
#[derive(Debug, Error)]
pub enum FleetError {
    /// The meeting point cannot be reached, or refuses.
    #[error("the NATS server at {address} cannot be used: {reason}")]
    Meeting {
        /// Where it is.
        address: String,
        /// What it says.
        reason: String,
        /// The way out.
        hint: String,
    },
    /// What was asked for cannot be.
    #[error("{problem}")]
    Usage {
        /// Why not.
        problem: String,
        /// The way out.
        hint: String,
    },
    /// There are too few agents, or one refuses.
    #[error("{problem}")]
    Agents {
        /// What is wrong with them.
        problem: String,
        /// The way out.
        hint: String,
    },
    /// The user has asked to stop.
    #[error("stopped before all driver hosts were there")]
    Cancelled,
    /// What was measured cannot be kept, or read again.
    #[error("{what}: {source}")]
    Kept {
        /// Which file or folder.
        what: String,
        /// Why.
        source: std::io::Error,
    },
}

impl FleetError {
    /// The way out; empty where there is none to tell.
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
