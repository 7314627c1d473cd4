//! Writes charts as one PNG file on white.

use std::io::Write;

use super::{ExportError, requested_charts};
use crate::content::report::Report;
use crate::model::request::ReportRequest;

pub(super) fn export(
    report: &Report<'_>,
    request: &ReportRequest,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    Ok(out.write_all(&crate::chart::png::png(&requested_charts(report, request)?)?)?)
}
