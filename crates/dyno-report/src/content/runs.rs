//! The runs of a report, read one at a time: together they may not fit into memory.

use std::fmt::Debug;
use std::io;

use dyno_record::{RecordError, Repository, RepositoryError, RunId, RunRecord};

/// Runs that can be read several times, in the order in which they ran.
pub trait Runs: Debug {
    /// Passes each run to `take`.
    ///
    /// # Errors
    /// A run cannot be read, or `take` fails.
    fn each(&self, take: &mut dyn FnMut(&RunRecord) -> Result<(), RunsError>) -> Result<(), RunsError>;

    /// The run with this name, which must be one of them.
    ///
    /// # Errors
    /// It cannot be read.
    fn one(&self, id: &str) -> Result<RunRecord, RunsError>;
}

/// Errors of reading all runs.
#[derive(Debug, thiserror::Error)]
pub enum RunsError {
    /// A record cannot be written as JSON.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A run cannot be read.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// The output cannot be written.
    #[error(transparent)]
    Write(#[from] io::Error),
}

/// Runs of a repository, each read when it is needed.
#[derive(Debug)]
pub struct StoredRuns<'r> {
    pub repository: &'r Repository,
    /// Which runs, in the order in which they ran.
    pub ids: &'r [RunId],
}

impl Runs for StoredRuns<'_> {
    fn each(&self, take: &mut dyn FnMut(&RunRecord) -> Result<(), RunsError>) -> Result<(), RunsError> {
        self.ids.iter().try_for_each(|id| take(&self.repository.load(id)?))
    }

    fn one(&self, id: &str) -> Result<RunRecord, RunsError> {
        Ok(self.repository.load(id)?)
    }
}

/// Runs that are already in memory.
impl Runs for &[RunRecord] {
    fn each(&self, take: &mut dyn FnMut(&RunRecord) -> Result<(), RunsError>) -> Result<(), RunsError> {
        let mut runs: Vec<&RunRecord> = self.iter().collect();
        runs.sort_by_key(|run| (&run.started_at, &run.id));
        runs.into_iter().try_for_each(take)
    }

    fn one(&self, id: &str) -> Result<RunRecord, RunsError> {
        let matching_run = self.iter().find(|run| run.id == id);
        matching_run
            .cloned()
            .ok_or_else(|| RepositoryError::NoSuchRun { selector: id.to_owned(), newest: Vec::new() }.into())
    }
}

/// A record as JSON on one line.
pub(crate) fn json(record: &RunRecord) -> Result<String, RecordError> {
    serde_json::to_string(record).map_err(|error| RecordError::Malformed { detail: error.to_string() })
}
