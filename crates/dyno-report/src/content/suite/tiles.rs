//! The figures at the head of a suite's page: how many tests have a result, the transactions, what limits, and how
//! far repeats agree.

use std::collections::BTreeMap;

use dyno_analyze::attribution::mark;
use dyno_analyze::conclusion::suite::{SuiteRampPoint, SuiteResult, SuiteTestResult};
use dyno_analyze::number::{percent, sessions};

use crate::model::document::Tile;
use crate::model::table::GridCell;

/// The group whose throughput describes the database as a whole.
const TRANSACTIONS: &str = "oltp";

/// Maximum number of tests that are named.
const NAMED_MAX: usize = 3;

/// The tiles of a suite; a tile that no test has a figure for is left out.
pub(crate) fn suite_tiles(suite: &SuiteResult) -> Vec<Tile> {
    let with_result: Vec<(&SuiteTestResult, SuiteRampPoint)> = suite
        .tests
        .iter()
        .filter(|test| test.unfit.is_none())
        .filter_map(|test| Some((test, test.most?)))
        .collect();
    let tiles = [throughput(&with_result), limit(&with_result), repeats(&with_result)];
    std::iter::once(tests(suite, with_result.len())).chain(tiles.into_iter().flatten()).collect()
}

/// How many tests have a result, and which have none.
fn tests(suite: &SuiteResult, with_result: usize) -> Tile {
    let absent = suite.tests.iter().filter(|test| test.page.why_not.is_some()).count();
    let has_none = |test: &&SuiteTestResult| {
        (test.most.is_none() || test.unfit.is_some()) && test.page.why_not.is_none()
    };
    let without: Vec<&str> = suite.tests.iter().filter(has_none).map(|test| test.page.id.as_str()).collect();
    let mut notes = Vec::new();
    if !without.is_empty() {
        let more = match without.len().saturating_sub(NAMED_MAX) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        notes.push(format!("none: {}{more}", without[..without.len().min(NAMED_MAX)].join(", ")));
    }
    if absent > 0 {
        notes.push(format!("{absent} not applicable"));
    }
    let tone = if without.is_empty() { "good" } else { "warn" };
    Tile {
        label: "tests with a result",
        value: GridCell::text(&format!("{with_result} of {}", suite.tests.len())).toned(tone),
        note: if notes.is_empty() { format!("{} suite", suite.depth) } else { notes.join("; ") },
    }
}

/// The highest throughput of a test of transactions; without such a test, the figure of the first one.
fn throughput(tests: &[(&SuiteTestResult, SuiteRampPoint)]) -> Option<Tile> {
    let transactions = tests.iter().filter(|(test, _)| test.page.group == TRANSACTIONS);
    let best = transactions.max_by(|a, b| a.1.value.total_cmp(&b.1.value));
    let (test, most) = best.or(tests.first())?;
    let (value, unit) = most.words(&test.page);
    Some(Tile {
        label: if best.is_some() { "transactions" } else { "highest value" },
        value: GridCell::text(&mark(format!("{value} {unit}").trim_end().to_owned(), is_marked(test, *most))),
        note: format!("{}, with {}", test.page.id, sessions(f64::from(most.sessions))),
    })
}

/// Whether the key figure at this load may include other load.
fn is_marked(test: &SuiteTestResult, at: SuiteRampPoint) -> bool {
    let step = test.steps.iter().find(|step| step.sessions == at.sessions);
    let measure = test.page.metric.as_deref().unwrap_or("ops_per_s");
    step.is_some_and(|step| step.marked.iter().any(|name| name == measure))
}

/// What limits the most tests at their highest value.
fn limit(tests: &[(&SuiteTestResult, SuiteRampPoint)]) -> Option<Tile> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for limit in tests.iter().filter_map(|(test, _)| test.limited_by.as_deref()) {
        *counts.entry(limit.trim_end_matches('?')).or_default() += 1;
    }
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let (first, others) = counts.split_first()?;
    let rest = others.iter().take(NAMED_MAX).map(|(limit, count)| format!("{limit} in {count}"));
    let notes = std::iter::once(format!("in {} of {} tests", first.1, tests.len())).chain(rest);
    Some(Tile { label: "limit", value: GridCell::text(first.0), note: notes.collect::<Vec<_>>().join("; ") })
}

/// The largest spread of repeats at a highest value, and how many tests may reach more.
fn repeats(tests: &[(&SuiteTestResult, SuiteRampPoint)]) -> Option<Tile> {
    tests.first()?;
    let spreads = tests.iter().filter_map(|(test, most)| Some((test, most.spread_pct?)));
    let largest = spreads.max_by(|a, b| a.1.total_cmp(&b.1));
    let rising = tests.iter().filter(|(test, _)| test.saturated == Some(false)).count();
    let (value, note) = match largest {
        Some((test, pct)) => {
            (format!("within {} %", percent(pct)), format!("largest spread: {}", test.page.id))
        }
        None => ("measured once".to_owned(), "no spread without repeats".to_owned()),
    };
    let rising = match rising {
        0 => String::new(),
        1 => "; 1 test still rose at its last step".to_owned(),
        more => format!("; {more} tests still rose at their last step"),
    };
    Some(Tile { label: "repeats agree", value: GridCell::text(&value), note: note + &rising })
}
