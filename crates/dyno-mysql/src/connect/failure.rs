//! The error type for connections that could not be opened.

use crate::wire::MySqlWireError;
use dyno_engine::TargetError;

/// Why a connection could not be opened.
pub(super) enum MySqlConnectFailure {
    /// Already worded for the user.
    Final(TargetError),
    /// An error of the connection: it was lost, or the server returned an error.
    Wire(MySqlWireError),
}

impl From<TargetError> for MySqlConnectFailure {
    fn from(error: TargetError) -> Self {
        Self::Final(error)
    }
}

impl From<MySqlWireError> for MySqlConnectFailure {
    fn from(error: MySqlWireError) -> Self {
        Self::Wire(error)
    }
}
