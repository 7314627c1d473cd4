//! Table of expectations and whether each is met.

use dyno_analyze::health::ExpectationResult;

use crate::grid::{Grid, GridCell, GridHead};
use crate::style::{Paint, Style};
use crate::table::{self, TextColumn, TextTable};

/// The word for a result.
fn word(answer: &ExpectationResult) -> &'static str {
    match (&answer.measured, answer.met) {
        (Err(_), _) => "unknown",
        (Ok(_), true) => "pass",
        (Ok(_), false) => "fail",
    }
}

fn measured_words(answer: &ExpectationResult) -> &str {
    match &answer.measured {
        Ok(words) | Err(words) => words,
    }
}

/// The table for a terminal.
pub fn health_table(answers: &[ExpectationResult], style: &Style) -> String {
    let mut table = TextTable::new(vec![
        TextColumn::text("expected"),
        TextColumn::text("measured"),
        TextColumn::name(""),
    ]);
    for answer in answers {
        let paint = if answer.met { Paint::Good } else { Paint::Bad };
        table.row([
            table::TextCell::from(answer.expected.as_str()),
            table::TextCell::from(measured_words(answer)),
            table::TextCell::painted(word(answer), paint),
        ]);
    }
    table.render(style)
}

/// The table for a page.
pub fn health_grid(answers: &[ExpectationResult]) -> Grid {
    let mut grid =
        Grid::new(vec![GridHead::text("expected"), GridHead::text("measured"), GridHead::tight("")]);
    for answer in answers {
        let tone = if answer.met { "good" } else { "bad" };
        let word = GridCell::text(word(answer)).toned(tone);
        grid.row(vec![GridCell::text(&answer.expected), GridCell::text(measured_words(answer)), word]);
    }
    grid
}
