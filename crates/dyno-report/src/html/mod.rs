//! A report as one HTML file that needs nothing else.
//!
//! It works from a mail attachment: nothing is fetched (a content security policy forbids it), and with scripts blocked
//! every chart and table is still there. The one script only adds comfort, and the policy names it by its hash, so that no
//! other could run even if one got in.

mod closely;
mod grid;
mod page;
mod pages;
mod platform;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use dyno_record::RecordError;
use sha2::{Digest as _, Sha256};

use crate::chart::palette::{DARK, LIGHT, page_rules, variables};
use crate::report::Report;

pub use pages::{Section, pages};

const SCRIPT: &str = include_str!("script.js");
const STYLE: &str = include_str!("style.css");

/// The page. `made_at` is when, as it is shown.
///
/// # Errors
/// A record cannot be written as JSON.
pub fn html(report: &Report<'_>, made_at: &str) -> Result<String, RecordError> {
    let embedded = crate::embedded::element(report.records, &report.conclusions)?;
    Ok(page::page(report, made_at, &embedded).into_string())
}

/// The style sheet with both appearances.
fn style() -> String {
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
