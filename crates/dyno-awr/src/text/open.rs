//! Collects the rows of a table; records may take several lines, each with columns of its own.

use std::borrow::Cow;

use super::lines::AwrTextLine;
use super::ruler::{AwrColumnSpan, cells};
use crate::table::{AwrTable, AwrTableRow};

/// A table that is being filled.
pub(super) struct OpenTable<'a> {
    pub(super) table: AwrTable<'a>,
    /// The columns of each line of a record; empty where the section has only labels and values.
    pub(super) levels: Vec<Vec<AwrColumnSpan>>,
    /// The level of the next line.
    pub(super) next: usize,
}

impl<'a> OpenTable<'a> {
    /// Adds a line of data; `fresh` says that a record begins with it at the latest.
    pub(super) fn push(&mut self, line: AwrTextLine<'a>, fresh: bool) {
        let row = |cells: Vec<&'a str>| AwrTableRow {
            cells: cells.into_iter().map(Cow::Borrowed).collect(),
            raw: Some(line.text),
            line: line.number,
        };
        if self.levels.len() < 2 {
            let cells = self.levels.first().and_then(|spans| cells(line.text, spans)).unwrap_or_default();
            self.table.rows.push(row(cells));
            return;
        }
        if fresh {
            self.next = 0;
        }
        // A page may end between a name and the figures below it, which then begin the next page.
        if self.next == 0 && self.is_figures_alone(line.text) {
            let figures = cells(line.text, &self.levels[1]).unwrap_or_default();
            self.table.rows.push(row(std::iter::once("").chain(figures).collect()));
            return;
        }
        let spans = &self.levels[self.next];
        let cells = cells(line.text, spans).unwrap_or_else(|| vec![""; spans.len()]);
        match self.table.rows.last_mut() {
            Some(last) if self.next > 0 => last.cells.extend(cells.into_iter().map(Cow::Borrowed)),
            _ => self.table.rows.push(row(cells)),
        }
        self.next = (self.next + 1) % self.levels.len();
    }

    /// Whether a line has a figure for each column of the second line of a record whose first line
    /// is a name.
    fn is_figures_alone(&self, line: &str) -> bool {
        let [name, figures] = &self.levels[..] else { return false };
        let is_figure = |word: &str| word.bytes().all(|b| b.is_ascii_digit() || matches!(b, b',' | b'.'));
        name.len() == 1
            && line.starts_with(' ')
            && line.split_whitespace().count() == figures.len()
            && line.split_whitespace().all(is_figure)
    }

    /// Adds empty cells to records that lack their last lines.
    pub(super) fn finish(&mut self) {
        if self.levels.len() > 1 {
            let width = self.table.columns.len();
            for row in &mut self.table.rows {
                row.cells.resize(width, Cow::Borrowed(""));
            }
        }
    }
}
