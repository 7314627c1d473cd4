//! What a target tells to whoever proves that nothing is lost.

use dyno_plan::DataSpec;

use crate::error::TargetError;
use crate::witness::{RowVersion, ServerLife};

/// A target as far as what it holds and how it lives can be held against what sessions were told.
pub trait Proof: Send + Sync {
    /// Tells `visit` of every row that updates can go to, each table in one state of its own, in any order.
    ///
    /// # Errors
    /// [`crate::TargetErrorKind::Unsupported`] where rows carry no versions; else it cannot be reached, or refuses.
    fn versions(&self, spec: &DataSpec, visit: &mut dyn FnMut(&RowVersion<'_>)) -> Result<(), TargetError>;

    /// What tells this life of the server from another; `None` where the database runs inside this process.
    ///
    /// # Errors
    /// It cannot be reached, or refuses.
    fn life(&self) -> Result<Option<ServerLife>, TargetError> {
        Ok(None)
    }
}
