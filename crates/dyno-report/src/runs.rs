//! The runs of a report, one at a time: they may be more than fit into memory together.

use std::fmt::Debug;
use std::io;

use dyno_record::{RecordError, Repository, RepositoryError, RunId, RunRecord};

/// Runs that are gone through several times, in the order in which they ran.
pub trait Runs: Debug {
    /// Hands each of them to `take`.
    ///
    /// # Errors
    /// A run cannot be read, and what `take` returns.
    fn each(&self, take: &mut dyn FnMut(&RunRecord) -> Result<(), RunsError>) -> Result<(), RunsError>;

    /// The run of this name, which is one of them.
    ///
    /// # Errors
    /// It cannot be read.
    fn one(&self, id: &str) -> Result<RunRecord, RunsError>;
}

/// Runs that cannot be gone through to the end.
#[derive(Debug, thiserror::Error)]
pub enum RunsError {
    /// A record cannot be written as JSON.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A run cannot be read.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// What was made of them cannot be written.
    #[error(transparent)]
    Write(#[from] io::Error),
}

/// The runs of a repository, each read when it is its turn.
#[derive(Debug)]
pub struct Stored<'r> {
    /// Where they are.
    pub repository: &'r Repository,
    /// Which, in the order in which they ran.
    pub ids: &'r [RunId],
}

impl Runs for Stored<'_> {
    fn each(&self, take: &mut dyn FnMut(&RunRecord) -> Result<(), RunsError>) -> Result<(), RunsError> {
        self.ids.iter().try_for_each(|id| take(&self.repository.load(id)?))
    }

    fn one(&self, id: &str) -> Result<RunRecord, RunsError> {
        Ok(self.repository.load(id)?)
    }
}

/// Runs that are in memory anyway.
impl Runs for &[RunRecord] {
    fn each(&self, take: &mut dyn FnMut(&RunRecord) -> Result<(), RunsError>) -> Result<(), RunsError> {
        let mut runs: Vec<&RunRecord> = self.iter().collect();
        runs.sort_by_key(|run| (&run.started_at, &run.id));
        runs.into_iter().try_for_each(take)
    }

    fn one(&self, id: &str) -> Result<RunRecord, RunsError> {
        let found = self.iter().find(|run| run.id == id);
        found
            .cloned()
            .ok_or_else(|| RepositoryError::NoSuchRun { selector: id.to_owned(), newest: Vec::new() }.into())
    }
}

/// A record as JSON on one line.
pub(crate) fn json(record: &RunRecord) -> Result<String, RecordError> {
    serde_json::to_string(record).map_err(|error| RecordError::Malformed { detail: error.to_string() })
}
