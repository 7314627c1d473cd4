//! What a run that is under way has measured so far, kept so that hours are not lost with its process.
//!
//! A run's record is written when it ends. Of one whose process is killed there would be nothing; so long runs leave the
//! intervals behind them here, with all that is known of the run but its results. Once the process is gone,
//! [`Repository::load`] makes a record of both, interrupted and without totals; when the run ends as it should, both go.

use rusqlite::{OptionalExtension as _, Transaction, TransactionBehavior, params};

use super::{Repository, RepositoryError, RunState, pack};
use crate::json::RecordError;
use crate::record::{RunId, RunRecord, Status};
use crate::series::SeriesPoint;

impl Repository {
    /// Keeps `draft`: the record of a run that has begun, without results.
    ///
    /// # Errors
    /// The run was not begun, or the file cannot be written.
    pub fn keep_draft(&self, draft: &RunRecord) -> Result<(), RepositoryError> {
        let json =
            draft.to_json().map_err(|source| RepositoryError::Record { id: draft.id.clone(), source })?;
        let sql =
            "INSERT INTO draft (id, json_bytes, packed) VALUES (?1, ?2, ?3) ON CONFLICT (id) DO NOTHING";
        let values = params![draft.id, i64::try_from(json.len()).unwrap_or(i64::MAX), pack::pack(&json)];
        self.connection.execute(sql, values).map(|_| ()).map_err(|e| self.sorted(e))
    }

    /// Keeps the next intervals of the run `id`, of which [`Repository::keep_draft`] has kept the rest.
    ///
    /// # Errors
    /// There is no draft of the run, or the file cannot be written.
    pub fn keep_points(&self, id: &str, points: &[SeriesPoint]) -> Result<(), RepositoryError> {
        let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
            .map_err(|e| self.sorted(e))?;
        for point in points {
            let json = serde_json::to_string(point).map_err(|e| RepositoryError::Record {
                id: id.to_owned(),
                source: RecordError::Malformed { detail: e.to_string() },
            })?;
            let sql = "INSERT INTO progress (id, at_s, point) VALUES (?1, ?2, ?3)";
            transaction
                .prepare_cached(sql)
                .and_then(|mut insert| insert.execute(params![id, point.at_s, json]))
                .map_err(|e| self.sorted(e))?;
        }
        transaction.commit().map_err(|e| self.sorted(e))
    }

    /// The record of a run that left none, from what it kept; `None` while its process may live, or if it kept nothing.
    pub(super) fn remains(&self, id: &RunId, state: RunState) -> Result<Option<RunRecord>, RepositoryError> {
        if state != RunState::Interrupted {
            return Ok(None);
        }
        let sql = "SELECT packed FROM draft WHERE id = ?1";
        let packed: Option<Vec<u8>> =
            self.connection.query_row(sql, [id], |row| row.get(0)).optional().map_err(|e| self.sorted(e))?;
        let Some(packed) = packed else { return Ok(None) };
        let unreadable = |source| RepositoryError::Record { id: id.clone(), source };
        let draft = pack::unpack(&packed).and_then(|json| RunRecord::from_json(&json)).map_err(unreadable)?;
        let points = self.points(id)?;
        let kept_s: f64 = points.iter().map(|point| point.seconds).sum();
        let mut series = draft.series.clone();
        series.points = points;
        Ok(Some(RunRecord {
            status: Status::Interrupted,
            reasons: vec![format!(
                "its process was gone before the run ended; kept are the first {kept_s:.0} s of its series, and no totals"
            )],
            series,
            ..draft
        }))
    }

    fn points(&self, id: &str) -> Result<Vec<SeriesPoint>, RepositoryError> {
        let read = || -> rusqlite::Result<Vec<String>> {
            let sql = "SELECT point FROM progress WHERE id = ?1 ORDER BY at_s";
            self.connection.prepare_cached(sql)?.query_map([id], |row| row.get(0))?.collect()
        };
        let points = read().map_err(|e| self.sorted(e))?;
        let parse = |json: &String| {
            serde_json::from_str(json).map_err(|e| RepositoryError::Record {
                id: id.to_owned(),
                source: RecordError::Malformed { detail: e.to_string() },
            })
        };
        points.iter().map(parse).collect()
    }
}
