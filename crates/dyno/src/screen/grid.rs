//! The runs of a campaign: their status, and the grid of a sweep in progress.

use std::collections::BTreeMap;

use dyno_campaign::progress::CampaignRun;
use dyno_campaign::{RunProgress, RunResult};
use dyno_plan::sweep;
use dyno_record::{CheckStatus, Status};

use crate::event_messages;

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

/// The grid of a campaign whose points are known from the start.
#[derive(Debug, Default)]
pub(crate) struct CampaignGrid {
    /// Names of the rows and columns.
    pub(crate) rows: Vec<String>,
    pub(crate) columns: Vec<String>,
    pub(crate) column_axis: String,
    places: BTreeMap<u32, (usize, usize)>,
    cells: BTreeMap<u32, PointStatus>,
}

impl CampaignGrid {
    /// The points of a campaign, with the status of the last run of each.
    pub(crate) fn of(progress: &RunProgress) -> Self {
        let mut grid = Self::default();
        let Some((_, first)) = progress.points.first() else { return grid };
        // Sessions are the columns, as in a petal; otherwise the last varied setting.
        let across = first.iter().position(|setting| setting.key == sweep::SESSIONS);
        let across = across.unwrap_or(first.len().saturating_sub(1));
        grid.column_axis = first.get(across).map_or_else(String::new, |setting| last_segment(&setting.key));
        for (point, settings) in &progress.points {
            let column = settings.get(across).map_or_else(String::new, |setting| setting.value.clone());
            let row_settings = settings.iter().enumerate().filter(|(at, _)| *at != across);
            let row: Vec<String> = row_settings
                .map(|(_, setting)| event_messages::setting(&setting.key, &setting.value))
                .collect();
            let place = (place_of(&mut grid.rows, row.join(", ")), place_of(&mut grid.columns, column));
            grid.places.insert(*point, place);
        }
        grid.cells = progress.ended.iter().map(|run| (run.point, status(run))).collect();
        grid.cells.extend(progress.next.iter().map(|run| (run.point, PointStatus::Running)));
        grid
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

/// Number of ended runs that were valid without a warning, warned, and invalid or failed.
pub(crate) fn audit_counts(ended: &[CampaignRun]) -> [u32; 3] {
    let mut counts = [0; 3];
    for run in ended {
        match status(run) {
            PointStatus::Measured(_, level) => counts[level as usize] += 1,
            PointStatus::Failed => counts[AuditLevel::Invalid as usize] += 1,
            _ => {}
        }
    }
    counts
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

/// Settings that distinguish a run from the others.
pub(crate) fn describe_step(settings: &[(String, String)], repeat: u32, side: Option<&str>) -> String {
    match side {
        Some(side) => format!("side {side}, pair {repeat}"),
        None => {
            let settings = settings.iter().map(|(key, value)| event_messages::setting(key, value));
            let settings = settings.collect::<Vec<_>>().join(", ");
            if repeat > 1 { format!("{settings} (repeat {repeat})") } else { settings }
        }
    }
}

/// Status of a run that has ended.
pub(crate) fn status(ended: &CampaignRun) -> PointStatus {
    match &ended.run {
        _ if ended.skipped => PointStatus::Stopped,
        Some(result) => measured(result),
        None if ended.failed.is_some() => PointStatus::Failed,
        None => PointStatus::Stopped,
    }
}

fn measured(result: &RunResult) -> PointStatus {
    let level = match result.status {
        Status::Failed => return PointStatus::Failed,
        Status::Interrupted => return PointStatus::Stopped,
        Status::Invalid => AuditLevel::Invalid,
        Status::Valid | Status::Imported => {
            let warned = result.doubts.iter().any(|check| check.status == CheckStatus::Warn);
            if warned { AuditLevel::Warned } else { AuditLevel::Nothing }
        }
    };
    result.ops_per_s.map_or(PointStatus::Stopped, |rate| PointStatus::Measured(rate, level))
}
