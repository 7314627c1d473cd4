//! Extracts values from tables for the section readers, with their source, and with an issue where
//! they cannot be read.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::distributions::Histograms;
use super::key::AwrParameterKey;
use crate::issue::{AwrIssueSeverity, Issue};
use crate::number::{self, Decimal, NotANumber, PrintedNumber, Suffix, TimeReading, TimeUnit};
use crate::report::{AwrFigure, AwrReport, AwrSource, AwrText};
use crate::table::{AwrFormat, AwrTable, AwrTableRow};

/// Most issues of one report that are kept; a corrupt file has one in every line.
const ISSUES_MAX: usize = 1_000;

/// A value that was never printed, or that a text column truncated, is only a warning: no program
/// could read it. A printed value that cannot be read is an error of this program.
fn level_of(error: &NotANumber, form: AwrFormat) -> AwrIssueSeverity {
    if error.overflow || (error.cut && form == AwrFormat::Text) {
        AwrIssueSeverity::Warning
    } else {
        AwrIssueSeverity::Error
    }
}

/// A report being filled, and the state that all its sections share.
pub(crate) struct Context {
    pub(crate) report: AwrReport,
    pub(crate) decimal: Decimal,
    pub(crate) histograms: Histograms,
    /// Parameters whose values were listed one by one.
    pub(crate) listed_parameters: BTreeSet<AwrParameterKey>,
}

/// A table with the parts that the sources of its values share.
pub(crate) struct Sources<'t, 'a> {
    pub(crate) table: &'t AwrTable<'a>,
    section: Arc<str>,
    captions: Vec<Arc<str>>,
}

impl<'t, 'a> Sources<'t, 'a> {
    pub(crate) fn new(table: &'t AwrTable<'a>) -> Self {
        let section = Arc::from(table.title.as_ref());
        let captions = table.columns.iter().map(|caption| Arc::from(caption.as_str())).collect();
        Self { table, section, captions }
    }

    /// The source of a cell.
    pub(crate) fn source(&self, row: &AwrTableRow<'_>, column: usize) -> AwrSource {
        let caption = self.captions.get(column).cloned().unwrap_or_else(|| Arc::from(""));
        AwrSource { section: Arc::clone(&self.section), caption, line: row.line }
    }

    /// The source of a labeled value.
    pub(crate) fn labelled(&self, row: &AwrTableRow<'_>, label: &str, column: &str) -> AwrSource {
        let label = label.trim_end_matches(':').trim();
        let caption = if column.is_empty() { label.to_owned() } else { format!("{label} / {column}") };
        AwrSource { section: Arc::clone(&self.section), caption: Arc::from(caption), line: row.line }
    }
}

impl Context {
    /// Adds an issue to the report.
    pub(crate) fn issue(&mut self, level: AwrIssueSeverity, section: &str, line: u32, message: String) {
        let issues = &mut self.report.issues;
        if issues.len() < ISSUES_MAX {
            issues.push(Issue { level, line, section: section.to_owned(), message });
        }
    }

    fn unreadable(
        &mut self,
        sources: &Sources<'_, '_>,
        row: &AwrTableRow<'_>,
        column: usize,
        error: &NotANumber,
    ) {
        let caption = sources.captions.get(column).map_or("", AsRef::as_ref);
        let name = row.cells.first().map_or("", |cell| cell.as_ref());
        let message = format!("{name} / {caption}: {error}");
        self.issue(level_of(error, self.report.form), &sources.section, row.line, message);
    }

    /// The number in a cell; adds an issue if the cell has something else.
    pub(crate) fn number(
        &mut self,
        sources: &Sources<'_, '_>,
        row: &AwrTableRow<'_>,
        column: Option<usize>,
        suffix: Suffix,
    ) -> Option<PrintedNumber> {
        let column = column?;
        self.number_of(sources, row, column, row.cell(column), suffix)
    }

    /// The number in a part of a cell.
    pub(crate) fn number_of(
        &mut self,
        sources: &Sources<'_, '_>,
        row: &AwrTableRow<'_>,
        column: usize,
        text: &str,
        suffix: Suffix,
    ) -> Option<PrintedNumber> {
        match number::number(text, suffix, self.decimal) {
            Ok(reading) => reading,
            Err(error) => {
                self.unreadable(sources, row, column, &error);
                None
            }
        }
    }

    /// The time in a cell, with the unit from the cell or the caption.
    pub(crate) fn time(
        &mut self,
        sources: &Sources<'_, '_>,
        row: &AwrTableRow<'_>,
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

    /// Stores the number of a cell by name; the first with a name is kept.
    pub(crate) fn keep(
        &mut self,
        name: impl Into<String>,
        sources: &Sources<'_, '_>,
        row: &AwrTableRow<'_>,
        column: Option<usize>,
        suffix: Suffix,
    ) {
        if let (Some(reading), Some(column)) = (self.number(sources, row, column, suffix), column) {
            self.put(name, reading, sources.source(row, column));
        }
    }

    /// Stores a labeled value by name.
    pub(crate) fn keep_labelled(
        &mut self,
        name: impl Into<String>,
        text: &str,
        suffix: Suffix,
        source: AwrSource,
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

    /// Stores a figure; the first with a name is kept.
    pub(crate) fn put(&mut self, name: impl Into<String>, reading: PrintedNumber, source: AwrSource) {
        self.report.figures.entry(name.into()).or_insert(AwrFigure { reading, source });
    }

    /// Stores a name or a time; blank ones are absent.
    pub(crate) fn word(
        &mut self,
        name: &'static str,
        sources: &Sources<'_, '_>,
        row: &AwrTableRow<'_>,
        column: Option<usize>,
    ) {
        let Some(column) = column else { return };
        let text = row.cell(column).trim();
        if !number::is_absent(text) && !self.report.words.contains_key(name) {
            let word = AwrText { text: text.to_owned(), source: sources.source(row, column) };
            self.report.words.insert(name, word);
        }
    }
}
