//! Stores campaigns: their definition, state and runs.
//!
//! The definition is stored before the first run, so that an interrupted campaign can resume.

use rusqlite::{OptionalExtension as _, Row, Transaction, TransactionBehavior, params};
use serde::Serialize;

use super::list::process_mark;
use super::process::{ProcessMark, start_ticks_of};
use super::{Filter, Liveness, Repository, RepositoryError, RunSummary};
use crate::membership::{PartOf, SweepId, SweepKind};

/// A sweep, search, soak or A/B test at its start.
#[derive(Debug, Clone, PartialEq)]
pub struct StartedSweep {
    /// Name of the sweep, unique in the repository.
    pub id: SweepId,
    /// The kind of the sweep.
    pub kind: SweepKind,
    /// When it started, RFC 3339 in UTC.
    pub started_at: String,
    /// The target's URL, without secrets.
    pub target: String,
    /// Number of planned runs; absent if it depends on results.
    pub runs_planned: Option<u32>,
    /// The definition, as JSON that the campaign reads when it resumes.
    pub definition: serde_json::Value,
}

/// The state of a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SweepState {
    /// The sweep is still in progress.
    Running,
    /// It cannot be determined from here whether the sweep still runs.
    Unknown,
    /// The sweep completed all its runs.
    Done,
    /// The sweep was stopped, or its process is gone; it can resume.
    Interrupted,
}

dyno_plan::names! {
    /// The word in lists: `running`.
    SweepState { Running = "running", Unknown = "unknown", Done = "done", Interrupted = "interrupted" }
}

/// One sweep in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SweepSummary {
    /// Name of the sweep, unique in the repository.
    pub id: SweepId,
    /// The kind of the sweep.
    pub kind: SweepKind,
    /// When it started, RFC 3339 in UTC.
    pub started_at: String,
    /// The state of the sweep.
    pub status: SweepState,
    /// The target's URL, without secrets.
    pub target: String,
    /// Number of planned runs; absent if it depends on results.
    pub runs_planned: Option<u32>,
    /// Number of valid and invalid runs; failed and interrupted runs do not count.
    pub runs_done: u32,
}

const COLUMNS: &str = "id, kind, started_at, target, runs_planned, ended,
    pid, pid_start_ticks, boot_id, pid_namespace, host,
    (SELECT count(*) FROM member JOIN run ON run.id = member.run
     WHERE member.sweep = sweep.id AND run.status IN ('valid', 'invalid')) AS runs_done";

impl Repository {
    /// Stores that this process starts a sweep.
    ///
    /// # Errors
    /// The name already exists, or the file cannot be written.
    pub fn begin_sweep(&self, sweep: &StartedSweep) -> Result<(), RepositoryError> {
        let process = ProcessMark::of_this_process();
        let sql = "INSERT INTO sweep (id, kind, started_at, target, runs_planned, definition,
                       pid, pid_start_ticks, boot_id, pid_namespace, host)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT (id) DO NOTHING";
        let values = params![
            sweep.id,
            sweep.kind.name(),
            sweep.started_at,
            sweep.target,
            sweep.runs_planned,
            sweep.definition.to_string(),
            process.pid,
            process.start_ticks.and_then(|ticks| i64::try_from(ticks).ok()),
            process.boot_id,
            process.namespace,
            process.host,
        ];
        match self.connection.execute(sql, values).map_err(|e| self.classify_error(e))? {
            0 => Err(RepositoryError::Exists { id: sweep.id.clone() }),
            _ => Ok(()),
        }
    }

    /// Stores that this process resumes a sweep.
    ///
    /// # Errors
    /// Another process still runs the sweep, or the file cannot be written.
    pub fn resume_sweep(&self, id: &str) -> Result<(), RepositoryError> {
        // Take the write lock first: if two processes resume at once, the second sees that the first did.
        let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
            .map_err(|e| self.classify_error(e))?;
        let state = self.sweep_summary(id)?.status;
        if state == SweepState::Running {
            return Err(RepositoryError::SweepRuns { id: id.to_owned() });
        }
        let process = ProcessMark::of_this_process();
        let sql = "UPDATE sweep SET ended = NULL, pid = ?2, pid_start_ticks = ?3, boot_id = ?4,
                       pid_namespace = ?5, host = ?6 WHERE id = ?1";
        let ticks = process.start_ticks.and_then(|ticks| i64::try_from(ticks).ok());
        let values = params![id, process.pid, ticks, process.boot_id, process.namespace, process.host];
        transaction
            .execute(sql, values)
            .and_then(|_| transaction.commit())
            .map_err(|e| self.classify_error(e))
    }

    /// Stores the final state of a sweep; `Done` is final, any other state can resume.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn end_sweep(&self, id: &str, state: SweepState) -> Result<(), RepositoryError> {
        let sql = "UPDATE sweep SET ended = ?2 WHERE id = ?1";
        self.connection
            .execute(sql, params![id, state.name()])
            .map(|_| ())
            .map_err(|e| self.classify_error(e))
    }

    /// Sweeps, newest first, at most `limit`; of one `kind`, or of all kinds.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn sweeps(
        &self,
        kind: Option<SweepKind>,
        limit: usize,
    ) -> Result<Vec<SweepSummary>, RepositoryError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM sweep WHERE ?1 IS NULL OR kind = ?1 ORDER BY started_at DESC, id DESC LIMIT ?2"
        );
        let this_process = ProcessMark::of_this_process();
        let read = || -> rusqlite::Result<Vec<SweepSummary>> {
            let mut statement = self.connection.prepare_cached(&sql)?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            statement
                .query_map(params![kind.map(SweepKind::name), limit], |row| summary(row, &this_process))?
                .collect()
        };
        read().map_err(|e| self.classify_error(e))
    }

    /// The sweep that `selector` names: its name, a unique prefix of the name, or `last`.
    ///
    /// # Errors
    /// No sweep or several match, or the file cannot be read.
    pub fn resolve_sweep(&self, selector: &str) -> Result<SweepId, RepositoryError> {
        let all: Vec<SweepId> = self.sweeps(None, usize::MAX)?.into_iter().map(|sweep| sweep.id).collect();
        if selector == "last" && !all.is_empty() {
            return Ok(all[0].clone());
        }
        let fits = |id: &&SweepId| !selector.is_empty() && id.starts_with(selector);
        let matching_ids: Vec<_> = match all.iter().find(|id| *id == selector) {
            Some(id) => vec![id.clone()],
            None => all.iter().filter(fits).cloned().collect(),
        };
        match matching_ids.as_slice() {
            [id] => Ok(id.clone()),
            [] => {
                let newest = all.into_iter().take(5).collect();
                Err(RepositoryError::NoSuchSweep { selector: selector.to_owned(), newest })
            }
            _ => Err(RepositoryError::Ambiguous { selector: selector.to_owned(), candidates: matching_ids }),
        }
    }

    /// One sweep's summary; `selector` as for [`Repository::resolve_sweep`].
    ///
    /// # Errors
    /// No sweep or several match, or the file cannot be read.
    pub fn sweep_summary(&self, selector: &str) -> Result<SweepSummary, RepositoryError> {
        let id = self.resolve_sweep(selector)?;
        let this_process = ProcessMark::of_this_process();
        let sql = format!("SELECT {COLUMNS} FROM sweep WHERE id = ?1");
        self.connection
            .query_row(&sql, [&id], |row| summary(row, &this_process))
            .map_err(|e| self.classify_error(e))
    }

    /// The definition of a sweep ([`StartedSweep::definition`]); `selector` as for [`Repository::resolve_sweep`].
    ///
    /// # Errors
    /// No sweep or several match, or the file cannot be read.
    pub fn sweep_definition(&self, selector: &str) -> Result<serde_json::Value, RepositoryError> {
        let id = self.resolve_sweep(selector)?;
        let text: Option<String> = self
            .connection
            .query_row("SELECT definition FROM sweep WHERE id = ?1", [&id], |row| row.get(0))
            .optional()
            .map_err(|e| self.classify_error(e))?;
        serde_json::from_str(text.as_deref().unwrap_or("null")).map_err(|e| RepositoryError::Damaged {
            path: self.path.clone(),
            detail: format!("the definition of {id} is no JSON: {e}"),
        })
    }

    /// The runs of a sweep in the order of their start; `selector` as for [`Repository::resolve_sweep`].
    ///
    /// # Errors
    /// No sweep or several match, or the file cannot be read.
    pub fn runs_of_sweep(&self, selector: &str) -> Result<Vec<RunSummary>, RepositoryError> {
        let id = self.resolve_sweep(selector)?;
        let mut runs = self.list(&Filter { sweep: Some(id), ..Filter::default() })?;
        runs.reverse();
        Ok(runs)
    }
}

fn summary(row: &Row<'_>, observer: &ProcessMark) -> rusqlite::Result<SweepSummary> {
    let end_state: Option<String> = row.get("ended")?;
    let status = match end_state.as_deref() {
        Some("done") => SweepState::Done,
        Some(_) => SweepState::Interrupted,
        None => match process_mark(row)?.liveness_from(observer, start_ticks_of) {
            Liveness::Alive => SweepState::Running,
            Liveness::Gone => SweepState::Interrupted,
            Liveness::Unknown => SweepState::Unknown,
        },
    };
    Ok(SweepSummary {
        id: row.get("id")?,
        kind: SweepKind::from_name(&row.get::<_, String>("kind")?).unwrap_or(SweepKind::Sweep),
        started_at: row.get("started_at")?,
        status,
        target: row.get("target")?,
        runs_planned: row.get("runs_planned")?,
        runs_done: row.get("runs_done")?,
    })
}

/// Stores a run's position in a campaign, if it has one.
pub(super) fn put_member(
    connection: &rusqlite::Connection,
    run: &str,
    part: Option<&PartOf>,
) -> rusqlite::Result<()> {
    let Some(part) = part else { return Ok(()) };
    let settings = serde_json::to_string(&part.settings)
        .map_err(|e| rusqlite::Error::ToSqlConversionFailure(Box::new(e)))?;
    connection.execute(
        "INSERT INTO member (run, sweep, kind, point, repeat, side, settings) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (run) DO NOTHING",
        params![run, part.id, part.kind.name(), part.point, part.repeat, part.side, settings],
    )?;
    Ok(())
}
