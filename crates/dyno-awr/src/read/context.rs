//! How section readers get values out of tables: with their source, and with an issue where they cannot be read.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::distributions::Histograms;
use super::key::Key;
use crate::issue::{Issue, Level};
use crate::number::{self, Decimal, NotANumber, Reading, Suffix, TimeReading, TimeUnit};
use crate::report::{AwrReport, Figure, Source, Word};
use crate::table::{Form, Row, Table};

/// Issues of one report that are kept; a broken file has one in every line.
const ISSUES_MAX: usize = 1_000;

/// What was never printed, or was cut off by a column of text, cannot be read by anybody; what was printed and cannot be read is this
/// program's failure.
fn level_of(error: &NotANumber, form: Form) -> Level {
    if error.overflow || (error.cut && form == Form::Text) { Level::Warning } else { Level::Error }
}

/// A report being filled, and what all its sections have in common.
pub(crate) struct Context {
    pub(crate) report: AwrReport,
    pub(crate) decimal: Decimal,
    pub(crate) histograms: Histograms,
    /// Parameters whose values were listed one by one.
    pub(crate) listed_parameters: BTreeSet<Key>,
}

/// A table with what the sources of its values share.
pub(crate) struct Sources<'t, 'a> {
    pub(crate) table: &'t Table<'a>,
    section: Arc<str>,
    captions: Vec<Arc<str>>,
}

impl<'t, 'a> Sources<'t, 'a> {
    pub(crate) fn new(table: &'t Table<'a>) -> Self {
        let section = Arc::from(table.title.as_ref());
        let captions = table.columns.iter().map(|caption| Arc::from(caption.as_str())).collect();
        Self { table, section, captions }
    }

    /// The source of a cell.
    pub(crate) fn source(&self, row: &Row<'_>, column: usize) -> Source {
        let caption = self.captions.get(column).cloned().unwrap_or_else(|| Arc::from(""));
        Source { section: Arc::clone(&self.section), caption, line: row.line }
    }

    /// The source of a labelled value.
    pub(crate) fn labelled(&self, row: &Row<'_>, label: &str, column: &str) -> Source {
        let label = label.trim_end_matches(':').trim();
        let caption = if column.is_empty() { label.to_owned() } else { format!("{label} / {column}") };
        Source { section: Arc::clone(&self.section), caption: Arc::from(caption), line: row.line }
    }
}

impl Context {
    /// Notes what is wrong.
    pub(crate) fn issue(&mut self, level: Level, section: &str, line: u32, message: String) {
        let issues = &mut self.report.issues;
        if issues.len() < ISSUES_MAX {
            issues.push(Issue { level, line, section: section.to_owned(), message });
        }
    }

    fn unreadable(&mut self, sources: &Sources<'_, '_>, row: &Row<'_>, column: usize, error: &NotANumber) {
        let caption = sources.captions.get(column).map_or("", AsRef::as_ref);
        let name = row.cells.first().map_or("", |cell| cell.as_ref());
        let message = format!("{name} / {caption}: {error}");
        self.issue(level_of(error, self.report.form), &sources.section, row.line, message);
    }

    /// The number in a cell; an issue if there is something else.
    pub(crate) fn number(
        &mut self,
        sources: &Sources<'_, '_>,
        row: &Row<'_>,
        column: Option<usize>,
        suffix: Suffix,
    ) -> Option<Reading> {
        let column = column?;
        self.number_of(sources, row, column, row.cell(column), suffix)
    }

    /// The number in a part of a cell.
    pub(crate) fn number_of(
        &mut self,
        sources: &Sources<'_, '_>,
        row: &Row<'_>,
        column: usize,
        text: &str,
        suffix: Suffix,
    ) -> Option<Reading> {
        match number::number(text, suffix, self.decimal) {
            Ok(reading) => reading,
            Err(error) => {
                self.unreadable(sources, row, column, &error);
                None
            }
        }
    }

    /// The time in a cell, its unit in the cell or in the caption.
    pub(crate) fn time(
        &mut self,
        sources: &Sources<'_, '_>,
        row: &Row<'_>,
        column: Option<usize>,
        default: Option<TimeUnit>,
    ) -> Option<TimeReading> {
        let column = column?;
        let unit = sources.captions.get(column).and_then(|caption| TimeUnit::of_caption(caption)).or(default);
        match number::time(row.cell(column), unit, self.decimal) {
            Ok(reading) => reading,
            Err(error) => {
                self.unreadable(sources, row, column, &error);
                None
            }
        }
    }

    /// Keeps the number of a cell under a name; the first of a name stays.
    pub(crate) fn keep(
        &mut self,
        name: impl Into<String>,
        sources: &Sources<'_, '_>,
        row: &Row<'_>,
        column: Option<usize>,
        suffix: Suffix,
    ) {
        if let (Some(reading), Some(column)) = (self.number(sources, row, column, suffix), column) {
            self.put(name, reading, sources.source(row, column));
        }
    }

    /// Keeps a labelled value under a name.
    pub(crate) fn keep_labelled(
        &mut self,
        name: impl Into<String>,
        text: &str,
        suffix: Suffix,
        source: Source,
    ) {
        match number::number(text, suffix, self.decimal) {
            Ok(Some(reading)) => self.put(name, reading, source),
            Ok(None) => {}
            Err(error) => {
                let message = format!("{}: {error}", source.caption);
                self.issue(level_of(&error, self.report.form), &source.section, source.line, message);
            }
        }
    }

    /// Keeps a figure; the first of a name stays.
    pub(crate) fn put(&mut self, name: impl Into<String>, reading: Reading, source: Source) {
        self.report.figures.entry(name.into()).or_insert(Figure { reading, source });
    }

    /// Keeps a name or a time; blank ones are absent.
    pub(crate) fn word(
        &mut self,
        name: &'static str,
        sources: &Sources<'_, '_>,
        row: &Row<'_>,
        column: Option<usize>,
    ) {
        let Some(column) = column else { return };
        let text = row.cell(column).trim();
        if !number::is_absent(text) && !self.report.words.contains_key(name) {
            let word = Word { text: text.to_owned(), source: sources.source(row, column) };
            self.report.words.insert(name, word);
        }
    }
}
