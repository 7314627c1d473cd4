//! One self-contained HTML file.

use std::io::Write;

use super::{ExportError, Exporter, Request};
use crate::report::Report;

#[derive(Debug)]
pub(super) struct Html;

impl Exporter for Html {
    fn name(&self) -> &'static str {
        "html"
    }

    fn export(&self, report: &Report<'_>, request: &Request, out: &mut dyn Write) -> Result<(), ExportError> {
        Ok(crate::html::html(report, &request.made_at, out)?)
    }
}
