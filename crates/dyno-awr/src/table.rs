//! The model that both layouts are read into: a document is a list of captioned tables.
//!
//! The section readers know nothing of HTML or of rulers of dashes; they see captions, cells and lines. Everything
//! borrows from the report's text, and everything is bounded, so that no file makes more of itself than it is.

use std::borrow::Cow;
use std::cell::OnceCell;

/// Tables of one report that are kept.
pub(crate) const TABLES_MAX: usize = 4_096;
/// Cells of one report that are kept: ten times what the longest cluster reports have.
pub(crate) const CELLS_MAX: usize = 2_000_000;
/// Cells of one row that are kept.
pub(crate) const COLUMNS_MAX: usize = 256;

/// Whether a report came as HTML or as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// HTML tables.
    Html,
    /// Fixed columns under rulers of dashes.
    Text,
}

impl Form {
    /// The word in output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Text => "text",
        }
    }
}

/// One line of a table.
#[derive(Debug, Clone, Default)]
pub(crate) struct Row<'a> {
    pub(crate) cells: Vec<Cow<'a, str>>,
    /// The line as it stands, where the report is text: labels and statements follow no ruler.
    pub(crate) raw: Option<&'a str>,
    /// Line of the file, from 1.
    pub(crate) line: u32,
}

impl<'a> Row<'a> {
    /// The text of a cell; empty where there is none.
    pub(crate) fn cell(&self, index: usize) -> &str {
        self.cells.get(index).map_or("", |cell| cell.as_ref())
    }

    /// The row as labels with the values after each: `Buffer Cache:  728M  728M  Std Block Size:  8K` is two.
    pub(crate) fn pairs(&self) -> Vec<(Cow<'a, str>, Vec<Cow<'a, str>>)> {
        let cells: Vec<Cow<'a, str>> = match self.raw {
            Some(raw) => split_pairs(raw),
            None => self.cells.iter().filter(|cell| !cell.is_empty()).cloned().collect(),
        };
        let mut pairs: Vec<(Cow<'a, str>, Vec<Cow<'a, str>>)> = Vec::new();
        for cell in cells {
            match pairs.last_mut() {
                Some((_, values)) if !cell.ends_with(':') => values.push(cell),
                _ => pairs.push((cell, Vec::new())),
            }
        }
        pairs
    }
}

/// A line of labels and values cut where a label ends (a colon) or two blanks stand. Labels have no digits, but may have
/// two blanks inside: `Buffer  Hit   %:`.
fn split_pairs(line: &str) -> Vec<Cow<'_, str>> {
    let mut parts: Vec<Cow<'_, str>> = Vec::new();
    let mut add = |part: &'_ str| {
        let words = |text: &str| !text.ends_with(':') && !text.bytes().any(|b| b.is_ascii_digit());
        match parts.last_mut() {
            Some(last) if words(last) && (words(part) || part.ends_with(':')) => {
                let last = last.to_mut();
                last.push(' ');
                last.push_str(part);
            }
            _ => parts.push(Cow::Owned(part.to_owned())),
        }
    };
    for chunk in line.split("  ") {
        let mut rest = chunk.trim();
        // `15.00 (mins) Av Act Sess:` is the end of a value and the next label.
        while let Some(end) = rest.find(": ").or_else(|| rest.find(") ").filter(|_| rest.ends_with(':'))) {
            add(&rest[..=end]);
            rest = rest[end + 1..].trim_start();
        }
        if !rest.is_empty() {
            add(rest);
        }
    }
    parts
}

/// One table and what stands over it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table<'a> {
    /// The title right over it: `Foreground Wait Events`.
    pub(crate) title: Cow<'a, str>,
    /// HTML's `summary`.
    pub(crate) summary: Cow<'a, str>,
    /// Whether it is of the part about Exadata's storage servers, whose sections have names of their own.
    pub(crate) exadata: bool,
    /// Captions; those of several lines are joined by a blank.
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Row<'a>>,
    /// Line of the file, from 1.
    pub(crate) line: u32,
    /// The captions squashed, once somebody asks.
    pub(crate) squashed: OnceCell<Vec<String>>,
}

impl Table<'_> {
    /// The first column whose caption, without blanks and marks and in lower case, fits.
    pub(crate) fn find(&self, fits: impl Fn(&str) -> bool) -> Option<usize> {
        self.squashed().iter().position(|caption| fits(caption))
    }

    /// The captions as they are compared.
    pub(crate) fn squashed(&self) -> &[String] {
        self.squashed.get_or_init(|| self.columns.iter().map(|caption| squash(caption)).collect())
    }

    /// The column with this caption, squashed.
    pub(crate) fn column(&self, squashed: &str) -> Option<usize> {
        self.find(|caption| caption == squashed)
    }
}

/// A caption as it is compared: lower case, only letters, digits, `%`, `#`, `<`, `>`, `=`.
pub(crate) fn squash(text: &str) -> String {
    let keep = |c: &char| c.is_alphanumeric() || matches!(c, '%' | '#' | '<' | '>' | '=' | '/');
    let mut out = String::with_capacity(text.len());
    match text.is_ascii() {
        true => out.extend(text.chars().filter(keep).map(|c| c.to_ascii_lowercase())),
        false => out.extend(text.chars().filter(keep).flat_map(char::to_lowercase)),
    }
    out
}

/// A report as a list of tables.
#[derive(Debug)]
pub(crate) struct Document<'a> {
    pub(crate) form: Form,
    /// The report's title line: `WORKLOAD REPOSITORY report for`.
    pub(crate) title: String,
    pub(crate) tables: Vec<Table<'a>>,
    /// Database and instance as the titles of sections name them, in text.
    pub(crate) owner: Option<(&'a str, &'a str)>,
    /// Whether the report's own last line was there.
    pub(crate) ended: bool,
    /// Whether the report has more tables, rows or cells than are kept.
    pub(crate) cut: bool,
    /// Whether preformatted parts of a page may be a report in text, as its name is in them.
    pub(crate) names_report: bool,
}

impl Document<'_> {
    pub(crate) fn new(form: Form) -> Self {
        Self {
            form,
            title: String::new(),
            tables: Vec::new(),
            owner: None,
            ended: false,
            cut: false,
            names_report: false,
        }
    }

    /// Notes the report's title, if `text` is one and none was seen. What a report of an interval is printed after does not take its
    /// place: a file may hold an ASH report before it. Tables before the title of a report of an interval are not the report's: in a
    /// transcript the dialogue lists databases, instances and snapshots. Returns whether it is the title of such a report.
    pub(crate) fn see_title(&mut self, text: &str) -> bool {
        let better = match self.title.is_empty() {
            true => is_report_title(text),
            false => !is_interval_title(&self.title) && is_interval_title(text),
        };
        if better {
            self.title = text.to_owned();
        }
        let begins = better && is_interval_title(text);
        if begins {
            self.tables.clear();
        }
        begins
    }
}

/// What the titles of all reports begin with, in lower case.
const REPORT_TITLES: [&str; 2] = ["workload repository", "statspack report for"];

/// What the titles of reports begin with that have no figures of one interval, in lower case, and what they are.
const OTHER_TITLES: [(&str, &str); 7] = [
    ("workload repository sql report", "an AWR report of one SQL statement"),
    ("workload repository compare", "an AWR report that compares two periods"),
    ("ash report for", "an ASH report"),
    ("ash report -", "an ASH report"),
    ("addm report for", "an ADDM report"),
    ("detailed addm report for", "an ADDM report"),
    ("statspack sql report for", "a STATSPACK report of one SQL statement"),
];

/// What kind of report a title announces that has no figures of one interval.
pub(crate) fn other_report(title: &str) -> Option<&'static str> {
    let title = title.trim_start();
    OTHER_TITLES.iter().find(|(start, _)| begins_with(title, start)).map(|(_, what)| *what)
}

fn begins_with(text: &str, start: &str) -> bool {
    text.as_bytes().get(..start.len()).is_some_and(|text| text.eq_ignore_ascii_case(start.as_bytes()))
}

/// Whether a text has the word in it that no title of an AWR or STATSPACK report is without.
pub(crate) fn names_report(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    lower.contains("repository") || lower.contains("statspack")
}

/// Whether a line is the title of a report, of one that is refused too.
pub(crate) fn is_report_title(text: &str) -> bool {
    let text = text.trim_start();
    REPORT_TITLES.iter().any(|title| begins_with(text, title)) || other_report(text).is_some()
}

/// Whether a line is the title of a report that may be one of an interval. Such a report may hold one of another kind: that of ADDM.
pub(crate) fn is_interval_title(text: &str) -> bool {
    is_report_title(text) && other_report(text).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_labels_become_pairs() {
        let row = Row {
            raw: Some("   Buffer Cache:       728M              Std Block Size:         8K"),
            ..Row::default()
        };
        let pairs = row.pairs();
        assert_eq!(pairs.len(), 2);
        assert_eq!((pairs[0].0.as_ref(), pairs[0].1[0].as_ref()), ("Buffer Cache:", "728M"));
        assert_eq!((pairs[1].0.as_ref(), pairs[1].1[0].as_ref()), ("Std Block Size:", "8K"));
        let row =
            Row { raw: Some("    Buffer  Hit   %:   99.89    In-memory Sort %:  100.00"), ..Row::default() };
        let pairs = row.pairs();
        assert_eq!((pairs[0].0.as_ref(), pairs[0].1[0].as_ref()), ("Buffer Hit %:", "99.89"));
        let row = Row { raw: Some(" Elapsed:      15.00 (mins) Av Act Sess:       7.1"), ..Row::default() };
        let pairs = row.pairs();
        assert_eq!((pairs[0].1[0].as_ref(), pairs[1].0.as_ref()), ("15.00 (mins)", "Av Act Sess:"));
    }

    #[test]
    fn captions_are_compared_without_blanks_and_marks() {
        assert_eq!(squash("% DB time"), "%dbtime");
        assert_eq!(squash("Total Wait Time (sec)"), "totalwaittimesec");
        assert_eq!(squash("<=1s"), "<=1s");
    }
}
