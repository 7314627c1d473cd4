//! Sweeps in a terminal: the table that grows during the sweep, the points at its end, and the list of
//! sweeps.

use dyno_analyze::Points;
use dyno_analyze::attribution::{is_marked, legend, mark};
use dyno_analyze::number::{ABSENT, compact, fixed, optional, time_us};
use dyno_record::{RunRecord, SweepState, SweepSummary};

use crate::result::{LEGEND_LINES_MAX, RunFigures, has_result};
use crate::style::{Paint, Style};
use crate::table::{TextCell, TextColumn, TextTable};
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
    columns: Vec<TextColumn>,
}

impl RunningTable {
    /// A table for these axes, each with the width of its widest value.
    pub fn new<'a>(axes: impl IntoIterator<Item = (&'a str, usize)>) -> Self {
        let mut columns = vec![TextColumn::figures("", "").at_least(4)];
        columns.extend(
            axes.into_iter().map(|(key, widest)| TextColumn::figures(own_name(key), "").at_least(widest)),
        );
        columns.extend([
            TextColumn::figures("rep", ""),
            TextColumn::figures("ops", "/s").at_least(8),
            TextColumn::figures("mean", "").at_least(7),
            TextColumn::figures("p99", "").at_least(7),
            TextColumn::figures("logical", "reads/s").at_least(8).droppable(),
            TextColumn::figures("physical", "reads/s").at_least(8).droppable(),
            TextColumn::figures("CPU", "%").at_least(5),
            TextColumn::text("status").at_least(11),
        ]);
        Self { columns }
    }

    pub fn heads(&self, style: &Style) -> String {
        TextTable::new(self.columns.clone()).render(style)
    }

    /// One line, with the reason below it if the run is not valid.
    pub fn line(&self, row: &SweepRow<'_>, style: &Style) -> String {
        let figures = row.record.filter(|record| has_result(record)).map(RunFigures::of);
        let marked = |metric: &str| row.record.is_some_and(|record| is_marked(record, metric));
        let figure = |metric: &str, show: fn(f64) -> String| -> TextCell {
            match figures.as_ref().and_then(|figures| figures.get(metric)) {
                Some(value) => mark(show(value), marked(metric)).into(),
                None => ABSENT.into(),
            }
        };
        let mut table = TextTable::new(self.columns.clone());
        let mut cells: Vec<TextCell> = vec![row.number.to_string().into()];
        cells.extend(row.values.iter().map(|value| TextCell::from(*value)));
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

fn status(record: Option<&RunRecord>) -> TextCell {
    match record.map(|record| record.status) {
        Some(status) => TextCell::painted(status.name(), crate::status::paint(status)),
        None => TextCell::painted("no run", Paint::Bad),
    }
}

/// A key's name without its section.
fn own_name(key: &str) -> &str {
    key.rsplit_once('.').map_or(key, |(_, own)| own)
}

/// The points of related runs: medians over repeats, and percentiles from merged histograms.
pub fn point_table(points: &Points, style: &Style) -> String {
    let mut columns: Vec<TextColumn> =
        points.axes.iter().map(|axis| TextColumn::figures(own_name(&axis.path), axis.unit)).collect();
    columns.extend([
        TextColumn::figures("runs", ""),
        TextColumn::figures("median", "ops/s").grouped_under("throughput"),
        TextColumn::figures("spread", "%").grouped_under("throughput"),
        TextColumn::figures("mean", "").grouped_under("service time"),
        TextColumn::figures("p50", "").grouped_under("service time"),
        TextColumn::figures("p95", "").grouped_under("service time"),
        TextColumn::figures("p99", "").grouped_under("service time"),
        TextColumn::figures("CPU busy", "%").droppable(),
    ]);
    let mut table = TextTable::new(columns);
    for point in &points.points {
        let absent = || ABSENT.to_owned();
        let time = |name: &str| TextCell::from(point.get(name).map_or_else(absent, time_us));
        let ops = point.estimates.get("ops_per_s");
        let mut cells: Vec<TextCell> =
            point.values.iter().map(|value| TextCell::from(value.text.as_str())).collect();
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

fn optional_pct(value: Option<f64>, marked: bool) -> TextCell {
    value.map_or_else(|| optional(None), |value| mark(fixed(value, 1), marked)).into()
}

/// Maximum lines of one sweep's answer.
const ANSWER_LINES_MAX: usize = 4;

/// The repository's sweeps, one line each, with the result below.
pub fn sweep_list(sweeps: &[(SweepSummary, Option<String>)], style: &Style) -> String {
    let mut table = TextTable::new(vec![
        TextColumn::name("name"),
        TextColumn::text("status"),
        TextColumn::figures("done", ""),
        TextColumn::figures("planned", ""),
        TextColumn::text("target"),
    ]);
    for (sweep, answer) in sweeps {
        let paint = match sweep.status {
            SweepState::Done | SweepState::Running => Paint::Good,
            SweepState::Interrupted | SweepState::Unknown => Paint::Warn,
        };
        table.row([
            sweep.id.as_str().into(),
            TextCell::painted(sweep.status.name(), paint),
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
