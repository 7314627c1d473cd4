//! Throughput of several targets compared with one.

use dyno_analyze::conclusion::suite::SuiteResult;
use dyno_analyze::number::fixed;

use crate::model::table::{Grid, GridCell, GridHead};

/// A line for each test with its scale-out over targets; `None` for a single target.
pub(crate) fn scale_out(suite: &SuiteResult) -> Option<Grid> {
    let scaled = suite.scaled();
    if scaled.is_empty() {
        return None;
    }
    let mut grid = Grid::new(vec![
        GridHead::tight("test"),
        GridHead::figures("targets", ""),
        GridHead::figures("most", ""),
        GridHead::tight("unit"),
        GridHead::figures("of one", "×").explained("multiple of one target's figure"),
        GridHead::figures("range", "×").explained("range of that multiple over all runs of both"),
        GridHead::figures("of linear", "%").explained("as a share of linear scaling"),
    ]);
    for test in &scaled {
        for (at, on) in test.on.iter().enumerate() {
            let range = |(least, most)| format!("{} to {}", fixed(least, 2), fixed(most, 2));
            grid.row(vec![
                (if at == 0 { test.test.as_str() } else { "" }).into(),
                GridCell::count(u64::from(on.nodes)),
                GridCell::shown(on.value, |_| on.shown.clone()),
                (&test.unit).into(),
                GridCell::fixed(on.times, 2),
                on.range.filter(|_| at > 0).map_or_else(String::new, range).into(),
                GridCell::percent(on.of_linear_pct()),
            ]);
        }
    }
    Some(grid)
}
