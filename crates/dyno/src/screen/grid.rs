//! The runs of a campaign: the grid of a sweep that fills, and the list of all runs.

use std::collections::{BTreeMap, VecDeque};

use dyno_campaign::{Begun, Ended, Next};
use dyno_plan::sweep;
use dyno_record::{CheckStatus, PartOf, RunRecord, Setting, Status};

use crate::words;

/// Runs that are listed at most.
const LISTED_MAX: usize = 200;

/// What became of a point or of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Cell {
    /// No run of it has begun.
    Waiting,
    /// A run of it is under way.
    Running,
    /// Its last run gave this throughput, and the audit says so much of it.
    Measured(f64, Doubt),
    /// Its last run failed, or could not be made.
    Failed,
    /// It was stopped before anything was measured, or left out.
    Stopped,
}

/// What the audit says of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Doubt {
    /// Nothing against it.
    Nothing,
    /// A warning.
    Warned,
    /// It is not valid.
    Invalid,
}

/// A run that has ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) number: u32,
    pub(crate) what: String,
    pub(crate) cell: Cell,
    pub(crate) p99_us: Option<f64>,
}

/// The runs of a campaign.
#[derive(Debug, Default)]
pub(crate) struct Grid {
    /// Names of the rows and columns, where the points are known from the beginning.
    pub(crate) rows: Vec<String>,
    pub(crate) columns: Vec<String>,
    /// What the columns are.
    pub(crate) across: String,
    places: BTreeMap<u32, (usize, usize)>,
    cells: BTreeMap<u32, Cell>,
    /// Runs that have ended, the last first.
    pub(crate) ended: VecDeque<Row>,
    /// How many were valid without a warning, warned, and invalid or failed.
    pub(crate) counts: [u32; 3],
}

impl Grid {
    /// The points of a campaign that begins.
    pub(crate) fn new(begun: &Begun) -> Self {
        let mut grid = Self::default();
        let Some((_, first)) = begun.points.first() else { return grid };
        // Sessions go across, as on a petal; else what varies last.
        let across = first.iter().position(|setting| setting.key == sweep::SESSIONS);
        let across = across.unwrap_or(first.len().saturating_sub(1));
        grid.across = first.get(across).map_or_else(String::new, |setting| short(&setting.key));
        for (point, settings) in &begun.points {
            let column = settings.get(across).map_or_else(String::new, |setting| setting.value.clone());
            let others = settings.iter().enumerate().filter(|(at, _)| *at != across);
            let row: Vec<String> = others.map(|(_, setting)| named(setting)).collect();
            let place = (place_of(&mut grid.rows, row.join(", ")), place_of(&mut grid.columns, column));
            grid.places.insert(*point, place);
        }
        grid
    }

    /// A run begins.
    pub(crate) fn next(&mut self, next: &Next) {
        self.cells.insert(next.part.point, Cell::Running);
    }

    /// A run has ended.
    pub(crate) fn ended(&mut self, ended: &Ended) {
        let cell = match &ended.record {
            Some(record) => cell(record),
            None if ended.failed.is_some() => Cell::Failed,
            None => Cell::Stopped,
        };
        let cell = if ended.skipped { Cell::Stopped } else { cell };
        self.cells.insert(ended.part.point, cell);
        match cell {
            Cell::Measured(_, doubt) => self.counts[doubt as usize] += 1,
            Cell::Failed => self.counts[Doubt::Invalid as usize] += 1,
            _ => {}
        }
        let p99_us = ended.record.as_ref().and_then(|record| record.leading_ops()?.response_us.p99);
        let what = what(&ended.part);
        self.ended.push_front(Row { number: ended.number, what, cell, p99_us });
        self.ended.truncate(LISTED_MAX);
    }

    /// What became of the point in this place; nothing where there is none.
    pub(crate) fn at(&self, row: usize, column: usize) -> Option<Cell> {
        let (point, _) = self.places.iter().find(|(_, place)| **place == (row, column))?;
        Some(self.cells.get(point).copied().unwrap_or(Cell::Waiting))
    }

    /// Whether the points are known, so that there is a grid.
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
fn short(key: &str) -> String {
    key.rsplit('.').next().unwrap_or(key).to_owned()
}

fn named(setting: &Setting) -> String {
    words::setting(&setting.key, &setting.value)
}

/// What sets a run apart from the others.
pub(crate) fn what(part: &PartOf) -> String {
    match &part.side {
        Some(side) => format!("side {side}, pair {}", part.repeat),
        None => {
            let settings: Vec<String> = part.settings.iter().map(named).collect();
            let settings = settings.join(", ");
            if part.repeat > 1 { format!("{settings} (repeat {})", part.repeat) } else { settings }
        }
    }
}

fn cell(record: &RunRecord) -> Cell {
    let doubt = match record.status {
        Status::Failed => return Cell::Failed,
        Status::Interrupted => return Cell::Stopped,
        Status::Invalid => Doubt::Invalid,
        Status::Valid | Status::Imported => {
            let warned = record.audit.iter().any(|check| check.status == CheckStatus::Warn);
            if warned { Doubt::Warned } else { Doubt::Nothing }
        }
    };
    record.leading_ops().map_or(Cell::Stopped, |ops| Cell::Measured(ops.rate_per_s, doubt))
}
