//! Maps positions to line numbers of a file.

use memchr::memchr_iter;

/// Counts line ends as positions move forward, so the whole text is scanned once.
#[derive(Debug)]
pub(crate) struct LineCounter<'a> {
    text: &'a str,
    at: usize,
    line: u32,
}

impl<'a> LineCounter<'a> {
    pub(crate) fn new(text: &'a str, first_line: u32) -> Self {
        Self { text, at: 0, line: first_line }
    }

    /// The line of `position`, from 1; positions must not decrease.
    pub(crate) fn at(&mut self, position: usize) -> u32 {
        let position = position.clamp(self.at, self.text.len());
        let ends = memchr_iter(b'\n', &self.text.as_bytes()[self.at..position]).count();
        self.at = position;
        self.line = self.line.saturating_add(u32::try_from(ends).unwrap_or(u32::MAX));
        self.line
    }
}
