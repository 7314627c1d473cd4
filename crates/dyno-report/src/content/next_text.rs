//! What to do next, for a terminal.

use dyno_analyze::{NextStep, next_lines};

use crate::style::Style;
use crate::text::{clean, wrap};

/// Maximum lines of one step or command.
const LINES_MAX: usize = 6;

/// The steps for a terminal, each command on lines of its own; empty if there are none.
pub fn next_text(steps: &[NextStep], style: &Style) -> String {
    let lines =
        next_lines(steps).into_iter().flat_map(|line| wrap(&clean(&line), style.columns(), LINES_MAX));
    lines.map(|line| format!("{line}\n")).collect()
}
