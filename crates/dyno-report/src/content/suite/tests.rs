//! Tests of a suite's tables, charts and sheets.

use std::collections::BTreeMap;

use dyno_analyze::conclusion::suite::{
    SuiteRampPoint, SuiteResult, SuiteTestInfo, SuiteTestResult, SuiteTestStep,
};

use super::*;
use crate::model::table::GridCell;
use crate::style::Style;
use crate::text::width;

fn test(id: &str, group: &str, unit: &str, value: f64, spread_pct: Option<f64>) -> SuiteTestResult {
    let page = SuiteTestInfo {
        id: id.into(),
        group: group.into(),
        title: "A test".into(),
        stresses: "something".into(),
        unit: unit.into(),
        units: 1,
        metric: None,
        limit: "p95 <= 100ms".into(),
        cache: None,
        raw: None,
        threads: 1,
        least: None,
        nodes: None,
        why_not: None,
        failed: None,
    };
    let figures =
        ["cpu_busy_pct", "ops_per_s", "service_p99_us", "logical_reads_per_s", "redo_mb_per_s", "rows_per_s"]
            .map(|name| (name.to_owned(), 1_234_567.0));
    let step = |sessions: u32| SuiteTestStep {
        sessions,
        runs: vec!["a".into()],
        key: Some(value * f64::from(sessions)),
        figures: BTreeMap::from(figures.clone()),
        costs: BTreeMap::from(
            ["database_cpu_us", "client_cpu_us", "logical_reads", "redo_bytes", "logical_reads_per_cpu_s"]
                .map(|name| (name.to_owned(), 1_234_567.0)),
        ),
        elapsed_s: 5.0,
        events: Vec::new(),
        marked: Vec::new(),
    };
    let most = SuiteRampPoint { sessions: 2, value: value * 2.0, spread_pct, range: None };
    SuiteTestResult {
        page,
        steps: vec![step(1), step(2)],
        single_us: Some(1_234.0),
        most: Some(most),
        optimum: Some(most),
        knee: Some(most),
        limited_by: Some("storage latency?".into()),
        limit: None,
        saturated: Some(false),
        left_out: Vec::new(),
        of_raw: None,
        unfit: None,
        notes: Vec::new(),
    }
}

pub(crate) fn suite() -> SuiteResult {
    let mut cached = test("storage-random-read-many", "storage", "blocks", 5_000.0, None);
    cached.unfit = Some("too small to measure: an operation took 5 ms".into());
    SuiteResult {
        depth: "usual".into(),
        tests: vec![
            test("server-lookup", "server", "lookups", 182_765.0, Some(6.0)),
            test("server-range", "server", "rows", 1_000_000.0, None),
            test("server-group", "server", "rows", 10_000.0, None),
            test("storage-redo-bandwidth", "storage", "blocks", 123_456.0, None),
            cached,
        ],
    }
}

fn lines(columns: usize) -> String {
    let style = Style { width: columns, ..Style::default() };
    text(&suite(), &style) + &suite_steps(&suite(), &style)
}

#[test]
fn suite_table_fits_80_columns_with_figure_and_unit() {
    let narrow = lines(80);
    for line in narrow.lines() {
        assert!(width(line) <= 80, "{line}");
    }
    assert!(narrow.contains("Server, with its data in the cache"));
    assert!(narrow.contains("lookups/s"));
    assert!(narrow.contains("storage latency?"));
    assert!(narrow.contains("A wider terminal shows more"));
    let wide = lines(160);
    assert!(wide.contains("knee"));
    assert!(!wide.contains("A wider terminal"));
}

#[test]
fn test_catalog_is_untruncated_in_80_columns() {
    let mut suite = suite();
    suite.tests[1].page.why_not =
        Some("the engine has no such thing, and this reason is longer than one line of a terminal".into());
    let pages: Vec<&SuiteTestInfo> = suite.tests.iter().map(|test| &test.page).collect();
    let listed = suite_list(&pages, &Style { width: 80, ..Style::default() });
    assert!(listed.lines().all(|line| width(line) <= 80), "{listed}");
    assert!(listed.contains("server-lookup: A test (lookups/s, p95 <= 100ms)\n    something\n"), "{listed}");
    let words = listed.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("not applicable: the engine has no such thing, and this reason is longer than one line of a terminal"), "{words}");
    assert!(!listed.contains('…'), "{listed}");
}

#[test]
fn headline_digits_are_limited_by_spread() {
    let shown = overview(&suite());
    let most = |id: &str| {
        let row = shown.rows.iter().find(|(_, cells)| cells[0].text == id).unwrap();
        row.1[1].text.clone()
    };
    assert_eq!(most("server-lookup"), "370,000", "365,530 with 6 % between its runs");
    assert_eq!(most("storage-redo-bandwidth"), "247,000", "a single run");
    assert_eq!(most("storage-random-read-many"), "unknown");
}

#[test]
fn each_chart_of_a_suite_has_one_group_and_one_unit() {
    let charts = all_charts(&suite());
    let titles: Vec<(String, usize)> =
        charts.iter().map(|chart| (chart.title.clone(), chart.series.len())).collect();
    let expected = [
        ("Server, with its data in the cache: lookups/s", 1),
        ("Server, with its data in the cache: rows/s", 2),
        ("Storage: blocks/s", 1),
    ];
    assert_eq!(
        titles,
        expected.map(|(title, series)| (title.to_owned(), series)),
        "a test without a figure is in none"
    );
}

#[test]
fn workbook_has_unrounded_figures_and_one_row_per_step() {
    let mut suite = suite();
    suite.tests[0].steps[0].marked = vec!["ops_per_s".into()];
    let tests = overview(&suite);
    let column = |name: &str| tests.heads.iter().position(|head| head.label == name).unwrap();
    let cell = |id: &str, name: &str| {
        let row = tests.rows.iter().find(|(_, cells)| cells[0].text == id).unwrap();
        row.1[column(name)].clone()
    };
    assert_eq!(cell("server-lookup", "most").number.unwrap().value, 365_530.0);
    assert_eq!(cell("storage-random-read-many", "optimum"), GridCell::default());
    assert!(cell("storage-random-read-many", "no figure because").text.starts_with("too small"));
    let all: Vec<&SuiteTestResult> = suite.tests.iter().collect();
    let steps = steps(&all);
    assert_eq!(steps.rows.len(), 10);
    let is_marked = |cell: &GridCell| cell.number.as_ref().is_some_and(|number| number.marked);
    assert_eq!(steps.rows.iter().flat_map(|(_, cells)| cells).filter(|cell| is_marked(cell)).count(), 1);
    for grid in [steps, costs(&all), tests] {
        let is_whole = |cells: &[GridCell]| grid.is_title(cells) || cells.len() == grid.heads.len();
        assert!(grid.rows.iter().all(|(_, cells)| is_whole(cells)));
    }
}

#[test]
fn suite_tiles_say_what_a_reader_needs_first() {
    let mut suite = suite();
    let named = |label: &str, suite: &SuiteResult| {
        let tile = suite_tiles(suite).into_iter().find(|tile| tile.label == label);
        tile.map(|tile| (tile.value.text, tile.note)).unwrap_or_default()
    };
    let all = suite.tests.len();
    let unfit = suite.tests.iter().position(|test| test.unfit.is_none() && test.most.is_some()).unwrap();
    let (before, _) = named("tests with a result", &suite);
    suite.tests[unfit].unfit = Some("a cache answered".into());
    let (after, note) = named("tests with a result", &suite);
    assert_ne!(before, after);
    assert!(after.ends_with(&format!(" of {all}")), "{after}");
    assert!(note.contains(&suite.tests[unfit].page.id), "{note}");
    assert_eq!(named("limit", &suite).0, "storage latency");
    assert!(named("repeats agree", &suite).1.contains("still rose"), "{:?}", named("repeats agree", &suite));
}
