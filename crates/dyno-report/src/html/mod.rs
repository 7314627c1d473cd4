//! A report as one HTML file that needs nothing else.
//!
//! It works from a mail attachment: nothing is fetched (a content security policy forbids it), and with scripts blocked
//! every chart and table is still there. The one script only adds comfort, and the policy names it by its hash, so that no
//! other could run even if one got in.

mod around;
mod charts;
mod closely;
mod flame;
mod grid;
mod page;
mod pages;
mod platform;
mod sheets;
mod suite;
mod summary;

use std::io::Write;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use sha2::{Digest as _, Sha256};

use crate::chart::palette::{DARK, LIGHT, page_rules, variables};
use crate::report::Report;
use crate::request::Request;
use crate::run_rows;
use crate::runs::RunsError;

pub use pages::{Section, pages, pages_in, pages_with_sheets};
pub use sheets::{Part, Picture, Sheets};

/// The script of every page.
pub const SCRIPT: &str = include_str!("script.js");
const STYLE: &str = include_str!("style.css");

/// Writes the page. `made_at` is when, as it is shown. Rows and records of the runs are written one after the other, into the
/// holes that the page has for them.
///
/// # Errors
/// A run cannot be read, or the page cannot be written.
pub fn html(report: &Report<'_>, made_at: &str, out: &mut dyn Write) -> Result<(), RunsError> {
    html_for(report, &Request { made_at: made_at.to_owned(), ..Request::default() }, out)
}

/// The same with a title and an author.
///
/// # Errors
/// As for [`html`].
pub fn html_for(report: &Report<'_>, request: &Request, out: &mut dyn Write) -> Result<(), RunsError> {
    html_in(None, report, request, out)
}

/// The same for a server, whose `frame` is around it; without one it is [`html_for`].
///
/// # Errors
/// As for [`html`].
pub fn html_in(
    frame: Option<&Frame>,
    report: &Report<'_>,
    request: &Request,
    out: &mut dyn Write,
) -> Result<(), RunsError> {
    let component = report.component();
    if let Some(page) = component.and_then(|record| crate::calibration_page(frame, record, &request.made_at))
    {
        return Ok(out.write_all(page.as_bytes())?);
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
    // A server has the records itself.
    if frame.is_none() {
        crate::embedded::write(report, out)?;
    }
    Ok(out.write_all(part())?)
}

/// What a server puts around a page. Its style and script are then files of the server's, [`style`] and [`SCRIPT`], and the
/// policy is the server's, too.
#[derive(Debug, Clone, Default)]
pub struct Frame {
    /// Markup at the end of the head.
    pub head: String,
    /// Markup that the body begins with.
    pub top: String,
}

/// Stands where rows and records go; no text of a page has such a character.
const HOLE: char = '\0';

/// The style sheet with both appearances.
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

/// What the browser is allowed: this script, this style, and nothing from anywhere.
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
