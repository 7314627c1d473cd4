//! Selects several runs by their tags or variants.

use rusqlite::params;

use super::{Repository, RepositoryError};
use crate::id::RunId;

/// The kind of a mark by which runs are selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunLabelKind {
    /// A tag that the author chose.
    Tag,
    /// The variant of the platform.
    Variant,
}

/// The kind of a record's notes in the table of marks; it selects no runs.
pub(super) const NOTE: &str = "note";

dyno_plan::names! {
    /// The word in selectors: `tag`.
    RunLabelKind { Tag = "tag", Variant = "variant" }
}

impl Repository {
    /// Runs with a record and the mark `name`, oldest first.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn marked(&self, mark: RunLabelKind, name: &str) -> Result<Vec<RunId>, RepositoryError> {
        let read = || -> rusqlite::Result<Vec<RunId>> {
            let sql = "SELECT run.id FROM mark JOIN run USING (id) JOIN record USING (id)
                       WHERE mark.kind = ?1 AND mark.name = ?2 ORDER BY started_us, run.id";
            let mut statement = self.connection.prepare_cached(sql)?;
            statement.query_map(params![mark.name(), name], |row| row.get(0))?.collect()
        };
        read().map_err(|e| self.classify_error(e))
    }

    /// The names of all marks of one kind, sorted.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn mark_names(&self, mark: RunLabelKind) -> Result<Vec<String>, RepositoryError> {
        let read = || -> rusqlite::Result<Vec<String>> {
            let sql = "SELECT DISTINCT name FROM mark WHERE kind = ?1 ORDER BY name";
            let mut statement = self.connection.prepare_cached(sql)?;
            statement.query_map(params![mark.name()], |row| row.get(0))?.collect()
        };
        read().map_err(|e| self.classify_error(e))
    }
}
