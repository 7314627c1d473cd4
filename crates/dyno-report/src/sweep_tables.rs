//! Sweeps in a terminal: the table that grows while they run, the points at their end, and the list of sweeps.

use dyno_analyze::Points;
use dyno_analyze::number::{ABSENT, compact, fixed, optional, time_us};
use dyno_analyze::whose::{is_marked, legend, mark};
use dyno_record::{RunRecord, SweepState, SweepSummary};

use crate::result::{Figures, LEGEND_LINES_MAX, has_result};
use crate::style::{Paint, Style};
use crate::table::{Cell, Column, Table};
use crate::text::{clean, wrap};

/// One run in the table that grows.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepRow<'a> {
    /// Which run it is, from 1, in time.
    pub number: u32,
    /// The values on the sweep's axes, in their order.
    pub values: Vec<&'a str>,
    /// Which run of its point, from 1.
    pub repeat: u32,
    /// The record; absent where the run came to none.
    pub record: Option<&'a RunRecord>,
    /// Why there is no record.
    pub reason: Option<&'a str>,
}

/// A table that is shown line by line.
#[derive(Debug, Clone)]
pub struct RunningTable {
    columns: Vec<Column>,
}

impl RunningTable {
    /// A table for these axes, each with the widest of its values.
    pub fn new<'a>(axes: impl IntoIterator<Item = (&'a str, usize)>) -> Self {
        let mut columns = vec![Column::figures("", "").at_least(4)];
        columns.extend(
            axes.into_iter().map(|(key, widest)| Column::figures(own_name(key), "").at_least(widest)),
        );
        columns.extend([
            Column::figures("rep", ""),
            Column::figures("ops", "/s").at_least(8),
            Column::figures("mean", "").at_least(7),
            Column::figures("p99", "").at_least(7),
            Column::figures("logical", "reads/s").at_least(8).droppable(),
            Column::figures("physical", "reads/s").at_least(8).droppable(),
            Column::figures("CPU", "%").at_least(5),
            Column::text("status").at_least(11),
        ]);
        Self { columns }
    }

    /// The heads.
    pub fn heads(&self, style: &Style) -> String {
        Table::new(self.columns.clone()).render(style)
    }

    /// One line, and beneath it why the run is not valid.
    pub fn line(&self, row: &SweepRow<'_>, style: &Style) -> String {
        let figures = row.record.filter(|record| has_result(record)).map(Figures::of);
        let marked = |metric: &str| row.record.is_some_and(|record| is_marked(record, metric));
        let figure = |metric: &str, show: fn(f64) -> String| -> Cell {
            match figures.as_ref().and_then(|figures| figures.get(metric)) {
                Some(value) => mark(show(value), marked(metric)).into(),
                None => ABSENT.into(),
            }
        };
        let mut table = Table::new(self.columns.clone());
        let mut cells: Vec<Cell> = vec![row.number.to_string().into()];
        cells.extend(row.values.iter().map(|value| Cell::from(*value)));
        cells.extend([
            row.repeat.to_string().into(),
            figure("ops_per_s", compact),
            figure("service_mean_us", time_us),
            figure("service_p99_us", time_us),
            figure("logical_reads_per_s", compact),
            figure("physical_reads_per_s", compact),
            figure("cpu_busy_pct", |value| fixed(value, 1)),
            status(row.record),
        ]);
        table.row(cells);
        let reason = row.reason.or_else(|| row.record?.reasons.first().map(String::as_str));
        if let Some(reason) = reason {
            table.note(reason.lines().next().unwrap_or_default(), Paint::Dim);
        }
        table.render_lines(style)
    }
}

fn status(record: Option<&RunRecord>) -> Cell {
    match record.map(|record| record.status) {
        Some(status) => Cell::painted(status.name(), crate::status::paint(status)),
        None => Cell::painted("no run", Paint::Bad),
    }
}

/// A key's name without its section.
fn own_name(key: &str) -> &str {
    key.rsplit_once('.').map_or(key, |(_, own)| own)
}

/// The points of runs that belong together: medians over repeats, percentiles from their histograms added.
pub fn point_table(points: &Points, style: &Style) -> String {
    let mut columns: Vec<Column> =
        points.axes.iter().map(|axis| Column::figures(own_name(&axis.path), axis.unit)).collect();
    columns.extend([
        Column::figures("runs", ""),
        Column::figures("median", "ops/s").under("throughput"),
        Column::figures("spread", "%").under("throughput"),
        Column::figures("mean", "").under("service time"),
        Column::figures("p50", "").under("service time"),
        Column::figures("p95", "").under("service time"),
        Column::figures("p99", "").under("service time"),
        Column::figures("CPU busy", "%").droppable(),
    ]);
    let mut table = Table::new(columns);
    for point in &points.points {
        let absent = || ABSENT.to_owned();
        let time = |name: &str| Cell::from(point.get(name).map_or_else(absent, time_us));
        let ops = point.estimates.get("ops_per_s");
        let mut cells: Vec<Cell> = point.values.iter().map(|value| Cell::from(value.text.as_str())).collect();
        cells.extend([
            point.runs.len().to_string().into(),
            ops.map_or_else(absent, |ops| compact(ops.median())).into(),
            optional_pct(ops.and_then(|ops| ops.spread_pct()), false),
            time("service_mean_us"),
            time("service_p50_us"),
            time("service_p95_us"),
            time("service_p99_us"),
            optional_pct(point.get("cpu_busy_pct"), point.is_marked("cpu_busy_pct")),
        ]);
        table.row(cells);
    }
    for left in &points.left_out {
        table.note(&format!("left out: {} ({})", left.id, left.reason), Paint::Dim);
    }
    let runs = points.points.iter().flat_map(|point| &point.runs);
    let legend = legend(runs.map(|run| &run.marked), |_| true)
        .map(|words| wrap(&words, style.columns(), LEGEND_LINES_MAX));
    let lines = legend.into_iter().flatten().map(|line| line + "\n");
    table.render(style) + &lines.collect::<String>()
}

fn optional_pct(value: Option<f64>, marked: bool) -> Cell {
    value.map_or_else(|| optional(None), |value| mark(fixed(value, 1), marked)).into()
}

/// Lines that the answer of one sweep may take.
const ANSWER_LINES_MAX: usize = 4;

/// The repository's sweeps, one line each, and beneath it what it came to.
pub fn sweep_list(sweeps: &[(SweepSummary, Option<String>)], style: &Style) -> String {
    let mut table = Table::new(vec![
        Column::name("name"),
        Column::text("status"),
        Column::figures("runs", ""),
        Column::figures("of", ""),
        Column::text("target"),
    ]);
    for (sweep, answer) in sweeps {
        let paint = match sweep.status {
            SweepState::Done | SweepState::Running => Paint::Good,
            SweepState::Interrupted | SweepState::Unknown => Paint::Warn,
        };
        table.row([
            sweep.id.as_str().into(),
            Cell::painted(sweep.status.name(), paint),
            sweep.runs_done.to_string().into(),
            sweep.runs_planned.map_or_else(|| ABSENT.to_owned(), |runs| runs.to_string()).into(),
            sweep.target.as_str().into(),
        ]);
        let line = answer.as_deref().map(clean);
        for line in line.iter().flat_map(|line| wrap(line, style.columns() - 2, ANSWER_LINES_MAX)) {
            table.note(&format!("  {line}"), Paint::Dim);
        }
    }
    table.render(style)
}
