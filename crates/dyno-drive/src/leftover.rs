//! Counts and removes rows that sessions leave in a target's tables. The removal follows the record, which
//! must not wait.

use std::sync::Arc;
use std::time::Duration;

use dyno_engine::{Cancel, Target, TargetError, bounded_query};
use dyno_plan::DataSpec;
use dyno_record::RowEffect;

use crate::job::{DriveJob, TargetContext};
use crate::results::Results;

/// Time limit for counting the rows that sessions left; the count is only one check of many.
const COUNT_MAX: Duration = Duration::from_secs(10);

/// Rows that the sessions of a run inserted on one target and did not delete.
pub struct Leftover {
    target: Arc<dyn Target>,
    spec: DataSpec,
    deleted: u64,
}

impl Leftover {
    /// Deletes them, which restores the loaded data. Rows that remain are found and removed before the next
    /// run. Returns the number of deleted rows.
    ///
    /// # Errors
    /// The database refuses, or cannot be reached. The call may wait for another session's lock without a
    /// limit.
    pub fn tidy(&self) -> Result<u64, TargetError> {
        let data = self.target.block_data()?;
        if self.deleted > 0 {
            // If this fails, the next run only reads more than necessary.
            let _ = data.note_deletions(self.deleted);
        }
        data.delete_leftover_rows(&self.spec)
    }
}

/// The rows that the sessions of a run left, by target.
pub(crate) fn of_run(job: &DriveJob<'_>, results: &Results) -> Vec<Leftover> {
    let written = job.targets.iter().enumerate().filter(|(_, context)| job.inserts_test_rows(context));
    let left = written.map(|(at, target_context)| {
        let target_sessions = results.sessions.iter().filter(|result| result.target == at);
        Leftover {
            target: Arc::clone(&target_context.target),
            spec: target_context.spec.clone(),
            deleted: target_sessions.map(|result| result.life.rows[RowEffect::Deleted as usize]).sum(),
        }
    });
    left.collect()
}

/// Number of rows that sessions left on a target; `None` if the count fails or takes too long.
pub(crate) fn count(context: &TargetContext) -> Option<u64> {
    let (target, spec) = (Arc::clone(&context.target), context.spec.clone());
    let counted = bounded_query::within(COUNT_MAX, &Cancel::default(), "counting rows", move || {
        target.block_data()?.leftover_rows(&spec)
    });
    counted.ok()
}
