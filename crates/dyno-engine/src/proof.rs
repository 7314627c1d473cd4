//! Reads from a target what a durability proof needs.

use dyno_plan::DataSpec;

use crate::error::TargetError;
use crate::witness::{RowVersion, ServerLife};

/// A target whose rows and restarts can be compared with what its sessions acknowledged.
pub trait DurabilityProof: Send + Sync {
    /// Calls `visit` for every row that updates can change, in any order. Each table is read in one
    /// consistent state.
    ///
    /// # Errors
    /// [`crate::TargetErrorKind::Unsupported`] where rows have no versions; else the target cannot be
    /// reached, or refuses.
    fn versions(&self, spec: &DataSpec, visit: &mut dyn FnMut(&RowVersion<'_>)) -> Result<(), TargetError>;

    /// Identifies the server's present start and statistics period; `None` where the database runs inside
    /// this process.
    ///
    /// # Errors
    /// The target cannot be reached, or refuses.
    fn life(&self) -> Result<Option<ServerLife>, TargetError> {
        Ok(None)
    }
}
