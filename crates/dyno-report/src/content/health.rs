//! Table of expectations and whether each is met.

use dyno_analyze::health::ExpectationResult;

use crate::model::table::{Grid, GridCell, GridHead};

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

/// A row for each expectation.
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
