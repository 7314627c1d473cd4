//! Finds a run by its name, a prefix of the name, `last`, or `last~N`.

use rusqlite::{OptionalExtension as _, params};

use super::list::process_mark;
use super::member::part_of;
use super::{Repository, RepositoryError, StartedRun, pack};
use crate::id::RunId;
use crate::record::RunRecord;

/// The largest number of names in an error.
const NAMES_MAX: usize = 10;

impl Repository {
    /// The run that `selector` names: a run's name or a unique prefix of one. `last` is the newest run with a record, `last~1` the
    /// one before it.
    ///
    /// # Errors
    /// No run or several match (the error lists candidates), or the file cannot be read.
    pub fn resolve(&self, selector: &str) -> Result<RunId, RepositoryError> {
        let ids = match steps_back(selector) {
            Some(steps) => {
                let sql = "SELECT run.id FROM run JOIN record USING (id)
                           ORDER BY started_us DESC, id DESC LIMIT 1 OFFSET ?1";
                self.names(sql, &steps)?
            }
            None => self.beginning_with(selector)?,
        };
        match ids.as_slice() {
            [id] => Ok(id.clone()),
            [] => {
                let sql = "SELECT id FROM run ORDER BY started_us DESC, id DESC LIMIT ?1";
                let newest = self.names(sql, &5)?;
                Err(RepositoryError::NoSuchRun { selector: selector.to_owned(), newest })
            }
            _ => Err(RepositoryError::Ambiguous { selector: selector.to_owned(), candidates: ids }),
        }
    }

    /// Loads the record of the run that `selector` names; see [`Repository::resolve`].
    ///
    /// # Errors
    /// No run or several match, the run has no record (yet), or the record or the file cannot be read.
    pub fn load(&self, selector: &str) -> Result<RunRecord, RepositoryError> {
        let id = self.resolve(selector)?;
        let packed: Option<Vec<u8>> = self
            .connection
            .query_row("SELECT packed FROM record WHERE id = ?1", [&id], |row| row.get(0))
            .optional()
            .map_err(|e| self.classify_error(e))?;
        let Some(packed) = packed else {
            let state = self.summary(&id)?.status;
            return self.rescued_record(&id, state)?.ok_or(RepositoryError::NoRecord { id, state });
        };
        pack::unpack(&packed)
            .and_then(|json| RunRecord::from_json(&json))
            .map_err(|source| RepositoryError::Record { id, source })
    }

    /// The runs of `ids` that have a record, in the order in which they ran.
    ///
    /// # Errors
    /// A run does not exist, none has a record, or the file cannot be read.
    pub fn recorded(&self, ids: Vec<RunId>) -> Result<Vec<RunId>, RepositoryError> {
        let sql = "SELECT started_at FROM run JOIN record USING (id) WHERE id = ?1";
        let started = |id: &RunId| -> rusqlite::Result<Option<String>> {
            self.connection.prepare_cached(sql)?.query_row([id], |row| row.get(0)).optional()
        };
        let several = ids.len() > 1;
        let mut dated = Vec::with_capacity(ids.len());
        for id in ids {
            match started(&id).map_err(|e| self.classify_error(e))? {
                Some(at) => dated.push((at, id)),
                // The progress of a killed run becomes its record.
                None => match self.load(&id) {
                    Ok(left) => dated.push((left.started_at, id)),
                    Err(RepositoryError::NoRecord { .. }) if several => {}
                    Err(error) => return Err(error),
                },
            }
        }
        dated.sort();
        Ok(dated.into_iter().map(|(_, id)| id).collect())
    }

    /// The data stored at the start of a run; `None` for an imported record.
    ///
    /// # Errors
    /// No run or several match, or the file cannot be read.
    pub fn started(&self, selector: &str) -> Result<Option<StartedRun>, RepositoryError> {
        let id = self.resolve(selector)?;
        let sql =
            "SELECT id, started_at, engine, target, pid, pid_start_ticks, boot_id, pid_namespace, host, plan,
                       sweep, kind, point, repeat, side, settings
                   FROM run LEFT JOIN member ON member.run = run.id WHERE id = ?1 AND plan IS NOT NULL";
        let read = |row: &rusqlite::Row<'_>| {
            let plan: String = row.get("plan")?;
            let plan = serde_json::from_str(&plan).map_err(|e| {
                rusqlite::Error::FromSqlConversionFailure(9, rusqlite::types::Type::Text, Box::new(e))
            })?;
            Ok(StartedRun {
                id: row.get("id")?,
                started_at: row.get("started_at")?,
                engine: row.get("engine")?,
                target: row.get("target")?,
                process: process_mark(row)?,
                plan,
                part_of: part_of(row)?,
            })
        };
        self.connection.query_row(sql, [&id], read).optional().map_err(|e| self.classify_error(e))
    }

    fn beginning_with(&self, prefix: &str) -> Result<Vec<RunId>, RepositoryError> {
        if prefix.is_empty() {
            return Ok(Vec::new());
        }
        let exact = self.names("SELECT id FROM run WHERE id = ?1", &prefix)?;
        if !exact.is_empty() {
            return Ok(exact);
        }
        let sql = format!(
            "SELECT id FROM run WHERE substr(id, 1, length(?1)) = ?1
             ORDER BY started_us DESC, id DESC LIMIT {NAMES_MAX}"
        );
        self.names(&sql, &prefix)
    }

    fn names(&self, sql: &str, value: &dyn rusqlite::ToSql) -> Result<Vec<RunId>, RepositoryError> {
        let read = || -> rusqlite::Result<Vec<RunId>> {
            let mut statement = self.connection.prepare_cached(sql)?;
            statement.query_map(params![value], |row| row.get(0))?.collect()
        };
        read().map_err(|e| self.classify_error(e))
    }
}

/// The number of steps back: 0 for `last`, 3 for `last~3`.
fn steps_back(selector: &str) -> Option<u32> {
    match selector.strip_prefix("last")? {
        "" => Some(0),
        rest => rest.strip_prefix('~')?.parse().ok(),
    }
}
