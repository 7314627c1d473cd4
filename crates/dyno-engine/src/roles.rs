//! What a target can do beyond SQL, each a role of its own: an engine that promises less offers fewer roles. The
//! largest is [`BlockData`](crate::BlockData).

use dyno_plan::DataSpec;

use crate::error::TargetError;
use crate::pool::InterruptFn;
use crate::tables::Fill;
use crate::witness::RowVersion;

/// A target that fills user-defined tables by a bulk path.
pub trait BulkLoad: Send + Sync {
    /// Opens a connection that fills user-defined tables, and a function that interrupts it. Names resolve as
    /// in [`crate::Target::script`].
    ///
    /// # Errors
    /// The target cannot be reached, or refuses.
    fn filler(&self) -> Result<(Box<dyn Fill + '_>, InterruptFn), TargetError>;
}

/// The error of a target at `url` without the role that would do `what`.
pub(crate) fn no_role(url: &str, what: &str) -> TargetError {
    TargetError::unsupported(format!("{url} cannot {what}")).hint(
        "a workload of SQL statements needs none of this: `dyno init --workload shop` creates an example",
    )
}

/// A target whose rows can be compared with what its sessions acknowledged.
pub trait DurabilityProof: Send + Sync {
    /// Calls `visit` for every row that updates can change, in any order. Each table is read in one
    /// consistent state.
    ///
    /// # Errors
    /// [`crate::TargetErrorKind::Unsupported`] where rows have no versions; else the target cannot be
    /// reached, or refuses.
    fn versions(&self, spec: &DataSpec, visit: &mut dyn FnMut(&RowVersion<'_>)) -> Result<(), TargetError>;
}
