//! Reads files with a name and a value on each line: `tps: 1034.8`. All records have the same names in equal
//! order.

use std::io::{BufRead, BufReader, Read};

use super::strict::CsvError;

/// Maximum length of a line in bytes.
const LINE_BYTES_MAX: u64 = 64 << 10;

/// Reader of records in a file of names and values.
pub(crate) struct Pairs<R> {
    pub(crate) columns: Vec<String>,
    separator: char,
    reader: BufReader<R>,
    line: u64,
    /// Names of the first record, in order.
    first: Option<Vec<usize>>,
    /// The pair that begins the next record.
    waiting: Option<(u64, usize, String)>,
    cells: Vec<String>,
}

impl<R: Read> Pairs<R> {
    pub(crate) fn new(text: R, separator: char, columns: Vec<String>) -> Self {
        let reader = BufReader::new(text);
        Self { columns, separator, reader, line: 0, first: None, waiting: None, cells: Vec::new() }
    }

    /// The names in the file that are columns here.
    pub(crate) fn names(mut self) -> Result<Vec<String>, CsvError> {
        let mut is_used = vec![false; self.columns.len()];
        while let Some((_, column, _)) = self.pair()? {
            is_used[column] = true;
        }
        let names = self.columns.into_iter().zip(is_used);
        Ok(names.filter_map(|(name, is_used)| is_used.then_some(name)).collect())
    }

    /// Line on which the next record begins, and its cells in column order.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, Vec<&str>)>, CsvError> {
        let begin = match self.waiting.take() {
            Some(pair) => Some(pair),
            None => self.pair()?,
        };
        let Some((begin, column, value)) = begin else { return Ok(None) };
        self.cells = vec![String::new(); self.columns.len()];
        self.cells[column] = value;
        let mut order = vec![column];
        while let Some((line, column, value)) = self.pair()? {
            if order.contains(&column) {
                self.waiting = Some((line, column, value));
                break;
            }
            order.push(column);
            self.cells[column] = value;
        }
        if *self.first.get_or_insert_with(|| order.clone()) != order {
            let problem = "this record has other names, or in another order, than the first one".to_owned();
            return Err(CsvError { line: begin, problem });
        }
        Ok(Some((begin, self.cells.iter().map(String::as_str).collect())))
    }

    /// The next line whose name is a column: line number, column, value.
    fn pair(&mut self) -> Result<Option<(u64, usize, String)>, CsvError> {
        loop {
            let mut bytes = Vec::new();
            self.line += 1;
            let wrong = |problem: String| CsvError { line: self.line, problem };
            let read = (&mut self.reader).take(LINE_BYTES_MAX).read_until(b'\n', &mut bytes);
            if read.map_err(|error| wrong(error.to_string()))? == 0 {
                return Ok(None);
            }
            if bytes.len() as u64 == LINE_BYTES_MAX {
                return Err(wrong("the line has more than 64 KiB".to_owned()));
            }
            let text = String::from_utf8(bytes);
            let text = text.map_err(|_| wrong("this is not UTF-8: iconv -t utf-8 converts it".to_owned()))?;
            let text = text.trim_start_matches('\u{feff}');
            let Some((name, value)) = text.split_once(self.separator) else { continue };
            let (name, value) = (unquoted(name), value.trim());
            let Some(column) = self.columns.iter().position(|column| column == name) else { continue };
            let bare = unquoted(value);
            let is_cell_separator = !matches!(self.separator, '=' | ':');
            if is_cell_separator && bare.len() == value.len() && bare.contains(self.separator) {
                return Err(wrong(format!("{name:?} has more than one value")));
            }
            return Ok(Some((self.line, column, bare.to_owned())));
        }
    }
}

/// Removes blanks and quotation marks around the text.
fn unquoted(text: &str) -> &str {
    let text = text.trim();
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, separator: char) -> Result<Vec<(u64, Vec<String>)>, String> {
        let columns = ["tps", "threads"].map(str::to_owned).to_vec();
        let mut pairs = Pairs::new(text.as_bytes(), separator, columns);
        let mut records = Vec::new();
        while let Some((line, cells)) = pairs.next().map_err(|error| error.to_string())? {
            records.push((line, cells.into_iter().map(str::to_owned).collect()));
        }
        Ok(records)
    }

    #[test]
    fn pairs_import_starts_new_record_at_repeated_name() {
        let records = read("tool: x\nthreads: 8\ntps: 100\n\nthreads: 16\ntps: 190", ':').unwrap();
        let cells = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        assert_eq!(records, [(2, cells(["100", "8"])), (5, cells(["190", "16"]))]);
        assert_eq!(read("\"tps\",\"1,034.8\"\n", ',').unwrap(), [(1, cells(["1,034.8", ""]))]);
    }

    #[test]
    fn pairs_record_with_changed_names_is_refused() {
        let text = "threads=8\ntps=1\nthreads=9\nthreads=10\ntps=3\n";
        assert!(read(text, '=').unwrap_err().contains("line 3"));
        assert!(read("tps,100,200\n", ',').unwrap_err().contains("more than one value"));
    }
}
