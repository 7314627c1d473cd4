//! Tables of all steps of all tests.

use dyno_analyze::conclusion::suite::{SuiteResult, SuiteTestResult, SuiteTestStep};

use crate::model::table::{Grid, GridCell, GridHead};
use crate::style::{Paint, Style};
use crate::text::{clean, wrap};

/// Maximum lines of a note.
const NOTE_LINES: usize = 6;

/// A column of the steps: head, unit, and metric.
type StepColumn = (&'static str, &'static str, &'static str);

/// Columns of measured figures, in the layout of the platform tests on which this is modeled.
const COLUMNS: [StepColumn; 20] = [
    ("CPU busy", "%", "cpu_busy_pct"),
    ("user", "%", "cpu_user_pct"),
    ("sys", "%", "cpu_sys_pct"),
    ("idle", "%", "cpu_idle_pct"),
    ("rows", "/s", "rows_per_s"),
    ("transactions", "/s", "ops_per_s"),
    ("service", "", "service_mean_us"),
    ("p95", "", "service_p95_us"),
    ("p99", "", "service_p99_us"),
    ("logical reads", "/s", "logical_reads_per_s"),
    ("cache", "% hit", "buffer_hit_pct"),
    ("physical reads", "blocks/s", "physical_reads_per_s"),
    ("reads", "IOPS", "physical_read_requests_per_s"),
    ("read", "MB/s", "physical_read_mb_per_s"),
    ("writes", "IOPS", "physical_write_requests_per_s"),
    ("written", "blocks/s", "physical_writes_per_s"),
    ("written", "MB/s", "physical_write_mb_per_s"),
    ("device", "% busy", "device_util_pct"),
    ("redo", "IOPS", "redo_writes_per_s"),
    ("redo", "MB/s", "redo_mb_per_s"),
];

/// The steps of one test, one per line; a figure that no step has gets no column.
pub(crate) fn steps(test: &SuiteTestResult) -> Grid {
    part(test, &COLUMNS)
}

fn part(test: &SuiteTestResult, columns: &[StepColumn]) -> Grid {
    let shown: Vec<&StepColumn> = columns
        .iter()
        .filter(|(_, _, name)| test.steps.iter().any(|step| step.figures.contains_key(*name)))
        .collect();
    let mut heads = vec![GridHead::figures("#J", ""), GridHead::figures("#T", "")];
    heads.extend(shown.iter().map(|(label, unit, _)| GridHead::figures(label, unit)));
    heads.push(GridHead::figures("elapsed", "s"));
    let mut grid = Grid::new(heads);
    for step in &test.steps {
        let mut cells = vec![
            GridCell::setting(&step.sessions.to_string()),
            GridCell::setting(&test.page.threads.to_string()),
        ];
        cells.extend(shown.iter().map(|(_, _, name)| value(step, name)));
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
    ("database", "CPU µs", "database_cpu_us"),
    ("client", "CPU µs", "client_cpu_us"),
    ("logical reads", "blocks", "logical_reads"),
    ("physical reads", "blocks", "physical_reads"),
    ("read requests", "", "read_requests"),
    ("write requests", "", "write_requests"),
    ("redo", "bytes", "redo_bytes"),
    ("context switches", "", "context_switches"),
    ("logical reads", "/CPU s", "logical_reads_per_cpu_s"),
];

/// Cost of one operation of a test at each of its steps.
pub(crate) fn costs(test: &SuiteTestResult) -> Grid {
    cost_part(test, &COSTS)
}

fn cost_part(test: &SuiteTestResult, columns: &[StepColumn]) -> Grid {
    let shown: Vec<&StepColumn> = columns
        .iter()
        .filter(|(_, _, name)| test.steps.iter().any(|step| step.costs.contains_key(*name)))
        .collect();
    let mut heads = vec![GridHead::figures("#J", "")];
    heads.extend(shown.iter().map(|(label, unit, _)| GridHead::figures(label, unit)));
    let mut grid = Grid::new(heads);
    for step in &test.steps {
        let mut cells = vec![GridCell::setting(&step.sessions.to_string())];
        cells.extend(shown.iter().map(|(_, _, name)| GridCell::figure(step.costs.get(*name).copied())));
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
    grid: fn(&SuiteTestResult, &[StepColumn]) -> Grid,
    style: &Style,
) -> Vec<Grid> {
    let (mut tables, mut first) = (Vec::new(), 0);
    while first < columns.len() {
        let fits = |end: &usize| grid(test, &columns[first..*end]).fits(style);
        let end = (first + 1..=columns.len()).take_while(fits).last().unwrap_or(first + 1);
        tables.push(grid(test, &columns[first..end]));
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
        for table in split_to_fit(test, &COLUMNS, part, style) {
            out.push_str(&table.render(style));
        }
        out.push_str("an operation costs\n");
        for table in split_to_fit(test, &COSTS, cost_part, style) {
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
