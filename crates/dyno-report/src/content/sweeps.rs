//! Sweeps in a terminal: the table that grows during the sweep, and the list of sweeps.

use dyno_analyze::attribution::is_marked;
use dyno_record::{RunRecord, SweepState, SweepSummary};

use crate::content::result::{RunFigures, has_result};
use crate::model::table::{Grid, GridCell, GridHead};
use crate::style::Style;
use crate::text::{clean, wrap};

/// One run in the growing table.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepRow<'a> {
    /// Number of the run in time, from 1.
    pub number: u32,
    /// The values on the sweep's axes, in order.
    pub values: Vec<&'a str>,
    /// Number of the repeat within its point, from 1.
    pub repeat: u32,
    /// The record; absent if the run produced none.
    pub record: Option<&'a RunRecord>,
    /// Why there is no record.
    pub reason: Option<&'a str>,
}

/// A table that is shown line by line.
#[derive(Debug, Clone)]
pub struct RunningTable {
    columns: Vec<GridHead>,
}

impl RunningTable {
    /// A table for these axes, each with the width of its widest value.
    pub fn new<'a>(axes: impl IntoIterator<Item = (&'a str, usize)>) -> Self {
        let mut columns = vec![GridHead::figures("", "").at_least(4)];
        columns.extend(
            axes.into_iter().map(|(key, widest)| GridHead::figures(own_name(key), "").at_least(widest)),
        );
        columns.extend([
            GridHead::figures("rep", ""),
            GridHead::figures("ops", "/s").at_least(8),
            GridHead::figures("mean", "").at_least(7),
            GridHead::figures("p99", "").at_least(7),
            GridHead::figures("logical", "reads/s").at_least(8).spare(1),
            GridHead::figures("physical", "reads/s").at_least(8).spare(1),
            GridHead::figures("CPU", "%").at_least(5),
            GridHead::text("status").at_least(11),
        ]);
        Self { columns }
    }

    pub fn heads(&self, style: &Style) -> String {
        Grid::new(self.columns.clone()).render(style)
    }

    /// One line, with the reason below it if the run is not valid.
    pub fn line(&self, row: &SweepRow<'_>, style: &Style) -> String {
        let figures = row.record.filter(|record| has_result(record)).map(RunFigures::of);
        let figure = |metric: &str, show: fn(Option<f64>) -> GridCell| {
            show(figures.as_ref().and_then(|figures| figures.get(metric)))
                .marked(row.record.is_some_and(|record| is_marked(record, metric)))
        };
        let mut table = Grid::new(self.columns.clone());
        let mut cells = vec![GridCell::count(u64::from(row.number))];
        cells.extend(row.values.iter().map(|value| GridCell::setting(value)));
        cells.extend([
            GridCell::count(u64::from(row.repeat)),
            figure("ops_per_s", GridCell::compact),
            figure("service_mean_us", GridCell::time_us),
            figure("service_p99_us", GridCell::time_us),
            figure("logical_reads_per_s", GridCell::compact),
            figure("physical_reads_per_s", GridCell::compact),
            figure("cpu_busy_pct", |value| GridCell::fixed(value, 1)),
            status(row.record),
        ]);
        table.row(cells);
        let reason = row.reason.or_else(|| row.record?.reasons.first().map(String::as_str));
        if let Some(reason) = reason {
            table.note(reason.lines().next().unwrap_or_default(), "dim");
        }
        table.render_lines(style)
    }
}

fn status(record: Option<&RunRecord>) -> GridCell {
    match record.map(|record| record.status) {
        Some(status) => GridCell::from(status.name()).toned(crate::model::status::tone(status)),
        None => GridCell::from("no run").toned("bad"),
    }
}

/// A key's name without its section.
fn own_name(key: &str) -> &str {
    key.rsplit_once('.').map_or(key, |(_, own)| own)
}

/// Maximum lines of one sweep's answer.
const ANSWER_LINES_MAX: usize = 12;

/// The repository's sweeps, one line each, with the result below.
pub fn sweep_list(sweeps: &[(SweepSummary, Option<String>)], style: &Style) -> String {
    let mut table = Grid::new(vec![
        GridHead::tight("name"),
        GridHead::text("status"),
        GridHead::figures("done", ""),
        GridHead::figures("planned", ""),
        GridHead::text("target"),
    ]);
    for (sweep, answer) in sweeps {
        let tone = match sweep.status {
            SweepState::Done | SweepState::Running => "good",
            SweepState::Interrupted | SweepState::Unknown => "warn",
        };
        table.row([
            (&sweep.id).into(),
            GridCell::from(sweep.status.name()).toned(tone),
            GridCell::count(u64::from(sweep.runs_done)),
            GridCell::count(sweep.runs_planned.map(u64::from)),
            (&sweep.target).into(),
        ]);
        let line = answer.as_deref().map(clean);
        for line in line.iter().flat_map(|line| wrap(line, style.columns() - 4, ANSWER_LINES_MAX)) {
            table.note(&format!("  {line}"), "dim");
        }
    }
    table.render(style)
}
