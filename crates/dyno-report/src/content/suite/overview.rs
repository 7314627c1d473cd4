//! One table per group: figure, unit, spread and limit of each test.

use std::collections::BTreeSet;

use dyno_analyze::conclusion::suite::{RawShare, SuiteRampPoint, SuiteResult, SuiteTestResult};

use crate::model::table::{Grid, GridCell, GridHead};
use crate::style::{Paint, Style};

use super::scale_out::scale_out;

/// Titles of the catalog's groups.
const TITLES: [(&str, &str); 6] = [
    ("cpu", "Processor"),
    ("server", "Server, with its data in the cache"),
    ("storage", "Storage"),
    ("oltp", "Transactions"),
    ("load", "Loading"),
    ("analytics", "Analytics"),
];

/// The title of a group; for a user's own group, its name.
pub(super) fn title(group: &str) -> &str {
    TITLES.iter().find(|(name, _)| *name == group).map_or(group, |(_, title)| title)
}

/// The executed tests of one group, in order.
pub(crate) struct SuiteGroup<'s> {
    /// Name of the group in test pages: `cpu`.
    pub(crate) name: &'s str,
    /// Its tests, each with a figure or a reason why there is none.
    pub(crate) tests: Vec<&'s SuiteTestResult>,
}

impl SuiteGroup<'_> {
    /// Title as shown in tables and pages.
    pub(crate) fn title(&self) -> &str {
        title(self.name)
    }
}

/// The groups of a suite that have tests with steps, in order.
pub(crate) fn groups(suite: &SuiteResult) -> Vec<SuiteGroup<'_>> {
    let mut groups: Vec<SuiteGroup<'_>> = Vec::new();
    for test in suite.tests.iter().filter(|test| test.most.is_some()) {
        match groups.iter_mut().find(|group| group.name == test.page.group) {
            Some(group) => group.tests.push(test),
            None => groups.push(SuiteGroup { name: &test.page.group, tests: vec![test] }),
        }
    }
    groups
}

/// A column: its head and its cell.
type OverviewColumn = (GridHead, fn(&SuiteTestResult, SuiteRampPoint) -> GridCell);

/// The columns that these tests need.
fn columns(tests: &[&SuiteTestResult]) -> Vec<OverviewColumn> {
    let has_spread = tests.iter().any(|test| test.most.is_some_and(|most| most.spread_pct.is_some()));
    let has_raw = tests.iter().any(|test| test.of_raw.is_some());
    let mut all: Vec<OverviewColumn> = vec![
        (GridHead::tight("test"), |test, _| (&test.page.id).into()),
        (GridHead::figures("most", "").explained("highest value of the test's key figure"), |test, most| {
            key(test, most)
        }),
        (GridHead::tight("unit"), |test, most| most.words(&test.page).1.into()),
    ];
    if has_spread {
        let head = GridHead::figures("±", "%").explained("spread of the runs at that load");
        all.push((head, |_, most| GridCell::fixed(most.spread_pct, 1).or_empty()));
    }
    let range = ["least run", "largest run"].map(|name| GridHead::figures(name, "").only_in_workbook());
    let cells: [fn(&SuiteTestResult, SuiteRampPoint) -> GridCell; 2] = [
        |test, most| edge(test, most.range.map(|(least, _)| least)),
        |test, most| edge(test, most.range.map(|(_, largest)| largest)),
    ];
    all.extend(range.into_iter().zip(cells));
    let head = GridHead::figures("sessions", "").short("", "#J").explained("sessions at the highest value");
    all.push((head, |_, most| sessions(Some(most))));
    all.push((
        GridHead::figures("alone", "").explained("mean service time of a single session").spare(3),
        |test, _| GridCell::time_us(test.single_us),
    ));
    all.push((GridHead::tight("limit").explained("the latency limit of the optimum").spare(2), |test, _| {
        test.page.limit.replace(" <= ", " ").into()
    }));
    all.push((
        GridHead::figures("optimum", "").explained("highest value within the test's latency limit").spare(4),
        |test, _| test.optimum.map_or_else(|| "none".into(), |at| key(test, at)),
    ));
    let head = GridHead::figures("at sessions", "").short("", "#J").explained("sessions at the optimum");
    all.push((head.spare(4), |test, _| sessions(test.optimum)));
    if tests.iter().any(|test| test.knee.is_some()) {
        let head = GridHead::figures("knee", "sessions")
            .explained("sessions from which more add less throughput (Kneedle)");
        all.push((head.spare(5), |test, _| sessions(test.knee)));
    }
    if has_raw {
        let explained = "highest value as a share of the machine's limit without a database (dyno \
            calibrate); ! means more than that limit: a cache answered, or commits shared syncs";
        all.push((GridHead::figures("of raw", "%").explained(explained).spare(1), |test, _| {
            test.of_raw.as_ref().map_or_else(GridCell::default, of_raw)
        }));
    }
    let explained = "what was used up at the highest value; a question mark means likely, but not certain";
    all.push((GridHead::text("limited by").explained(explained), |test, _| {
        test.limited_by.as_deref().unwrap_or_default().into()
    }));
    all.push((GridHead::text("no figure because").only_in_workbook(), |test, _| {
        test.unfit.as_deref().unwrap_or_default().into()
    }));
    all.push((GridHead::text("what it is").only_in_workbook(), |test, _| (&test.page.title).into()));
    all
}

/// The key figure of a test: its unit stands in a column of its own, but for times.
pub(super) fn key_figure(value: f64, (text, unit): (String, String)) -> GridCell {
    let cell = GridCell::shown(value, |_| text);
    if unit.is_empty() { cell.with_own_unit("µs") } else { cell }
}

fn edge(test: &SuiteTestResult, value: Option<f64>) -> GridCell {
    value.map_or_else(GridCell::default, |value| key_figure(value, test.page.words(value)))
}

/// The key figure of a test at one load.
fn key(test: &SuiteTestResult, at: SuiteRampPoint) -> GridCell {
    key_figure(at.value, at.words(&test.page))
}

fn sessions(at: Option<SuiteRampPoint>) -> GridCell {
    at.map_or_else(GridCell::default, |at| GridCell::setting(&at.sessions.to_string()))
}

fn of_raw(share: &RawShare) -> GridCell {
    GridCell::percent(share.share_pct).followed_by(if share.exceeds_limit() { "!" } else { "" })
}

/// The table of one group.
pub(crate) fn group_grid(group: &SuiteGroup<'_>) -> Grid {
    let columns = columns(&group.tests);
    let mut grid = Grid::new(columns.iter().map(|(head, _)| head.clone()).collect());
    rows(&mut grid, &columns, &group.tests);
    grid
}

/// All groups in one table.
pub(crate) fn overview(suite: &SuiteResult) -> Grid {
    let groups = groups(suite);
    let all: Vec<&SuiteTestResult> = groups.iter().flat_map(|group| group.tests.iter().copied()).collect();
    let columns = columns(&all);
    let mut grid = Grid::new(columns.iter().map(|(head, _)| head.clone()).collect());
    for group in &groups {
        grid.row(vec![GridCell::text(group.title())]);
        rows(&mut grid, &columns, &group.tests);
    }
    grid
}

fn rows(grid: &mut Grid, columns: &[OverviewColumn], tests: &[&SuiteTestResult]) {
    for (test, most) in tests.iter().filter_map(|test| Some((*test, test.most?))) {
        // A test without a valid answer shows only its name and the reason, although its steps have figures.
        let shown = |(head, cell): &OverviewColumn| match (test.unfit_word(), head.label.as_str()) {
            (None, _) | (_, "test" | "unit" | "no figure because" | "what it is") => cell(test, most),
            (Some(_), "most") => "unknown".into(),
            (Some(why), "limited by") => why.into(),
            _ => GridCell::default(),
        };
        let mut cells: Vec<GridCell> = columns.iter().map(shown).collect();
        cells[0].link = format!("test-{}", crate::markup::slug(&test.page.id));
        grid.row(cells);
    }
}

/// The whole suite for a terminal: a table for each group.
pub(crate) fn text(suite: &SuiteResult, style: &Style) -> String {
    let mut out = String::new();
    let mut dropped: BTreeSet<&str> = BTreeSet::new();
    let groups = groups(suite);
    for group in &groups {
        out.push_str(&format!("\n{}\n", style.paint(Paint::Head, group.title())));
        let (table, lost) = narrow(group, style);
        out.push_str(&table.render(style));
        dropped.extend(lost);
    }
    if let Some(grid) = scale_out(suite) {
        out.push_str(&format!("\n{}\n", style.paint(Paint::Head, "Several targets compared with one")));
        out.push_str(&grid.render(style));
    }
    out.push('\n');
    let mut say = |note: &str| {
        crate::text::wrap(note, style.columns(), 4)
            .iter()
            .for_each(|line| out.push_str(&format!("{line}\n")));
    };
    say("#J: sessions. limited by: a question mark means likely, but not certain.");
    if !dropped.is_empty() {
        let names: Vec<&str> = dropped.into_iter().collect();
        say(&format!("A wider terminal shows more columns: {}.", names.join(", ")));
    }
    let has_spread = groups
        .iter()
        .flat_map(|group| &group.tests)
        .any(|test| test.most.is_some_and(|most| most.spread_pct.is_some()));
    if !has_spread {
        say("Each step was run once, so no spread is known; --full repeats the steps that count.");
    }
    if suite.depth == "quick" {
        say("Quick mode has fixed steps: higher session counts were not tried.");
    }
    out
}

/// The table of a group within the terminal's width, and the names of dropped columns.
fn narrow(group: &SuiteGroup<'_>, style: &Style) -> (Grid, Vec<&'static str>) {
    let (mut grid, mut lost) = (group_grid(group), Vec::new());
    loop {
        let most = grid.heads.iter().map(|head| head.spare).max().unwrap_or_default();
        if grid.fits(style) || most == 0 {
            return (grid, lost);
        }
        lost.extend(NAMES.iter().filter(|(rank, _)| *rank == most).map(|(_, name)| *name));
        grid = grid.columns(|head| head.spare != most);
    }
}

const NAMES: [(u8, &str); 5] = [(1, "share of raw"), (2, "limit"), (3, "alone"), (4, "optimum"), (5, "knee")];
