//! The runs of a campaign: the grid of a sweep in progress, and the list of all runs.

use std::collections::{BTreeMap, VecDeque};

use dyno_campaign::{CampaignBegun, NextRun, RunEnded};
use dyno_plan::sweep;
use dyno_record::{CheckStatus, PartOf, PointSetting, RunRecord, Status};

use crate::event_messages;

/// Maximum runs in the list.
const LISTED_MAX: usize = 200;

/// Status of a point or a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum PointStatus {
    /// No run of it has begun.
    Waiting,
    /// A run of it is in progress.
    Running,
    /// Throughput of its last run, and the audit's result.
    Measured(f64, AuditLevel),
    /// Its last run failed or could not start.
    Failed,
    /// It was stopped before anything was measured, or skipped.
    Stopped,
}

/// The audit's result for a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum AuditLevel {
    Nothing,
    Warned,
    Invalid,
}

/// A run that has ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EndedRunRow {
    pub(crate) number: u32,
    pub(crate) description: String,
    pub(crate) cell: PointStatus,
    pub(crate) p99_us: Option<f64>,
}

/// The runs of a campaign.
#[derive(Debug, Default)]
pub(crate) struct CampaignGrid {
    /// Names of the rows and columns, if the points are known from the start.
    pub(crate) rows: Vec<String>,
    pub(crate) columns: Vec<String>,
    pub(crate) column_axis: String,
    places: BTreeMap<u32, (usize, usize)>,
    cells: BTreeMap<u32, PointStatus>,
    /// Ended runs, the last first.
    pub(crate) ended_runs: VecDeque<EndedRunRow>,
    /// Number of runs that were valid without a warning, warned, and invalid or failed.
    pub(crate) counts: [u32; 3],
}

impl CampaignGrid {
    /// The points of a campaign that begins.
    pub(crate) fn new(campaign: &CampaignBegun) -> Self {
        let mut grid = Self::default();
        let Some((_, first)) = campaign.points.first() else { return grid };
        // Sessions are the columns, as in a petal; otherwise the last varied setting.
        let across = first.iter().position(|setting| setting.key == sweep::SESSIONS);
        let across = across.unwrap_or(first.len().saturating_sub(1));
        grid.column_axis = first.get(across).map_or_else(String::new, |setting| last_segment(&setting.key));
        for (point, settings) in &campaign.points {
            let column = settings.get(across).map_or_else(String::new, |setting| setting.value.clone());
            let row_settings = settings.iter().enumerate().filter(|(at, _)| *at != across);
            let row: Vec<String> = row_settings.map(|(_, setting)| setting_text(setting)).collect();
            let place = (place_of(&mut grid.rows, row.join(", ")), place_of(&mut grid.columns, column));
            grid.places.insert(*point, place);
        }
        grid
    }

    pub(crate) fn next(&mut self, next: &NextRun) {
        self.cells.insert(next.part.point, PointStatus::Running);
    }

    pub(crate) fn end_run(&mut self, finished_run: &RunEnded) {
        let cell = match &finished_run.record {
            Some(record) => cell(record),
            None if finished_run.failed.is_some() => PointStatus::Failed,
            None => PointStatus::Stopped,
        };
        let cell = if finished_run.skipped { PointStatus::Stopped } else { cell };
        self.cells.insert(finished_run.part.point, cell);
        match cell {
            PointStatus::Measured(_, doubt) => self.counts[doubt as usize] += 1,
            PointStatus::Failed => self.counts[AuditLevel::Invalid as usize] += 1,
            _ => {}
        }
        let p99_us = finished_run.record.as_ref().and_then(|record| record.leading_ops()?.response_us.p99);
        let description = describe_part(&finished_run.part);
        self.ended_runs.push_front(EndedRunRow { number: finished_run.number, description, cell, p99_us });
        self.ended_runs.truncate(LISTED_MAX);
    }

    /// Status of the point at this position; `None` if there is no point.
    pub(crate) fn at(&self, row: usize, column: usize) -> Option<PointStatus> {
        let (point, _) = self.places.iter().find(|(_, place)| **place == (row, column))?;
        Some(self.cells.get(point).copied().unwrap_or(PointStatus::Waiting))
    }

    /// Whether the points are known, so that a grid exists.
    pub(crate) fn is_known(&self) -> bool {
        !self.places.is_empty()
    }
}

fn place_of(names: &mut Vec<String>, name: String) -> usize {
    match names.iter().position(|known| *known == name) {
        Some(at) => at,
        None => {
            names.push(name);
            names.len() - 1
        }
    }
}

/// The last part of a key's name.
fn last_segment(key: &str) -> String {
    key.rsplit('.').next().unwrap_or(key).to_owned()
}

fn setting_text(setting: &PointSetting) -> String {
    event_messages::setting(&setting.key, &setting.value)
}

/// Settings that distinguish a run from the others.
pub(crate) fn describe_part(part: &PartOf) -> String {
    match &part.side {
        Some(side) => format!("side {side}, pair {}", part.repeat),
        None => {
            let settings: Vec<String> = part.settings.iter().map(setting_text).collect();
            let settings = settings.join(", ");
            if part.repeat > 1 { format!("{settings} (repeat {})", part.repeat) } else { settings }
        }
    }
}

fn cell(record: &RunRecord) -> PointStatus {
    let doubt = match record.status {
        Status::Failed => return PointStatus::Failed,
        Status::Interrupted => return PointStatus::Stopped,
        Status::Invalid => AuditLevel::Invalid,
        Status::Valid | Status::Imported => {
            let warned = record.audit.iter().any(|check| check.status == CheckStatus::Warn);
            if warned { AuditLevel::Warned } else { AuditLevel::Nothing }
        }
    };
    record.leading_ops().map_or(PointStatus::Stopped, |ops| PointStatus::Measured(ops.rate_per_s, doubt))
}
