//! What more targets do beside one.

use dyno_analyze::conclusion::suite::Suite;
use dyno_analyze::number::{fixed, percent};

use crate::grid::{Cell, Grid, Head};

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
