//! Checks that a table reader skips: unclosed quotation marks, text after a closing one, and lines without an
//! end. It also records the line on which each record begins, for error messages.

use std::collections::VecDeque;
use std::io::{self, Read};

/// Maximum length of a record in bytes. An unclosed quotation mark would turn the whole file into one.
const RECORD_BYTES_MAX: usize = 1 << 20;

/// Position of the next byte within the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CsvPosition {
    Record,
    Comment,
    Cell,
    Plain,
    Quoted,
    /// After a quotation mark that closes the cell, unless another follows.
    Closed,
    /// After blanks that follow the closing mark.
    Behind,
}

/// Passes bytes on and checks them.
#[derive(Debug)]
pub(crate) struct Strict<R> {
    inner: R,
    separator: u8,
    at: CsvPosition,
    /// Number of the current line.
    line: u64,
    /// Bytes of the current record so far.
    bytes: usize,
    /// Line of the last opening quotation mark.
    opened: u64,
    /// Lines on which records begin that were not requested yet.
    begins: VecDeque<u64>,
    broken: Option<CsvError>,
}

impl<R> Strict<R> {
    pub(super) fn new(inner: R, separator: u8) -> Self {
        let begins = VecDeque::new();
        Self { inner, separator, at: CsvPosition::Record, line: 1, bytes: 0, opened: 0, begins, broken: None }
    }

    /// The line on which the next record begins; must be called once for each record.
    pub(super) fn record(&mut self) -> Option<u64> {
        self.begins.pop_front()
    }

    pub(super) fn lines(&self) -> u64 {
        self.line
    }

    /// The first error in the records requested so far.
    pub(super) fn broken(&self) -> Option<CsvError> {
        let next = self.begins.front().copied().unwrap_or(u64::MAX);
        self.broken.clone().filter(|broken| broken.line < next)
    }

    fn check_byte(&mut self, byte: u8) {
        if self.at == CsvPosition::Record && !matches!(byte, b'\n' | b'#') {
            self.begins.push_back(self.line);
            self.at = CsvPosition::Cell;
            self.bytes = 0;
        }
        self.bytes += 1;
        self.at = match (self.at, byte) {
            (CsvPosition::Record, b'#') => CsvPosition::Comment,
            (CsvPosition::Quoted, b'"') => CsvPosition::Closed,
            (CsvPosition::Quoted, _) => CsvPosition::Quoted,
            (_, b'\n') => CsvPosition::Record,
            (CsvPosition::Comment, _) => CsvPosition::Comment,
            (CsvPosition::Closed, b'"') => CsvPosition::Quoted,
            (_, byte) if byte == self.separator => CsvPosition::Cell,
            (CsvPosition::Cell, b'"') => {
                self.opened = self.line;
                CsvPosition::Quoted
            }
            (CsvPosition::Closed | CsvPosition::Behind, b' ' | b'\t' | b'\r') => CsvPosition::Behind,
            (CsvPosition::Closed | CsvPosition::Behind, _) => {
                self.breaks(self.line, "text follows a closing quotation mark");
                CsvPosition::Plain
            }
            (CsvPosition::Record | CsvPosition::Cell | CsvPosition::Plain, _) => CsvPosition::Plain,
        };
        self.line += u64::from(byte == b'\n');
    }

    fn breaks(&mut self, line: u64, problem: &str) {
        self.broken.get_or_insert_with(|| CsvError { line, problem: problem.to_owned() });
    }
}

impl<R: Read> Read for Strict<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(out)?;
        let text = &out[..read];
        // A byte order mark does not begin a record.
        let marked =
            self.line == 1 && self.at == CsvPosition::Record && text.starts_with("\u{feff}".as_bytes());
        text[if marked { 3 } else { 0 }..].iter().for_each(|&byte| self.check_byte(byte));
        if read == 0 && !out.is_empty() && self.at == CsvPosition::Quoted {
            self.breaks(self.opened, "a quotation mark is not closed");
        }
        if self.bytes > RECORD_BYTES_MAX && !matches!(self.at, CsvPosition::Record | CsvPosition::Comment) {
            let line = self.begins.back().copied().unwrap_or(self.line);
            self.breaks(line, "more than 1 MiB in one line; is a quotation mark not closed?");
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the line is too long"));
        }
        Ok(read)
    }
}

/// An error in the file's format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub(crate) struct CsvError {
    pub(crate) line: u64,
    pub(crate) problem: String,
}
