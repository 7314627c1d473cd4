//! Tables of all steps of all tests.

use dyno_analyze::conclusion::suite::{SuiteResult, SuiteTestResult, SuiteTestStep};

use crate::model::table::{Grid, GridCell, GridHead};
use crate::style::{Paint, Style};
use crate::text::{clean, wrap};

use super::overview::key_figure;

/// Maximum lines of a note.
const NOTE_LINES: usize = 6;

/// A column of the steps.
struct StepColumn {
    label: &'static str,
    unit: &'static str,
    /// The metric, or the cost of an operation.
    name: &'static str,
    /// Whether only a workbook has room for it.
    only_in_workbook: bool,
}

impl StepColumn {
    const fn of(label: &'static str, unit: &'static str, name: &'static str) -> Self {
        Self { label, unit, name, only_in_workbook: false }
    }

    const fn in_workbook(label: &'static str, unit: &'static str, name: &'static str) -> Self {
        Self { only_in_workbook: true, ..Self::of(label, unit, name) }
    }

    fn head(&self) -> GridHead {
        let head = GridHead::figures(self.label, self.unit);
        if self.only_in_workbook { head.only_in_workbook() } else { head }
    }
}

/// Columns of measured figures, in the layout of the platform tests on which this is modeled.
const COLUMNS: [StepColumn; 24] = [
    StepColumn::of("CPU busy", "%", "cpu_busy_pct"),
    StepColumn::of("user", "%", "cpu_user_pct"),
    StepColumn::of("sys", "%", "cpu_sys_pct"),
    StepColumn::of("idle", "%", "cpu_idle_pct"),
    StepColumn::of("rows", "/s", "rows_per_s"),
    StepColumn::of("transactions", "/s", "ops_per_s"),
    StepColumn::of("service", "", "service_mean_us"),
    StepColumn::of("p95", "", "service_p95_us"),
    StepColumn::of("p99", "", "service_p99_us"),
    StepColumn::of("logical reads", "/s", "logical_reads_per_s"),
    StepColumn::of("cache", "% hit", "buffer_hit_pct"),
    StepColumn::of("physical reads", "blocks/s", "physical_reads_per_s"),
    StepColumn::of("reads", "IOPS", "physical_read_requests_per_s"),
    StepColumn::of("read", "MB/s", "physical_read_mb_per_s"),
    StepColumn::of("writes", "IOPS", "physical_write_requests_per_s"),
    StepColumn::of("written", "blocks/s", "physical_writes_per_s"),
    StepColumn::of("written", "MB/s", "physical_write_mb_per_s"),
    StepColumn::of("device", "% busy", "device_util_pct"),
    StepColumn::of("redo", "IOPS", "redo_writes_per_s"),
    StepColumn::of("redo", "MB/s", "redo_mb_per_s"),
    StepColumn::in_workbook("device reads", "IOPS", "device_reads_per_s"),
    StepColumn::in_workbook("device read", "MB/s", "device_read_mb_per_s"),
    StepColumn::in_workbook("device writes", "IOPS", "device_writes_per_s"),
    StepColumn::in_workbook("device written", "MB/s", "device_write_mb_per_s"),
];

/// The steps of these tests, one per line; a figure that no step has gets no column.
pub(crate) fn steps(tests: &[&SuiteTestResult]) -> Grid {
    step_table(tests, &COLUMNS)
}

/// What a step is, in front of its figures.
fn step_heads() -> Vec<GridHead> {
    vec![GridHead::text("test").only_in_workbook(), GridHead::figures("sessions", "").short("", "#J")]
}

fn step_cells(test: &SuiteTestResult, step: &SuiteTestStep) -> Vec<GridCell> {
    vec![(&test.page.id).into(), GridCell::setting(&step.sessions.to_string())]
}

fn all_steps<'t>(
    tests: &'t [&SuiteTestResult],
) -> impl Iterator<Item = (&'t SuiteTestResult, &'t SuiteTestStep)> {
    tests.iter().flat_map(|test| test.steps.iter().map(move |step| (*test, step)))
}

fn step_table(tests: &[&SuiteTestResult], columns: &[StepColumn]) -> Grid {
    let is_known = |name: &str| all_steps(tests).any(|(_, step)| step.figures.contains_key(name));
    let shown: Vec<&StepColumn> = columns.iter().filter(|column| is_known(column.name)).collect();
    let mut heads = step_heads();
    heads.extend([
        GridHead::figures("threads", "").short("", "#T"),
        GridHead::figures("runs", "").only_in_workbook(),
        GridHead::figures("key figure", "").only_in_workbook(),
        GridHead::text("unit").only_in_workbook(),
    ]);
    heads.extend(shown.iter().map(|column| column.head()));
    heads.push(GridHead::figures("elapsed", "s"));
    let mut grid = Grid::new(heads);
    for (test, step) in all_steps(tests) {
        let key = step.key.map(|key| (key, test.page.words(key)));
        let mut cells = step_cells(test, step);
        cells.extend([
            GridCell::setting(&test.page.threads.to_string()),
            GridCell::count(step.runs.len() as u64),
            key.map_or_else(GridCell::absent, |(value, words)| key_figure(value, words)),
            test.page.words(0.0).1.into(),
        ]);
        cells.extend(shown.iter().map(|column| value(step, column.name)));
        cells.push(GridCell::fixed(step.elapsed_s, 1));
        grid.row(cells);
    }
    grid
}

fn value(step: &SuiteTestStep, name: &str) -> GridCell {
    let value = step.figures.get(name).copied();
    let cell = if name.ends_with("_us") { GridCell::time_us(value) } else { GridCell::figure(value) };
    cell.marked(step.marked.iter().any(|marked| marked == name))
}

/// Cost of one operation, by the names of the analysis.
const COSTS: [StepColumn; 9] = [
    StepColumn::of("database", "CPU µs", "database_cpu_us"),
    StepColumn::of("client", "CPU µs", "client_cpu_us"),
    StepColumn::of("logical reads", "blocks", "logical_reads"),
    StepColumn::of("physical reads", "blocks", "physical_reads"),
    StepColumn::of("read requests", "", "read_requests"),
    StepColumn::of("write requests", "", "write_requests"),
    StepColumn::of("redo", "bytes", "redo_bytes"),
    StepColumn::of("context switches", "", "context_switches"),
    StepColumn::of("logical reads", "/CPU s", "logical_reads_per_cpu_s"),
];

/// Cost of one operation of these tests at each of their steps.
pub(crate) fn costs(tests: &[&SuiteTestResult]) -> Grid {
    cost_table(tests, &COSTS)
}

fn cost_table(tests: &[&SuiteTestResult], columns: &[StepColumn]) -> Grid {
    let is_known = |name: &str| all_steps(tests).any(|(_, step)| step.costs.contains_key(name));
    let shown: Vec<&StepColumn> = columns.iter().filter(|column| is_known(column.name)).collect();
    let mut heads = step_heads();
    heads.extend(shown.iter().map(|column| column.head()));
    let mut grid = Grid::new(heads);
    for (test, step) in all_steps(tests) {
        let mut cells = step_cells(test, step);
        let figure = |name| GridCell::figure(step.costs.get(name).copied());
        cells.extend(shown.iter().map(|column| figure(column.name)));
        grid.row(cells);
    }
    grid
}

/// The top timed events of a step.
pub(crate) fn events(step: &SuiteTestStep) -> Grid {
    let mut grid = Grid::new(vec![
        GridHead::text("event"),
        GridHead::text("class"),
        GridHead::figures("sessions", "on average"),
        GridHead::figures("share", "% of samples"),
    ]);
    for wait in &step.events {
        let figures = [GridCell::figure(wait.average_sessions), GridCell::fixed(wait.share_pct, 1)];
        grid.row([(&wait.event).into(), (&wait.class).into()].into_iter().chain(figures));
    }
    grid
}

/// The table of these columns, split into as many parts as the terminal needs: figures are never shortened.
fn split_to_fit(
    test: &SuiteTestResult,
    columns: &[StepColumn],
    grid: fn(&[&SuiteTestResult], &[StepColumn]) -> Grid,
    style: &Style,
) -> Vec<Grid> {
    let (mut tables, mut first) = (Vec::new(), 0);
    while first < columns.len() {
        let fits = |end: &usize| grid(&[test], &columns[first..*end]).fits(style);
        let end = (first + 1..=columns.len()).take_while(fits).last().unwrap_or(first + 1);
        tables.push(grid(&[test], &columns[first..end]));
        first = end;
    }
    tables
}

/// All steps of all tests for a terminal.
pub fn suite_steps(suite: &SuiteResult, style: &Style) -> String {
    let mut out = String::new();
    for test in suite.tests.iter().filter(|test| !test.steps.is_empty()) {
        let head = format!("{}: {}", test.page.id, test.page.title);
        out.push_str(&format!("\n{}\n", style.paint(Paint::Head, &clean(&head))));
        for line in wrap(&clean(&format!("It stresses {}.", test.page.stresses)), style.columns(), NOTE_LINES)
        {
            out.push_str(&format!("{line}\n"));
        }
        for table in split_to_fit(test, &COLUMNS, step_table, style) {
            out.push_str(&table.render(style));
        }
        out.push_str("an operation costs\n");
        for table in split_to_fit(test, &COSTS, cost_table, style) {
            out.push_str(&table.render(style));
        }
        if let Some(last) = test.steps.iter().rev().find(|step| !step.events.is_empty()) {
            out.push_str(&format!(
                "top timed events with {}\n",
                dyno_analyze::number::sessions(f64::from(last.sessions))
            ));
            out.push_str(&events(last).render(style));
        }
        if let Some(limit) = &test.limit {
            for line in wrap(&clean(&limit.full()), style.columns(), NOTE_LINES) {
                out.push_str(&format!("{line}\n"));
            }
        }
    }
    out
}
