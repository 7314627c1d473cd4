//! Charts as one PNG file, on white.

use std::io::Write;

use super::{ExportError, Request, wanted};
use crate::report::Report;

pub(super) fn export(report: &Report<'_>, request: &Request, out: &mut dyn Write) -> Result<(), ExportError> {
    Ok(out.write_all(&crate::chart::png::png(&wanted(report, request)?)?)?)
}
