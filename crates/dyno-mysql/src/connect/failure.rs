//! Why a connection did not come about.

use crate::wire::WireError;
use dyno_engine::TargetError;

/// Why a connection did not come about.
pub(super) enum Failure {
    /// Told already in words for the user.
    Told(TargetError),
    /// On the wire: lost, or refused.
    Wire(WireError),
}

impl From<TargetError> for Failure {
    fn from(error: TargetError) -> Self {
        Self::Told(error)
    }
}

impl From<WireError> for Failure {
    fn from(error: WireError) -> Self {
        Self::Wire(error)
    }
}
