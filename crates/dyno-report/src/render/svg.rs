//! Writes charts as one SVG file that follows the reader's light or dark preference.

use std::io::Write;

use super::{ExportError, requested_charts};
use crate::chart::sheet::sheet;
use crate::chart::svg::SvgPlacement;
use crate::content::report::Report;
use crate::model::request::ReportRequest;

pub(super) fn export(
    report: &Report<'_>,
    request: &ReportRequest,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    Ok(out.write_all(sheet(&requested_charts(report, request)?, SvgPlacement::Alone).as_bytes())?)
}
