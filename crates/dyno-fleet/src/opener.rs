//! How an agent reaches targets and workloads; the program that starts the agent implements it, because it
//! knows engines, secrets and folders.

use std::sync::Arc;

use dyno_drive::TargetContext;
use dyno_plan::Plan;
use dyno_workload::custom::{CustomWorkload, SentFolders};

use crate::messages::FleetTarget;

/// Connects to the targets of a plan from this host.
pub trait Opener: Sync {
    /// Opens the targets and checks that they are identical to the controller's. Reads the workloads with
    /// these versions from the folders that the controller sent.
    ///
    /// # Errors
    /// A target cannot be reached from here, is another one or holds other data, or a workload differs; the
    /// text says which.
    fn open(
        &self,
        plan: &Plan,
        known: &[FleetTarget],
        workloads: (&[String], &SentFolders),
    ) -> Result<Opened, String>;
}

/// The targets and workloads of a run, opened.
pub struct Opened {
    /// The targets in the order of the plan.
    pub targets: Vec<TargetContext>,
    /// The custom workloads of the plan.
    pub custom_workloads: Vec<Arc<CustomWorkload>>,
}
