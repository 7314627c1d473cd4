//! Naming several runs at once, by the marks that they bear.

use rusqlite::params;

use super::{Repository, RepositoryError};
use crate::id::RunId;

/// A kind of mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// A tag that the author gave.
    Tag,
    /// The variant of the platform.
    Variant,
}

/// The kind under which a record's notes stand in the table of marks; no runs are selected by it.
pub(super) const NOTE: &str = "note";

dyno_plan::names! {
    /// The word in selections: `tag`.
    Mark { Tag = "tag", Variant = "variant" }
}

impl Repository {
    /// Runs with a record that bear the mark `name`, the oldest first.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn marked(&self, mark: Mark, name: &str) -> Result<Vec<RunId>, RepositoryError> {
        let read = || -> rusqlite::Result<Vec<RunId>> {
            let sql = "SELECT run.id FROM mark JOIN run USING (id) JOIN record USING (id)
                       WHERE mark.kind = ?1 AND mark.name = ?2 ORDER BY started_us, run.id";
            let mut statement = self.connection.prepare_cached(sql)?;
            statement.query_map(params![mark.name(), name], |row| row.get(0))?.collect()
        };
        read().map_err(|e| self.sorted(e))
    }

    /// The names of all marks of a kind, in order.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn mark_names(&self, mark: Mark) -> Result<Vec<String>, RepositoryError> {
        let read = || -> rusqlite::Result<Vec<String>> {
            let sql = "SELECT DISTINCT name FROM mark WHERE kind = ?1 ORDER BY name";
            let mut statement = self.connection.prepare_cached(sql)?;
            statement.query_map(params![mark.name()], |row| row.get(0))?.collect()
        };
        read().map_err(|e| self.sorted(e))
    }
}
