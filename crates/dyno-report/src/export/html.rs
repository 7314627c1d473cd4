//! Writes one self-contained HTML file.

use std::io::Write;

use super::{ExportError, ReportRequest};
use crate::report::Report;

pub(super) fn export(
    report: &Report<'_>,
    request: &ReportRequest,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    Ok(crate::html::html_for(report, request, out)?)
}
