//! A suite as sheets of a workbook: each test with full figures, and each of its steps.

use dyno_analyze::conclusion::suite::{FIGURES, SuiteRampPoint, SuiteResult, SuiteTestResult};

use crate::grid::{Grid, GridCell, GridHead};

/// The sheets with their names.
pub(crate) fn sheets(suite: &SuiteResult) -> Vec<(&'static str, Grid)> {
    vec![("Suite", tests(suite)), ("Suite steps", steps(suite))]
}

/// A figure with all digits, for a workbook.
fn full(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// The key figure; empty for a test without one.
fn key(test: &SuiteTestResult, at: Option<SuiteRampPoint>) -> String {
    full(at.filter(|_| test.unfit.is_none()).map(|at| at.value))
}

fn tests(suite: &SuiteResult) -> Grid {
    let texts = |names: &[&str]| names.iter().map(|name| GridHead::text(name)).collect::<Vec<_>>();
    let figures = |all: &[(&str, &str)]| {
        all.iter().map(|(name, unit)| GridHead::figures(name, unit)).collect::<Vec<_>>()
    };
    let mut heads = texts(&["test", "group", "what it is", "unit"]);
    heads.extend(figures(&[
        ("most", ""),
        ("spread", "%"),
        ("least run", ""),
        ("largest run", ""),
        ("sessions", ""),
    ]));
    heads.extend(texts(&["limit"]));
    heads.extend(figures(&[
        ("optimum", ""),
        ("sessions at the optimum", ""),
        ("alone", "µs"),
        ("knee", "sessions"),
        ("of raw", "%"),
    ]));
    heads.extend(texts(&["limited by", "no figure because"]));
    let mut grid = Grid::new(heads);
    for test in &suite.tests {
        let page = &test.page;
        let figure = test.most.filter(|_| test.unfit.is_none());
        let sessions = |at: Option<SuiteRampPoint>| at.map_or_else(String::new, |at| at.sessions.to_string());
        let range = figure.and_then(|most| most.range);
        let why = [&test.unfit, &page.why_not, &page.failed].into_iter().flatten().next().cloned();
        let cells = [
            page.id.clone(),
            page.group.clone(),
            page.title.clone(),
            page.words(0.0).1,
            key(test, test.most),
            full(figure.and_then(|most| most.spread_pct)),
            full(range.map(|range| range.0)),
            full(range.map(|range| range.1)),
            sessions(figure),
            page.limit.clone(),
            key(test, test.optimum),
            sessions(test.optimum.filter(|_| figure.is_some())),
            full(test.single_us),
            sessions(test.knee.filter(|_| figure.is_some())),
            full(test.of_raw.as_ref().map(|share| share.share_pct)),
            test.limited_by.clone().unwrap_or_default(),
            why.unwrap_or_default(),
        ];
        grid.row(cells.iter().map(|text| GridCell::text(text)).collect());
    }
    grid
}

fn steps(suite: &SuiteResult) -> Grid {
    let mut heads = vec![GridHead::text("test"), GridHead::text("unit of the key figure")];
    heads.extend(["sessions", "runs", "key figure"].map(|name| GridHead::figures(name, "")));
    heads.push(GridHead::figures("elapsed", "s"));
    heads.extend(FIGURES.map(|name| GridHead::figures(name, "")));
    let mut grid = Grid::new(heads);
    for test in &suite.tests {
        for step in &test.steps {
            let mut cells = vec![
                test.page.id.clone(),
                test.page.words(0.0).1,
                step.sessions.to_string(),
                step.runs.len().to_string(),
                full(step.key),
                step.elapsed_s.to_string(),
            ];
            cells.extend(FIGURES.map(|name| full(step.figures.get(name).copied())));
            grid.row(cells.iter().map(|text| GridCell::text(text)).collect());
        }
    }
    grid
}
