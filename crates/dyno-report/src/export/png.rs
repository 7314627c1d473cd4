//! Writes charts as one PNG file on white.

use std::io::Write;

use super::{ExportError, ReportRequest, requested_charts};
use crate::report::Report;

pub(super) fn export(
    report: &Report<'_>,
    request: &ReportRequest,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    Ok(out.write_all(&crate::chart::png::png(&requested_charts(report, request)?)?)?)
}
