//! A suite of tests as tables: one line for each test, and the steps of each.

use dyno_analyze::conclusion::suite::{At, OfRaw, Page, Step, Suite, Tested};
use dyno_analyze::number::{ABSENT, figure, fixed, optional, percent, time_us};

use crate::grid::{Cell, Grid, Head};
use crate::style::{Paint, Style};
use crate::table::Table;
use crate::text::{clean, wrap};

/// Lines of a note at most.
const NOTE_LINES: usize = 6;

/// One line for each test: the most, where latency is kept, and where it bends.
pub(crate) fn overview(suite: &Suite) -> Grid {
    let mut grid = Grid::new(vec![
        Head::tight("test"),
        Head::figures("most", "").explained("the most that was reached of the test's key figure"),
        Head::tight("unit"),
        Head::figures("#J", "").explained("sessions at the most"),
        Head::figures("±", "%").explained("how far the runs there lie apart"),
        Head::figures("alone", "").explained("mean service time of a single session"),
        Head::figures("optimum", "").explained("the most within the test's limit of latency"),
        Head::figures("#J", "").explained("sessions at the optimum"),
        Head::tight("limit").explained("the limit of latency that the optimum keeps"),
        Head::figures("knee", "#J").explained("sessions from which on more pay less (Kneedle)"),
        Head::text("limited by").explained(
            "what was used up at the most; with a question mark where that is likely and not sure",
        ),
    ]);
    let has_raw = suite.tests.iter().any(|test| test.of_raw.is_some());
    if has_raw {
        let explained = "the most as a share of what the machine gives without a database (dyno calibrate); with ! where that is more \
            than it gives, so that a cache answered or commits shared syncs";
        grid.heads.insert(10, Head::figures("of raw", "%").explained(explained));
    }
    let mut group = "";
    for (test, most) in suite.tests.iter().filter_map(|test| Some((test, test.most?))) {
        if test.page.group != group {
            group = &test.page.group;
            grid.row(vec![Cell::text(group)]);
        }
        let mut cells = line(test, most);
        if has_raw {
            cells.insert(10, Cell::text(&test.of_raw.as_ref().map_or_else(String::new, of_raw)));
        }
        grid.row(cells);
    }
    grid
}

/// What more targets do beside one, a line for each test; nothing where there is one target.
pub(crate) fn scale_out(suite: &Suite) -> Option<Grid> {
    let scaled = suite.scaled();
    if scaled.is_empty() {
        return None;
    }
    let mut grid = Grid::new(vec![
        Head::tight("test"),
        Head::figures("targets", ""),
        Head::figures("most", ""),
        Head::tight("unit"),
        Head::figures("of one", "×").explained("how many times what one target does"),
        Head::figures("range", "×").explained("the same at least and at most, by all runs of both"),
        Head::figures("of linear", "%").explained("as a share of so many times one target"),
    ]);
    for test in &scaled {
        for (at, on) in test.on.iter().enumerate() {
            let range = |(least, most)| format!("{} to {}", fixed(least, 2), fixed(most, 2));
            let texts = [
                if at == 0 { test.test.clone() } else { String::new() },
                on.nodes.to_string(),
                on.shown.clone(),
                test.unit.clone(),
                fixed(on.times, 2),
                on.range.filter(|_| at > 0).map_or_else(String::new, range),
                percent(on.of_linear_pct()),
            ];
            grid.row(texts.iter().map(|text| Cell::text(text)).collect());
        }
    }
    Some(grid)
}

fn of_raw(share: &OfRaw) -> String {
    format!("{}{}", percent(share.share_pct), if share.is_more() { "!" } else { "" })
}

fn line(test: &Tested, most: At) -> Vec<Cell> {
    let page = &test.page;
    let (shown, unit) = page.words(most.value);
    // What a cache has answered is no figure of storage: the steps have it, the answer has not.
    if test.unfit.is_some() {
        let mut cells: Vec<Cell> = [&*page.id, "not known", &unit].into_iter().map(Cell::text).collect();
        cells[0].link = format!("test-{}", crate::markup::slug(&page.id));
        cells.resize_with(10, Cell::default);
        cells.push(Cell::text("the cache"));
        return cells;
    }
    let sessions = |at: Option<At>| at.map_or_else(String::new, |at| at.sessions.to_string());
    let texts = [
        page.id.clone(),
        shown,
        unit,
        most.sessions.to_string(),
        most.spread_pct.map_or_else(String::new, |pct| fixed(pct, 1)),
        test.single_us.map_or_else(|| ABSENT.to_owned(), time_us),
        test.optimum.map_or_else(|| "none".to_owned(), |at| page.words(at.value).0),
        sessions(test.optimum),
        page.limit.replace(" <= ", " "),
        sessions(test.knee),
        test.limited_by.clone().unwrap_or_default(),
    ];
    let mut cells: Vec<Cell> = texts.iter().map(|text| Cell::text(text)).collect();
    cells[0].link = format!("test-{}", crate::markup::slug(&page.id));
    cells
}

/// What one column of the steps shows: its head, unit, and how to get it.
type Shown = (&'static str, &'static str, &'static str);

/// Columns of measured figures, as the tables of the platform tests that this is made after print them.
const COLUMNS: [Shown; 20] = [
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

/// Where a terminal, which is narrower than a page, begins another table.
const PARTS: [std::ops::Range<usize>; 3] = [0..9, 9..14, 14..20];

/// The steps of one test, a line each; figures that no step has have no column.
pub(crate) fn steps(test: &Tested) -> Grid {
    part(test, &COLUMNS)
}

fn part(test: &Tested, columns: &[Shown]) -> Grid {
    let known: Vec<&Shown> = columns
        .iter()
        .filter(|(_, _, name)| test.steps.iter().any(|step| step.figures.contains_key(*name)))
        .collect();
    let mut heads = vec![Head::figures("#J", ""), Head::figures("#T", "")];
    heads.extend(known.iter().map(|(label, unit, _)| Head::figures(label, unit)));
    heads.push(Head::figures("elapsed", "s"));
    let mut grid = Grid::new(heads);
    for step in &test.steps {
        let mut cells = vec![step.sessions.to_string(), test.page.threads.to_string()];
        cells.extend(known.iter().map(|(_, _, name)| value(step, name)));
        cells.push(fixed(step.elapsed_s, 1));
        grid.row(cells.iter().map(|text| Cell::text(text)).collect());
    }
    grid
}

fn value(step: &Step, name: &str) -> String {
    let Some(value) = step.figures.get(name).copied() else { return ABSENT.to_owned() };
    let text = if name.ends_with("_us") { time_us(value) } else { figure(value) };
    dyno_analyze::whose::mark(text, step.marked.iter().any(|marked| marked == name))
}

/// What one operation costs, by the names of the analysis.
const COSTS: [Shown; 9] = [
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

/// What one operation of a test costs at each of its steps.
pub(crate) fn costs(test: &Tested) -> Grid {
    let known: Vec<&Shown> = COSTS
        .iter()
        .filter(|(_, _, name)| test.steps.iter().any(|step| step.costs.contains_key(*name)))
        .collect();
    let mut heads = vec![Head::figures("#J", "")];
    heads.extend(known.iter().map(|(label, unit, _)| Head::figures(label, unit)));
    let mut grid = Grid::new(heads);
    for step in &test.steps {
        let mut cells = vec![step.sessions.to_string()];
        cells.extend(known.iter().map(|(_, _, name)| optional(step.costs.get(*name).copied())));
        grid.row(cells.iter().map(|text| Cell::text(text)).collect());
    }
    grid
}

/// The top timed events of a step.
pub(crate) fn events(step: &Step) -> Grid {
    let mut grid = Grid::new(vec![
        Head::text("event"),
        Head::text("class"),
        Head::figures("sessions", "on average"),
        Head::figures("share", "% of DB time"),
    ]);
    for wait in &step.events {
        let texts =
            [wait.event.clone(), wait.class.clone(), figure(wait.average_sessions), fixed(wait.share_pct, 1)];
        grid.row(texts.iter().map(|text| Cell::text(text)).collect());
    }
    grid
}

/// The whole suite for a terminal: the line of each test.
pub(crate) fn text(suite: &Suite, style: &Style) -> String {
    let mut out = Table::from(&overview(suite)).render(style);
    if let Some(grid) = scale_out(suite) {
        out.push_str(&format!("{}\n", style.paint(Paint::Head, "more targets beside one")));
        out.push_str(&Table::from(&grid).render(style));
    }
    if suite.depth == "quick" {
        let note = "a quick look has fixed steps: whether more sessions would bring more was not tried";
        out.push_str(&format!("{note}\n"));
    }
    out
}

/// The tests of a catalogue.
pub fn suite_list(pages: &[&Page], style: &Style) -> String {
    let mut grid = Grid::new(vec![
        Head::tight("test"),
        Head::text("what it is"),
        Head::text("it stresses"),
        Head::text("unit"),
        Head::text("optimum"),
    ]);
    let mut group = "";
    for page in pages {
        if page.group != group {
            group = &page.group;
            grid.row(vec![Cell::text(group)]);
        }
        let stresses = page
            .why_not
            .as_ref()
            .map_or_else(|| page.stresses.clone(), |why| format!("not applicable: {why}"));
        let texts = [&page.id, &page.title, &stresses, &page.unit, &page.limit];
        grid.row(texts.iter().map(|text| Cell::text(text)).collect());
    }
    Table::from(&grid).render(style)
}

/// Every step of every test for a terminal.
pub fn suite_steps(suite: &Suite, style: &Style) -> String {
    let mut out = String::new();
    for test in suite.tests.iter().filter(|test| !test.steps.is_empty()) {
        let head = format!("{}: {}", test.page.id, test.page.title);
        out.push_str(&format!("\n{}\n", style.paint(Paint::Head, &clean(&head))));
        for line in wrap(&clean(&format!("It stresses {}.", test.page.stresses)), style.columns(), NOTE_LINES)
        {
            out.push_str(&format!("{line}\n"));
        }
        for columns in PARTS {
            out.push_str(&Table::from(&part(test, &COLUMNS[columns])).render(style));
        }
        out.push_str("an operation costs\n");
        out.push_str(&Table::from(&costs(test)).render(style));
        if let Some(last) = test.steps.iter().rev().find(|step| !step.events.is_empty()) {
            out.push_str(&format!(
                "top timed events with {}\n",
                dyno_analyze::number::sessions(f64::from(last.sessions))
            ));
            out.push_str(&Table::from(&events(last)).render(style));
        }
        if let Some(limit) = &test.limit {
            for line in wrap(&clean(&limit.full()), style.columns(), NOTE_LINES) {
                out.push_str(&format!("{line}\n"));
            }
        }
    }
    out
}
