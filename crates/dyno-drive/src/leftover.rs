//! What sessions leave in the tables of a target, and its removal: after the record, which nothing may keep waiting.

use std::sync::Arc;
use std::time::Duration;

use dyno_engine::{Cancel, Target, TargetError, patience};
use dyno_plan::DataSpec;
use dyno_record::Touch;

use crate::job::{Aim, Job};
use crate::results::Results;

/// How long the rows that sessions have left are counted; the count is one check of many.
const COUNT_MAX: Duration = Duration::from_secs(10);

/// Rows that the sessions of a run have inserted on one target and not deleted.
pub struct Leftover {
    target: Arc<dyn Target>,
    spec: DataSpec,
    deleted: u64,
}

impl Leftover {
    /// Deletes them: the data is then what was loaded. What is left behind is found and removed before the next run.
    /// Returns how many.
    ///
    /// # Errors
    /// The database refuses, or cannot be reached. It may wait for somebody's lock without end.
    pub fn tidy(&self) -> Result<u64, TargetError> {
        if self.deleted > 0 {
            // Where this fails, the next run looks at more than it need.
            let _ = self.target.note_deletions(self.deleted);
        }
        self.target.sweep_up(&self.spec)
    }
}

/// What the sessions of a run have left, by target.
pub(crate) fn of_run(job: &Job<'_>, results: &Results) -> Vec<Leftover> {
    let written = job.targets.iter().enumerate().filter(|(_, aim)| job.inserts_test_rows(aim));
    let left = written.map(|(at, aim)| {
        let own = results.sessions.iter().filter(|result| result.target == at);
        Leftover {
            target: Arc::clone(&aim.target),
            spec: aim.spec.clone(),
            deleted: own.map(|result| result.life.rows[Touch::Deleted as usize]).sum(),
        }
    });
    left.collect()
}

/// Rows that sessions have left on a target, if that can be counted soon.
pub(crate) fn count(aim: &Aim) -> Option<u64> {
    let (target, spec) = (Arc::clone(&aim.target), aim.spec.clone());
    let counted =
        patience::within(COUNT_MAX, &Cancel::default(), "counting rows", move || target.own_rows(&spec));
    counted.ok()
}
