//! Reads separated values (RFC 4180, also with other separators than commas) with comment lines, one line at
//! a time.

use std::collections::BTreeSet;
use std::io::Read;

use csv::{Reader, ReaderBuilder, StringRecord, Terminator};

use super::strict::{CsvError, Strict};

/// A table: the names of its columns, and a reader of its lines.
pub(crate) struct Csv<R> {
    pub(crate) columns: Vec<String>,
    reader: Reader<Strict<R>>,
    record: StringRecord,
}

impl<R: Read> Csv<R> {
    /// Opens a table by reading the names of its columns. Empty lines, and lines between records that begin
    /// with `#`, are skipped.
    pub(crate) fn open(text: R, separator: u8) -> Result<Self, CsvError> {
        let mut table = Self::rows(text, separator);
        let Some(line) = table.advance()? else {
            let line = table.reader.get_ref().lines();
            return Err(CsvError { line, problem: "there is no line that names columns".into() });
        };
        let mut names = BTreeSet::new();
        if let Some(twice) = table.record.iter().map(str::trim).find(|name| !names.insert(*name)) {
            return Err(CsvError { line, problem: format!("two columns are named {twice:?}") });
        }
        table.columns = table.record.iter().map(|name| name.trim().to_owned()).collect();
        Ok(table)
    }

    /// Reads lines of cells without column names, for callers that interpret them.
    pub(crate) fn rows(text: R, separator: u8) -> Self {
        let reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(separator)
            .comment(Some(b'#'))
            .terminator(Terminator::Any(b'\n'))
            .from_reader(Strict::new(text, separator));
        Self { columns: Vec::new(), reader, record: StringRecord::new() }
    }

    /// Number of the next line in the file and its cells, of any count; `None` after the last.
    pub(crate) fn next_row(&mut self) -> Result<Option<(u64, Vec<&str>)>, CsvError> {
        let Some(line) = self.advance()? else { return Ok(None) };
        Ok(Some((line, self.record.iter().map(str::trim).collect())))
    }

    /// Number of the next line in the file and its cells; `None` after the last.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, Vec<&str>)>, CsvError> {
        let Some(line) = self.advance()? else { return Ok(None) };
        if self.record.len() != self.columns.len() {
            let problem = format!("{} cells under {} columns", self.record.len(), self.columns.len());
            return Err(CsvError { line, problem });
        }
        Ok(Some((line, self.record.iter().map(str::trim).collect())))
    }

    /// Reads the next non-empty record, and returns the line on which it begins.
    fn advance(&mut self) -> Result<Option<u64>, CsvError> {
        loop {
            let read = self.reader.read_record(&mut self.record);
            let begin = self.reader.get_mut().record();
            if let Some(error) = self.reader.get_ref().broken() {
                return Err(error);
            }
            let line = begin.unwrap_or_else(|| self.reader.get_ref().lines());
            match read {
                Ok(false) => return Ok(None),
                Ok(true)
                    if self.record.iter().all(|cell| cell.trim().is_empty()) && self.record.len() == 1 => {}
                Ok(true) => return Ok(Some(line)),
                Err(error) => {
                    let problem = match error.kind() {
                        csv::ErrorKind::Utf8 { .. } => {
                            "this is not UTF-8: iconv -t utf-8 converts it".to_owned()
                        }
                        _ => error.to_string(),
                    };
                    return Err(CsvError { line, problem });
                }
            }
        }
    }
}

#[cfg(test)]
type Lines = Vec<(u64, Vec<String>)>;

#[cfg(test)]
fn read(text: &str) -> Result<(Vec<String>, Lines), CsvError> {
    let mut table = Csv::open(text.as_bytes(), b',')?;
    let mut lines = Vec::new();
    while let Some((line, cells)) = table.next()? {
        lines.push((line, cells.into_iter().map(str::to_owned).collect()));
    }
    Ok((table.columns, lines))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod tests {
    use super::*;

    #[test]
    fn csv_comments_quotes_and_line_ends_are_read() {
        let text = "\u{feff}# a comment, with commas\r\na, b,c\r\n\r\n1,\"x, \"\"y\"\"\nz\",\r\n# more\n2,,3";
        let (columns, lines) = read(text).unwrap();
        assert_eq!(columns, ["a", "b", "c"]);
        let cells = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        assert_eq!(lines, [(4, cells(["1", "x, \"y\"\nz", ""])), (7, cells(["2", "", "3"]))]);
    }

    #[test]
    fn invalid_csv_error_names_the_line() {
        for (text, part) in [
            ("", "names columns"),
            ("# only\n", "names columns"),
            ("a,b\n1\n", "line 2: 1 cells under 2"),
            ("a,a\n", "two columns"),
            ("a\n\"x", "not closed"),
            ("a,b\n\"x\"y,2\n", "line 2: text follows a closing quotation"),
            ("a,b\n1,2\n\n# \"\n\"x\n\ny\",2\n3\n", "line 8: 1 cells"),
            ("a,b\n1,2\n3,\"x\n4,5\n", "line 3: a quotation mark is not closed"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text:?}: {error}");
        }
    }

    #[test]
    fn gate_parser_never_panics_on_any_text() {
        // Every text of up to six of the significant characters.
        let letters = ['"', ',', '\n', '\r', '#', 'ä'];
        for length in 0..=6u32 {
            for code in 0..6usize.pow(length) {
                let text: String = (0..length).map(|place| letters[code / 6usize.pow(place) % 6]).collect();
                let _ = read(&text);
            }
        }
    }

    #[test]
    fn long_tables_keep_their_line_numbers() {
        let mut text = "a,b\n".to_owned();
        let mut begins = Vec::new();
        for i in 0..200 {
            begins.push(text.matches('\n').count() as u64 + 1);
            text.push_str(&format!(
                "{i},\"{}\"\r\n{}",
                "x\n".repeat(i % 3),
                ["# \"c\n", "\n", "", " \r\n"][i % 4]
            ));
        }
        let text = format!("{text}{}", "7,8\n".repeat(100_000));
        let (_, lines) = read(&text).unwrap();
        assert_eq!(lines.iter().map(|line| line.0).take(200).collect::<Vec<_>>(), begins);
        assert_eq!(lines.last().unwrap().0, text.matches('\n').count() as u64);
    }

    #[test]
    fn endless_csv_line_is_refused_early() {
        let endless = std::io::Read::chain("a,b\n1,\"".as_bytes(), std::io::repeat(b'x'));
        let mut table = Csv::open(endless, b',').unwrap();
        let error = table.next().unwrap_err().to_string();
        assert!(error.contains("line 2: more than 1 MiB"), "{error}");
    }
}
