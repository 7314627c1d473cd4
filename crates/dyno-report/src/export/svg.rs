//! Charts as one SVG file, in the reader's preferred light or dark.

use std::io::Write;

use super::{ExportError, Request, wanted};
use crate::chart::sheet::sheet;
use crate::chart::svg::Look;
use crate::report::Report;

pub(super) fn export(report: &Report<'_>, request: &Request, out: &mut dyn Write) -> Result<(), ExportError> {
    Ok(out.write_all(sheet(&wanted(report, request)?, Look::Alone).as_bytes())?)
}
