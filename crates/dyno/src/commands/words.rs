//! Sentences on the terminal.

use crate::talk::Talk;

/// Lines that a sentence may take.
const LINES_MAX: usize = 12;

/// Shows a sentence, broken into lines that fit and each set in by `indent` columns.
pub(super) fn show_words(text: &str, indent: usize, talk: &Talk) -> std::io::Result<()> {
    let columns = talk.style().columns() - indent;
    let lines = dyno_report::text::wrap(text, columns, LINES_MAX);
    talk.show(&lines.iter().map(|line| format!("{:indent$}{line}\n", "")).collect::<String>())
}
