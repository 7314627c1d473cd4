//! Charts as one SVG file, in the reader's preferred light or dark.

use std::io::Write;

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

    fn export(&self, report: &Report<'_>, request: &Request, out: &mut dyn Write) -> Result<(), ExportError> {
        Ok(out.write_all(sheet(&wanted(report, request)?, Look::Alone).as_bytes())?)
    }
}
