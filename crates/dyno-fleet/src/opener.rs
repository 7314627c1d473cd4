//! How an agent reaches what a run is about: given by whoever starts it, who knows engines, secrets and folders.

use std::sync::Arc;

use dyno_drive::Aim;
use dyno_plan::Plan;
use dyno_workload::own::{Own, SentFolders};

use crate::messages::Known;

/// Reaches the targets of a plan from this host.
pub trait Opener: Sync {
    /// Opens them, and makes sure that they are what the leader knows them for; reads the workloads, of which these are the versions, from
    /// the folders that were sent.
    ///
    /// # Errors
    /// One cannot be reached from here, is another one or holds other data, or a workload is not the same; in words.
    fn open(
        &self,
        plan: &Plan,
        known: &[Known],
        workloads: (&[String], &SentFolders),
    ) -> Result<Opened, String>;
}

/// What a run is about, reached.
pub struct Opened {
    /// The targets, in the order of the plan.
    pub targets: Vec<Aim>,
    /// The workloads of the user's own.
    pub owns: Vec<Arc<Own>>,
}
