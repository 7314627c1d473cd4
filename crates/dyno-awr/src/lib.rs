//! Reads Oracle's own reports, AWR and STATSPACK, into one row of figures each.
//!
//! Reading has three steps. A file is split into reports (decoded, unpacked, separated). A report,
//! text or HTML, becomes a list of captioned tables. Readers, one for each kind of section, extract
//! figures from the tables by their captions. Every figure keeps its source and the place value of
//! its last digit. What a report lacks is absent, what cannot be read is an [`Issue`], and nothing
//! is guessed.

pub mod compat;
mod derive;
pub mod diff;
pub mod format;
mod html;
mod input;
mod issue;
mod json;
mod lines;
mod number;
mod offload;
mod read;
mod report;
pub mod row;
mod section_figures;
mod table;
mod text;
pub mod timeline;
mod timestamp;
pub mod top_lists;
mod unaccounted;

use std::path::Path;

pub use input::{FILE_BYTES_MAX, InputError};
pub use issue::{AwrIssueSeverity, Issue};
pub use json::{AwrJsonOptions, to_json};
pub use number::{Decimal, NotANumber, PrintedNumber, Suffix, TimeReading, TimeUnit};
pub use report::{
    AwrFigure, AwrHistogramBand, AwrInstance, AwrParameter, AwrReport, AwrReportKind, AwrSource,
    AwrStatement, AwrText, AwrWaitEvent, Container, DetailRow, EventHistogram, IoRow, Measurement, Segment,
    SegmentList, StatementList,
};
pub use row::{AwrOutputRow, AwrValue};
pub use section_figures::{SectionFigure, section_figures};
pub use table::AwrFormat;
pub use timestamp::parse_timestamp;

/// Why a report could not be read.
#[derive(Debug, thiserror::Error)]
pub enum AwrError {
    /// The file could not be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// It is an Oracle report that compares or explains, without figures of one interval.
    #[error(
        "it is {what} ({title:?}) and has no figures of one interval; read the AWR or STATSPACK report of that interval"
    )]
    OtherReport {
        /// The kind of report, with its article.
        what: &'static str,
        /// The report's title as printed.
        title: String,
    },
    /// Its snapshots lie before and after a restart of the instance.
    #[error(
        "its snapshots span a shutdown of the instance, so its figures are invalid; make one report before the shutdown and one after it"
    )]
    SpansShutdown,
    /// It is a page that OSPRep generates from STATSPACK's tables.
    #[error(
        "it is an OSPRep page, which has another layout; read the report that spreport.sql makes of its snapshots"
    )]
    OspRep,
    /// Lines of the page were truncated.
    #[error(
        "its lines were cut at {width} characters (line {line} first), so values are lost; spool it again with SET LINESIZE 8000"
    )]
    CutLines {
        /// Characters that remain of each line.
        width: usize,
        /// The first truncated line, from 1.
        line: u32,
    },
    /// The text has no title of a report.
    #[error("it has no title of an AWR or STATSPACK report")]
    NoReport,
}

/// Reads all reports of a file: text or HTML, plain or gzip-compressed, one or several.
///
/// # Errors
/// The file as a whole cannot be read. A report in it that cannot be read has its own error in the
/// list.
pub fn read_file(path: &Path) -> Result<Vec<Result<AwrReport, AwrError>>, AwrError> {
    let bytes = input::bytes(path)?;
    let text = input::decode(&bytes)?;
    let name = path.file_name().map_or_else(|| path.to_string_lossy(), |name| name.to_string_lossy());
    let parts = input::split(&text);
    let several = parts.len() > 1;
    let read = |(number, part): (u32, &input::ReportText<'_>)| {
        let mut report = read_report(part.text, &name, part.first_line)?;
        report.part = if several { number } else { 0 };
        Ok(report)
    };
    Ok((1..).zip(&parts).map(read).collect())
}

/// Whether a file holds a report, by the title near its start.
pub fn is_report(path: &Path) -> bool {
    let Ok(bytes) = input::start(path) else { return false };
    let Ok(text) = input::decode(&bytes) else { return false };
    let lines = text.split(['\n', '\r', '>']);
    lines.map(|line| line.trim_start_matches('\u{c}')).any(table::is_report_title)
}

/// Reads one report. `file` is the name shown for the report, `first_line` the line on which its
/// text begins.
///
/// # Errors
/// The text has no title of an AWR or STATSPACK report.
pub fn read_report(text: &str, file: &str, first_line: u32) -> Result<AwrReport, AwrError> {
    let text = &*input::expand_tabs(text);
    let is_html = is_html(text);
    let text =
        &*if is_html { input::rejoin(text).map_err(|cut| cut_lines(cut, first_line))? } else { text.into() };
    let page = is_html.then(|| html::read(text, first_line, read::is_read));
    // A text report may be embedded in a page unchanged.
    let may_be_plain = page.as_ref().is_some_and(|page| page.names_report);
    let plain = may_be_plain.then(|| html::plain(text, table::is_interval_title)).flatten();
    let document = match (page, &plain) {
        (_, Some(plain)) => text::read(plain, first_line),
        // A page without tables is text that happens to contain tags.
        (Some(page), None) if !page.tables.is_empty() => page,
        (_, None) => text::read(text, first_line),
    };
    if spans_shutdown(text) {
        return Err(AwrError::SpansShutdown);
    }
    let Some(kind) = read::kind_of(&document) else {
        let other = || html::plain(text, table::is_report_title).map(|plain| text::read(&plain, 1).title);
        let title = Some(document.title).filter(|title| !title.is_empty() || !is_html);
        let title = title.or_else(other).unwrap_or_default();
        let title = title.trim();
        return Err(if title.is_empty() {
            AwrError::NoReport
        } else {
            let report_kind = table::other_report(title).unwrap_or("a report of another kind");
            AwrError::OtherReport { what: report_kind, title: title.to_owned() }
        });
    };
    if is_html
        && kind == AwrReportKind::Statspack
        && memchr::memmem::find(text.as_bytes(), b"OSPRep").is_some()
    {
        return Err(AwrError::OspRep);
    }
    let mut report = read::read(&document, file, kind);
    derive::derive(&mut report, document.ended && !document.cut);
    Ok(report)
}

/// Whether STATSPACK or AWR states above the title that the instance was shut down between the
/// snapshots.
fn spans_shutdown(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).take_while(|line| !table::is_interval_title(line));
    lines.any(|line| line.starts_with("ERROR: Snapshots chosen span an instance shutdown"))
}

fn cut_lines(cut: input::CutLines, first_line: u32) -> AwrError {
    let line = first_line.saturating_add(u32::try_from(cut.line).unwrap_or(u32::MAX));
    AwrError::CutLines { width: cut.width, line }
}

/// Number of cells in the tables of a report, for measuring the cost of reading without extracting
/// figures.
#[doc(hidden)]
pub fn cells(text: &str) -> usize {
    let document = if is_html(text) { html::read(text, 1, read::is_read) } else { text::read(text, 1) };
    document.tables.iter().flat_map(|table| &table.rows).map(|row| row.cells.len()).sum()
}

/// Bytes of a text in which the first tag is searched.
const HTML_START_MAX: usize = 65_536;

/// Whether a text is HTML: every HTML report has a tag near its start, before its title. Statements
/// may contain tags.
fn is_html(text: &str) -> bool {
    let end = (0..=HTML_START_MAX.min(text.len())).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    let start = &text[..end];
    // The dialog of a transcript names the repository too, but not at the start of a line.
    let mut lines = start.split_inclusive('\n');
    let title = lines.find(|line| table::is_interval_title(line));
    let title_at = title.map_or(start.len(), |line| line.as_ptr() as usize - start.as_ptr() as usize);
    let before = start[..title_at].to_ascii_lowercase();
    ["<html", "<table", "<body", "<pre", "<h1", "<!doctype html"].iter().any(|tag| before.contains(tag))
}
