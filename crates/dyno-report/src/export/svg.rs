//! Charts as one SVG file, in the reader's preferred light or dark.

use super::{ExportError, Exporter, Request, wanted};
use crate::chart::sheet::sheet;
use crate::chart::svg::Look;
use crate::report::Report;

#[derive(Debug)]
pub(super) struct Svg;

impl Exporter for Svg {
    fn name(&self) -> &'static str {
        "svg"
    }

    fn export(&self, report: &Report<'_>, request: &Request) -> Result<Vec<u8>, ExportError> {
        Ok(sheet(&wanted(report, request)?, Look::Alone).into_bytes())
    }
}
