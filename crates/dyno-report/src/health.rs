//! What became of expectations, as a sheet.

use dyno_analyze::health::Answer;

use crate::grid::{Cell, Grid, Head};
use crate::style::{Paint, Style};
use crate::table::{self, Column, Table};

/// The word for an answer.
fn word(answer: &Answer) -> &'static str {
    match (&answer.measured, answer.met) {
        (Err(_), _) => "not known",
        (Ok(_), true) => "pass",
        (Ok(_), false) => "fail",
    }
}

fn measured(answer: &Answer) -> &str {
    match &answer.measured {
        Ok(words) | Err(words) => words,
    }
}

/// The sheet for a terminal.
pub fn health_table(answers: &[Answer], style: &Style) -> String {
    let mut table = Table::new(vec![Column::text("expected"), Column::text("measured"), Column::name("")]);
    for answer in answers {
        let paint = if answer.met { Paint::Good } else { Paint::Bad };
        table.row([
            table::Cell::from(answer.expected.as_str()),
            table::Cell::from(measured(answer)),
            table::Cell::painted(word(answer), paint),
        ]);
    }
    table.render(style)
}

/// The sheet for a page.
pub fn health_grid(answers: &[Answer]) -> Grid {
    let mut grid = Grid::new(vec![Head::text("expected"), Head::text("measured"), Head::tight("")]);
    for answer in answers {
        let tone = if answer.met { "good" } else { "bad" };
        let word = Cell { tone, ..Cell::text(word(answer)) };
        grid.row(vec![Cell::text(&answer.expected), Cell::text(measured(answer)), word]);
    }
    grid
}
