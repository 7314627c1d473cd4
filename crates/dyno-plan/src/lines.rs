//! Positions in a file: line and column as its author counts them.

use crate::error::Origin;

/// A file's text with the offsets of its lines.
#[derive(Debug)]
pub struct SourceLines<'a> {
    name: &'a str,
    text: &'a str,
    line_starts: Vec<usize>,
}

impl<'a> SourceLines<'a> {
    /// The lines of `text` in the file `name`.
    pub fn new(name: &'a str, text: &'a str) -> Self {
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        Self { name, text, line_starts: std::iter::once(0).chain(ends).collect() }
    }

    /// The line that contains byte `at`, from 1.
    pub fn line(&self, at: usize) -> usize {
        self.line_starts.partition_point(|&start| start <= at)
    }

    /// Line and column of byte `at`; a byte order mark is not counted.
    pub fn line_and_column(&self, at: usize) -> (usize, usize) {
        let line = self.line(at);
        let before = self.text.get(self.line_starts[line - 1]..at).unwrap_or("");
        (line, before.trim_start_matches('\u{feff}').chars().count() + 1)
    }

    /// The position of byte `at`.
    pub fn origin(&self, at: usize) -> Origin {
        let (line, column) = self.line_and_column(at);
        Origin::File { name: self.name.to_owned(), line: Some(line), column: Some(column) }
    }
}
