//! What one target's part of the record is built from.

use dyno_workload::Classes;

use crate::fold::ResultSum;
use crate::job::{DriveJob, TargetContext};
use crate::measured::{MeasuredTarget, RunMeasurement};

/// The measurements of one target, and the results of its sessions.
pub(super) struct TargetInputs<'a> {
    pub(super) job: &'a DriveJob<'a>,
    /// The classes of the run's operations.
    pub(super) classes: &'a Classes,
    pub(super) context: &'a TargetContext,
    pub(super) measured: &'a RunMeasurement,
    pub(super) target: &'a MeasuredTarget,
    pub(super) results: &'a ResultSum,
}
