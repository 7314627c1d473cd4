//! What a reader of tables lets pass, and whoever mends a table has to be told: where each line begins, quotation marks that are
//! not closed, text behind a closing one, lines without an end.

use std::collections::VecDeque;
use std::io::{self, Read};

/// The longest record in bytes. A quotation mark that is not closed would make all of the file one.
const RECORD_BYTES_MAX: usize = 1 << 20;

/// Where in the text the next byte stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Record,
    Comment,
    Cell,
    Plain,
    Quoted,
    /// Behind a quotation mark that closes the cell, unless another follows.
    Closed,
    /// Behind blanks after the closing mark.
    Behind,
}

/// Passes bytes on and looks at them.
#[derive(Debug)]
pub(in crate::commands) struct Strict<R> {
    inner: R,
    separator: u8,
    at: At,
    /// Lines that have begun.
    line: u64,
    /// Bytes of the record so far.
    bytes: usize,
    /// Where the last quotation mark was opened.
    opened: u64,
    /// Lines on which records begin that have not been asked for.
    begins: VecDeque<u64>,
    broken: Option<CsvError>,
}

impl<R> Strict<R> {
    pub(super) fn new(inner: R, separator: u8) -> Self {
        let begins = VecDeque::new();
        Self { inner, separator, at: At::Record, line: 1, bytes: 0, opened: 0, begins, broken: None }
    }

    /// The line on which the next record begins; to be asked for once for each.
    pub(super) fn record(&mut self) -> Option<u64> {
        self.begins.pop_front()
    }

    /// Lines read.
    pub(super) fn lines(&self) -> u64 {
        self.line
    }

    /// What is wrong with the records asked for so far.
    pub(super) fn broken(&self) -> Option<CsvError> {
        let next = self.begins.front().copied().unwrap_or(u64::MAX);
        self.broken.clone().filter(|broken| broken.line < next)
    }

    fn look(&mut self, byte: u8) {
        if self.at == At::Record && !matches!(byte, b'\n' | b'#') {
            self.begins.push_back(self.line);
            self.at = At::Cell;
            self.bytes = 0;
        }
        self.bytes += 1;
        self.at = match (self.at, byte) {
            (At::Record, b'#') => At::Comment,
            (At::Quoted, b'"') => At::Closed,
            (At::Quoted, _) => At::Quoted,
            (_, b'\n') => At::Record,
            (At::Comment, _) => At::Comment,
            (At::Closed, b'"') => At::Quoted,
            (_, byte) if byte == self.separator => At::Cell,
            (At::Cell, b'"') => {
                self.opened = self.line;
                At::Quoted
            }
            (At::Closed | At::Behind, b' ' | b'\t' | b'\r') => At::Behind,
            (At::Closed | At::Behind, _) => {
                self.breaks(self.line, "text follows a closing quotation mark");
                At::Plain
            }
            (At::Record | At::Cell | At::Plain, _) => At::Plain,
        };
        self.line += u64::from(byte == b'\n');
    }

    /// Keeps the first thing that is wrong.
    fn breaks(&mut self, line: u64, problem: &str) {
        self.broken.get_or_insert_with(|| CsvError { line, problem: problem.to_owned() });
    }
}

impl<R: Read> Read for Strict<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(out)?;
        let text = &out[..read];
        // A mark of the order of bytes begins no record.
        let marked = self.line == 1 && self.at == At::Record && text.starts_with("\u{feff}".as_bytes());
        text[if marked { 3 } else { 0 }..].iter().for_each(|&byte| self.look(byte));
        if read == 0 && !out.is_empty() && self.at == At::Quoted {
            self.breaks(self.opened, "a quotation mark is not closed");
        }
        if self.bytes > RECORD_BYTES_MAX && !matches!(self.at, At::Record | At::Comment) {
            let line = self.begins.back().copied().unwrap_or(self.line);
            self.breaks(line, "more than 1 MiB in one line; is a quotation mark not closed?");
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the line is too long"));
        }
        Ok(read)
    }
}

/// A file that is no table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub(in crate::commands) struct CsvError {
    pub(in crate::commands) line: u64,
    pub(in crate::commands) problem: String,
}
