//! Comma-separated values (RFC 4180), with comment lines, as people keep the tables of documents.

/// The largest file in bytes.
pub(super) const FILE_BYTES_MAX: u64 = 64 << 20;

/// A table: the names of its columns, and its lines with their numbers in the file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Csv {
    pub(super) columns: Vec<String>,
    pub(super) lines: Vec<(u64, Vec<String>)>,
}

/// A file that is no table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub(super) struct CsvError {
    pub(super) line: u64,
    pub(super) problem: String,
}

/// Reads a table. Lines that begin with `#` between records and empty lines are left out.
pub(super) fn read(text: &str) -> Result<Csv, CsvError> {
    let mut reader = Reader { rest: text.strip_prefix('\u{feff}').unwrap_or(text), line: 1 };
    let mut columns: Option<Vec<String>> = None;
    let mut lines = Vec::new();
    while let Some((line, cells)) = reader.record()? {
        let wrong = |problem: String| CsvError { line, problem };
        let Some(names) = &columns else {
            let names: Vec<String> = cells.iter().map(|name| name.trim().to_owned()).collect();
            if let Some(twice) = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
                return Err(wrong(format!("two columns are named {:?}", twice.1)));
            }
            columns = Some(names);
            continue;
        };
        if cells.len() != names.len() {
            return Err(wrong(format!("{} cells under {} columns", cells.len(), names.len())));
        }
        lines.push((line, cells.into_iter().map(|cell| cell.trim().to_owned()).collect()));
    }
    let columns = columns
        .ok_or(CsvError { line: reader.line, problem: "there is no line that names columns".into() })?;
    Ok(Csv { columns, lines })
}

struct Reader<'t> {
    rest: &'t str,
    line: u64,
}

impl Reader<'_> {
    /// The next record and the line on which it begins.
    fn record(&mut self) -> Result<Option<(u64, Vec<String>)>, CsvError> {
        loop {
            if self.rest.is_empty() {
                return Ok(None);
            }
            let line = self.rest.split('\n').next().unwrap_or_default();
            if !line.starts_with('#') && !line.trim().is_empty() {
                break;
            }
            self.rest = self.rest.get(line.len() + 1..).unwrap_or_default();
            self.line += 1;
        }
        let begin = self.line;
        let mut cells = Vec::new();
        loop {
            let (cell, last) = self.cell()?;
            cells.push(cell);
            if last {
                return Ok(Some((begin, cells)));
            }
        }
    }

    /// The next cell, and whether it ends the record.
    fn cell(&mut self) -> Result<(String, bool), CsvError> {
        if self.rest.starts_with('"') {
            return self.quoted();
        }
        let end = self.rest.find([',', '\n']).unwrap_or(self.rest.len());
        let cell = self.rest[..end].trim_end_matches('\r').to_owned();
        let last = !self.rest[end..].starts_with(',');
        self.skip(end);
        Ok((cell, last))
    }

    fn quoted(&mut self) -> Result<(String, bool), CsvError> {
        let begin = self.line;
        let mut cell = String::new();
        self.rest = &self.rest[1..];
        loop {
            let Some(end) = self.rest.find('"') else {
                return Err(CsvError { line: begin, problem: "a quotation mark is not closed".into() });
            };
            cell.push_str(&self.rest[..end]);
            self.rest = &self.rest[end + 1..];
            match self.rest.strip_prefix('"') {
                Some(rest) => {
                    cell.push('"');
                    self.rest = rest;
                }
                None => break,
            }
        }
        self.line += cell.matches('\n').count() as u64;
        let rest = self.rest.trim_start_matches([' ', '\t', '\r']);
        let last = !rest.starts_with(',');
        if last && !rest.is_empty() && !rest.starts_with('\n') {
            return Err(CsvError {
                line: self.line,
                problem: "text follows a closing quotation mark".into(),
            });
        }
        self.rest = rest;
        self.skip(0);
        Ok((cell, last))
    }

    /// Goes past `end` bytes and the separator behind them.
    fn skip(&mut self, end: usize) {
        let separator = self.rest[end..].chars().next();
        if separator == Some('\n') {
            self.line += 1;
        }
        self.rest = &self.rest[end + separator.map_or(0, char::len_utf8)..];
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod tests {
    use super::*;

    #[test]
    fn comments_quotes_and_line_ends() {
        let text = "\u{feff}# a comment, with commas\r\na, b,c\r\n\r\n1,\"x, \"\"y\"\"\nz\",\r\n# more\n2,,3";
        let table = read(text).unwrap();
        assert_eq!(table.columns, ["a", "b", "c"]);
        let cells = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        assert_eq!(table.lines, [(4, cells(["1", "x, \"y\"\nz", ""])), (7, cells(["2", "", "3"]))]);
    }

    #[test]
    fn what_is_no_table_says_where() {
        for (text, part) in [
            ("", "names columns"),
            ("# only\n", "names columns"),
            ("a,b\n1\n", "line 2: 1 cells under 2"),
            ("a,a\n", "two columns"),
            ("a\n\"x", "not closed"),
            ("a,b\n\"x\"y,2\n", "closing quotation"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text:?}: {error}");
        }
    }

    #[test]
    fn no_text_makes_reading_panic() {
        // Every text of up to six of the characters that mean something.
        let letters = ['"', ',', '\n', '\r', '#', 'ä'];
        for length in 0..=6u32 {
            for code in 0..6usize.pow(length) {
                let text: String = (0..length).map(|place| letters[code / 6usize.pow(place) % 6]).collect();
                let _ = read(&text);
            }
        }
    }
}
