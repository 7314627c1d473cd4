//! A suite as sheets of a workbook: each test with full figures, and each of its steps.

use dyno_analyze::conclusion::suite::{FIGURES, SuiteRampPoint, SuiteResult, SuiteTestResult};
use dyno_analyze::points::Measure;

use crate::model::table::{Grid, GridCell, GridHead, unit_name};

/// The sheets with their names.
pub(crate) fn sheets(suite: &SuiteResult) -> Vec<(&'static str, Grid)> {
    vec![("Suite", tests(suite)), ("Suite steps", steps(suite))]
}

/// The key figure with its unit; empty for a test without one.
fn key(test: &SuiteTestResult, at: Option<SuiteRampPoint>) -> GridCell {
    in_key_unit(test, at.filter(|_| test.unfit.is_none()).map(|at| at.value))
}

/// A value of the key figure, whose unit differs from test to test.
fn in_key_unit(test: &SuiteTestResult, value: Option<f64>) -> GridCell {
    GridCell::full(value).with_own_unit(&test.page.words(0.0).1)
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
        let sessions = |at: Option<SuiteRampPoint>| GridCell::full(at.map(|at| at.sessions.into()));
        let range = figure.and_then(|most| most.range);
        let why = [&test.unfit, &page.why_not, &page.failed].into_iter().flatten().next().cloned();
        grid.row(vec![
            (&page.id).into(),
            (&page.group).into(),
            (&page.title).into(),
            page.words(0.0).1.into(),
            key(test, test.most),
            GridCell::full(figure.and_then(|most| most.spread_pct)),
            in_key_unit(test, range.map(|range| range.0)),
            in_key_unit(test, range.map(|range| range.1)),
            sessions(figure),
            (&page.limit).into(),
            key(test, test.optimum),
            sessions(test.optimum.filter(|_| figure.is_some())),
            GridCell::full(test.single_us),
            sessions(test.knee.filter(|_| figure.is_some())),
            GridCell::full(test.of_raw.as_ref().map(|share| share.share_pct)),
            test.limited_by.as_deref().unwrap_or_default().into(),
            why.unwrap_or_default().into(),
        ]);
    }
    grid
}

fn steps(suite: &SuiteResult) -> Grid {
    let mut heads = vec![GridHead::text("test"), GridHead::text("unit of the key figure")];
    heads.extend(["sessions", "runs", "key figure"].map(|name| GridHead::figures(name, "")));
    heads.push(GridHead::figures("elapsed", "s"));
    let unit = |name: &str| Measure::find(name).map_or("", |measure| unit_name(measure.unit));
    heads.extend(FIGURES.map(|name| GridHead::figures(name, unit(name))));
    let mut grid = Grid::new(heads);
    for test in &suite.tests {
        for step in &test.steps {
            let mut cells = vec![
                (&test.page.id).into(),
                test.page.words(0.0).1.into(),
                GridCell::full(Some(step.sessions.into())),
                GridCell::full(Some(step.runs.len() as f64)),
                in_key_unit(test, step.key),
                GridCell::full(Some(step.elapsed_s)),
            ];
            let is_marked = |name: &str| step.marked.iter().any(|marked| marked == name);
            let figure = |name| GridCell::full(step.figures.get(name).copied()).marked(is_marked(name));
            cells.extend(FIGURES.map(figure));
            grid.row(cells);
        }
    }
    grid
}
