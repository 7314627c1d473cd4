//! Stores the progress of a running run, so that a killed process does not lose hours of results.
//!
//! A run's record is written at its end, so a killed process would leave nothing. Long runs therefore store completed
//! intervals in [`chunks`](super::chunks), and here a draft with everything but results. Once the process is gone,
//! [`Repository::load`] makes an interrupted record without totals from both.

use rusqlite::{OptionalExtension as _, params};

use super::{Repository, RepositoryError, RunState, pack};
use crate::id::RunId;
use crate::record::{RunRecord, Status};
use crate::series::{OVERVIEW_POINTS_MAX, Series, SeriesOverview, SeriesPart};

impl Repository {
    /// Stores `draft`, the record of a started run without results.
    ///
    /// # Errors
    /// The run was not started, or the file cannot be written.
    pub fn keep_draft(&self, draft: &RunRecord) -> Result<(), RepositoryError> {
        let json =
            draft.to_json().map_err(|source| RepositoryError::Record { id: draft.id.clone(), source })?;
        let sql =
            "INSERT INTO draft (id, json_bytes, packed) VALUES (?1, ?2, ?3) ON CONFLICT (id) DO NOTHING";
        let values = params![draft.id, i64::try_from(json.len()).unwrap_or(i64::MAX), pack::pack(&json)];
        self.connection.execute(sql, values).map(|_| ()).map_err(|e| self.classify_error(e))
    }

    /// Builds the record of a run that has none from its draft; `None` while its process may be alive, or without a draft.
    pub(super) fn rescued_record(
        &self,
        id: &RunId,
        state: RunState,
    ) -> Result<Option<RunRecord>, RepositoryError> {
        if state != RunState::Interrupted {
            return Ok(None);
        }
        let sql = "SELECT packed FROM draft WHERE id = ?1";
        let packed: Option<Vec<u8>> = self
            .connection
            .query_row(sql, [id], |row| row.get(0))
            .optional()
            .map_err(|e| self.classify_error(e))?;
        let Some(packed) = packed else { return Ok(None) };
        let unreadable = |source| RepositoryError::Record { id: id.clone(), source };
        let draft = pack::unpack(&packed).and_then(|json| RunRecord::from_json(&json)).map_err(unreadable)?;
        let series = self.kept_series(id, 0, draft.series.interval_s)?;
        let kept_s: f64 = series.points.iter().map(|point| point.seconds).sum();
        let mut targets = draft.targets;
        for (part, target) in (1..).zip(&mut targets) {
            if let Some(own) = target.own.as_deref_mut() {
                own.series = self.kept_series(id, part, draft.series.interval_s)?;
            }
        }
        Ok(Some(RunRecord {
            status: Status::Interrupted,
            reasons: vec![format!(
                "its process ended before the run did; the first {kept_s:.0} s of its series are stored, \
                 without totals"
            )],
            series,
            targets,
            ..draft
        }))
    }

    /// The stored series of one part of a run; an overview if it is long.
    fn kept_series(&self, id: &str, part: SeriesPart, interval_s: f64) -> Result<Series, RepositoryError> {
        let mut overview = SeriesOverview::new(OVERVIEW_POINTS_MAX);
        for chunk in self.chunks(id, part) {
            chunk?.points.into_iter().for_each(|point| overview.push(point));
        }
        Ok(overview.into_series(interval_s))
    }
}
