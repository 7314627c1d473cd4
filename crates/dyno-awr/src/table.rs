//! The model into which both layouts are read: a document is a list of captioned tables.
//!
//! The section readers do not depend on HTML or on rulers of dashes; they use captions, cells and
//! lines. Everything borrows from the report's text. Everything is bounded, so memory stays
//! proportional to the file.

use std::borrow::Cow;
use std::cell::OnceCell;

/// Most tables of one report that are kept.
pub(crate) const TABLES_MAX: usize = 4_096;
/// Most cells of one report that are kept: ten times those of the longest cluster reports.
pub(crate) const CELLS_MAX: usize = 2_000_000;
/// Most cells of one row that are kept.
pub(crate) const COLUMNS_MAX: usize = 256;

/// Whether a report came as HTML or as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AwrFormat {
    /// Tables of an HTML page.
    Html,
    /// Fixed columns under rulers of dashes.
    Text,
}

impl AwrFormat {
    /// The word in output: `html`, `text`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Text => "text",
        }
    }
}

/// One line of a table.
#[derive(Debug, Clone, Default)]
pub(crate) struct AwrTableRow<'a> {
    pub(crate) cells: Vec<Cow<'a, str>>,
    /// The unchanged line, where the report is text: labels and statements follow no ruler.
    pub(crate) raw: Option<&'a str>,
    /// Line of the file, from 1.
    pub(crate) line: u32,
}

impl<'a> AwrTableRow<'a> {
    /// The text of a cell; empty where there is none.
    pub(crate) fn cell(&self, index: usize) -> &str {
        self.cells.get(index).map_or("", |cell| cell.as_ref())
    }

    /// The row as labels, each with the values after it:
    /// `Buffer Cache:  728M  728M  Std Block Size:  8K` gives two.
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

/// Splits a line of labels and values where a label ends (a colon) or two blanks follow. Labels
/// have no digits, but may contain two blanks: `Buffer  Hit   %:`.
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

/// One table with its title and captions.
#[derive(Debug, Clone, Default)]
pub(crate) struct AwrTable<'a> {
    /// The title directly above it: `Foreground Wait Events`.
    pub(crate) title: Cow<'a, str>,
    /// The `summary` attribute of HTML.
    pub(crate) summary: Cow<'a, str>,
    /// Whether it belongs to the part about Exadata's storage servers, whose sections have names of
    /// their own.
    pub(crate) exadata: bool,
    /// Captions; those of several lines are joined by a blank.
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<AwrTableRow<'a>>,
    /// Line of the file, from 1.
    pub(crate) line: u32,
    /// The captions in the form for comparison, computed on first use.
    pub(crate) squashed: OnceCell<Vec<String>>,
}

impl AwrTable<'_> {
    /// The first column whose caption satisfies `fits`, in the form for comparison.
    pub(crate) fn find(&self, fits: impl Fn(&str) -> bool) -> Option<usize> {
        self.squashed().iter().position(|caption| fits(caption))
    }

    /// The captions in the form for comparison.
    pub(crate) fn squashed(&self) -> &[String] {
        self.squashed.get_or_init(|| self.columns.iter().map(|caption| squash(caption)).collect())
    }

    /// The column with this caption, in the form for comparison.
    pub(crate) fn column(&self, squashed: &str) -> Option<usize> {
        self.find(|caption| caption == squashed)
    }
}

/// The form of a caption for comparison: lower case, only letters, digits, `%`, `#`, `<`, `>`, `=`.
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
    pub(crate) form: AwrFormat,
    /// The report's title line: `WORKLOAD REPOSITORY report for`.
    pub(crate) title: String,
    pub(crate) tables: Vec<AwrTable<'a>>,
    /// Database and instance as named in the titles of sections, in text.
    pub(crate) owner: Option<(&'a str, &'a str)>,
    /// Whether the report's own last line was found.
    pub(crate) ended: bool,
    /// Whether the report has more tables, rows or cells than are kept.
    pub(crate) cut: bool,
    /// Whether preformatted parts of a page may be a text report, because they contain its name.
    pub(crate) names_report: bool,
}

impl Document<'_> {
    pub(crate) fn new(form: AwrFormat) -> Self {
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

    /// Notes the report's title, if `text` is one and none was found yet. The title of an interval
    /// report replaces that of another kind: a file may have an ASH report before it. Tables before
    /// the title of an interval report do not belong to it: in a transcript the dialog lists
    /// databases, instances and snapshots. Returns whether it is the title of such a report.
    pub(crate) fn observe_title(&mut self, text: &str) -> bool {
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

/// First words of the titles of all reports, in lower case.
const REPORT_TITLES: [&str; 2] = ["workload repository", "statspack report for"];

/// First words of the titles of reports without figures of one interval, in lower case, and their
/// kinds.
const OTHER_TITLES: [(&str, &str); 7] = [
    ("workload repository sql report", "an AWR report of one SQL statement"),
    ("workload repository compare", "an AWR report that compares two periods"),
    ("ash report for", "an ASH report"),
    ("ash report -", "an ASH report"),
    ("addm report for", "an ADDM report"),
    ("detailed addm report for", "an ADDM report"),
    ("statspack sql report for", "a STATSPACK report of one SQL statement"),
];

/// The kind of report with this title that has no figures of one interval.
pub(crate) fn other_report(title: &str) -> Option<&'static str> {
    let title = title.trim_start();
    OTHER_TITLES.iter().find(|(start, _)| begins_with(title, start)).map(|(_, what)| *what)
}

fn begins_with(text: &str, start: &str) -> bool {
    text.as_bytes().get(..start.len()).is_some_and(|text| text.eq_ignore_ascii_case(start.as_bytes()))
}

/// Whether a text contains the word that every title of an AWR or STATSPACK report has.
pub(crate) fn names_report(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    lower.contains("repository") || lower.contains("statspack")
}

/// Whether a line is the title of a report, including the unsupported kinds.
pub(crate) fn is_report_title(text: &str) -> bool {
    let text = text.trim_start();
    REPORT_TITLES.iter().any(|title| begins_with(text, title)) || other_report(text).is_some()
}

/// Whether a line is the title of a report that may cover an interval. Such a report may contain
/// one of another kind: that of ADDM.
pub(crate) fn is_interval_title(text: &str) -> bool {
    is_report_title(text) && other_report(text).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_lines_become_name_value_pairs() {
        let row = AwrTableRow {
            raw: Some("   Buffer Cache:       728M              Std Block Size:         8K"),
            ..AwrTableRow::default()
        };
        let pairs = row.pairs();
        assert_eq!(pairs.len(), 2);
        assert_eq!((pairs[0].0.as_ref(), pairs[0].1[0].as_ref()), ("Buffer Cache:", "728M"));
        assert_eq!((pairs[1].0.as_ref(), pairs[1].1[0].as_ref()), ("Std Block Size:", "8K"));
        let row = AwrTableRow {
            raw: Some("    Buffer  Hit   %:   99.89    In-memory Sort %:  100.00"),
            ..AwrTableRow::default()
        };
        let pairs = row.pairs();
        assert_eq!((pairs[0].0.as_ref(), pairs[0].1[0].as_ref()), ("Buffer Hit %:", "99.89"));
        let row = AwrTableRow {
            raw: Some(" Elapsed:      15.00 (mins) Av Act Sess:       7.1"),
            ..AwrTableRow::default()
        };
        let pairs = row.pairs();
        assert_eq!((pairs[0].1[0].as_ref(), pairs[1].0.as_ref()), ("15.00 (mins)", "Av Act Sess:"));
    }

    #[test]
    fn captions_are_compared_without_blanks_and_punctuation() {
        assert_eq!(squash("% DB time"), "%dbtime");
        assert_eq!(squash("Total Wait Time (sec)"), "totalwaittimesec");
        assert_eq!(squash("<=1s"), "<=1s");
    }
}
