//! Writes a report as one self-contained HTML file.
//!
//! It works as a mail attachment: it loads nothing (a content security policy forbids it), and without
//! scripts every chart and table is still present. The only script adds convenience. The policy contains its
//! hash, so that no injected script can run.

mod charts;
mod flame;
mod grid;
mod head;
mod page;
mod page_frame;
mod pages;
mod platform;
mod prose;
mod run_details;
mod sheets;
mod suite;
mod summary;

use std::io::Write;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use sha2::{Digest as _, Sha256};

use super::ExportError;
use crate::chart::palette::{DARK, LIGHT, page_rules, variables};
use crate::content::calibration::calibration_document;
use crate::content::report::Report;
use crate::content::run_rows;
use crate::content::runs::RunsError;
use crate::model::request::ReportRequest;

pub use pages::{document_page, pages, pages_in, pages_with_sheets};

/// The script of every page.
pub const SCRIPT: &str = include_str!("script.js");
const STYLE: &str = include_str!("style.css");

/// Writes the page. `made_at` is the time of creation as shown. Rows and records of the runs are written one
/// after the other into placeholders of the page.
///
/// # Errors
/// A run cannot be read, or the page cannot be written.
pub fn html(report: &Report<'_>, made_at: &str, out: &mut dyn Write) -> Result<(), RunsError> {
    html_for(report, &ReportRequest { made_at: made_at.to_owned(), ..ReportRequest::default() }, out)
}

/// Writes the page with a title and an author.
///
/// # Errors
/// As for [`html`].
pub fn html_for(report: &Report<'_>, request: &ReportRequest, out: &mut dyn Write) -> Result<(), RunsError> {
    html_in(None, report, request, out)
}

/// Writes the page for a server inside its `frame`; without a frame it is [`html_for`].
///
/// # Errors
/// As for [`html`].
pub fn html_in(
    frame: Option<&PageFrame>,
    report: &Report<'_>,
    request: &ReportRequest,
    out: &mut dyn Write,
) -> Result<(), RunsError> {
    let component = report.component();
    if let Some(page) = component.and_then(|record| calibration_document(record, &request.made_at)) {
        return Ok(out.write_all(document_page(frame, &page).as_bytes())?);
    }
    let page = page::page(frame, report, request).into_string();
    let mut parts = page.split(HOLE);
    let mut part = || parts.next().unwrap_or_default().as_bytes();
    out.write_all(part())?;
    let heads = run_rows::heads();
    report.each(|record| {
        let (name, cells) = run_rows::row(record);
        Ok(out.write_all(grid::row(&heads, &name, &cells).into_string().as_bytes())?)
    })?;
    out.write_all(part())?;
    // The server has the records itself.
    if frame.is_none() {
        crate::render::embedded::write(report, out)?;
    }
    Ok(out.write_all(part())?)
}

pub(super) fn export(
    report: &Report<'_>,
    request: &ReportRequest,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    Ok(html_for(report, request, out)?)
}

/// The head of a report's page, for another page: the answer, its main figures, the main chart and the next steps.
pub fn answer_section(report: &Report<'_>) -> String {
    page::answer_section(report, &report.answer()).into_string()
}

/// What a server adds around a page. Style and script are then the server's files [`style`] and [`SCRIPT`],
/// and the policy is the server's, too.
#[derive(Debug, Clone, Default)]
pub struct PageFrame {
    /// Markup at the end of the head.
    pub head: String,
    /// Markup at the start of the body.
    pub top: String,
}

/// Placeholder for rows and records; no text of a page contains this character.
const HOLE: char = '\0';

/// The style sheet with both appearances, light and dark.
pub fn style() -> String {
    let (light, dark) = (variables(&LIGHT), variables(&DARK));
    format!(
        ":root{{color-scheme:light dark;{light}}}\
         @media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\
         @media screen{{:root[data-theme=dark]{{color-scheme:dark;{dark}}}:root[data-theme=light]{{color-scheme:light}}}}\n\
         {}\n{STYLE}",
        page_rules()
    )
}

/// The content security policy: this script, this style, and no external resources.
fn policy(style: &str) -> String {
    let hash = |text: &str| BASE64.encode(Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        hash(SCRIPT),
        hash(style)
    )
}

#[cfg(test)]
mod tests;
