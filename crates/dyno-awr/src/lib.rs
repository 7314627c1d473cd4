//! Oracle's own reports, AWR and STATSPACK, read into one row of figures each.
//!
//! Reading has three steps. A file becomes reports (decoded, unpacked, cut apart where several were put together); a
//! report, text or HTML, becomes a list of captioned tables; and readers, one for each kind of section, take figures out
//! of tables by their captions. Every figure keeps where it stood and what its last digit is worth. What a report does
//! not have is absent, what cannot be read is an [`Issue`], and nothing is ever guessed.

mod html;
mod issue;
mod json;
mod lines;
mod moment;
mod number;
mod read;
mod report;
mod table;
mod text;

pub use issue::{Issue, Level};
pub use json::to_json;
pub use moment::moment;
pub use number::{Decimal, NotANumber, Reading, Suffix, TimeReading, TimeUnit};
pub use report::{
    Band, Container, Event, EventHistogram, Figure, Instance, IoRow, Kind, Parameter, Report, Segment,
    SegmentList, Source, Statement, StatementList, Word,
};
pub use table::Form;

/// A text that is no report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it has no title of an AWR or STATSPACK report")]
pub struct NoReport;

/// Reads one report. `file` is the name that the report goes by, `first_line` the line that its text begins on.
///
/// # Errors
/// The text has no title of an AWR or STATSPACK report.
pub fn read_report(text: &str, file: &str, first_line: u32) -> Result<Report, NoReport> {
    let document = match is_html(text) {
        true => html::read(text, first_line),
        false => text::read(text, first_line),
    };
    let kind = read::kind_of(&document).ok_or(NoReport)?;
    Ok(read::read(&document, file, kind))
}

/// How far into a text the first tag is looked for.
const HTML_START_MAX: usize = 65_536;

/// Whether a text is HTML: a tag that every HTML report has near its start.
fn is_html(text: &str) -> bool {
    let end = (0..=HTML_START_MAX.min(text.len())).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    let start = text[..end].to_ascii_lowercase();
    ["<html", "<table", "<body", "<!doctype html"].iter().any(|tag| start.contains(tag))
}
