//! Charts as one PNG file, on white.

use std::io::Write;

use super::{ExportError, Exporter, Request, wanted};
use crate::report::Report;

#[derive(Debug)]
pub(super) struct Png;

impl Exporter for Png {
    fn name(&self) -> &'static str {
        "png"
    }

    fn is_text(&self) -> bool {
        false
    }

    fn export(&self, report: &Report<'_>, request: &Request, out: &mut dyn Write) -> Result<(), ExportError> {
        Ok(out.write_all(&crate::chart::png::png(&wanted(report, request)?)?)?)
    }
}
