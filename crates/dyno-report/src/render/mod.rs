//! Renders documents, tables and reports; each format has a file.

mod csv;
pub mod embedded;
pub mod html;
mod json;
mod markdown;
#[cfg(feature = "png")]
mod png;
mod sections;
mod series;
mod study_csv;
mod svg;
mod terminal;
mod xlsx;
mod xlsx_chart;

use std::io::{self, Write};

use crate::content::report::Report;
use crate::content::runs::RunsError;

use crate::model::request::ReportRequest;
pub use sections::{document_markdown, sections_csv, sections_markdown, sections_text};
pub use series::SeriesCsv;
pub use study_csv::study_csv;
pub use xlsx::{WorkbookSheet, workbook};

/// An output format: it writes a report's runs as bytes.
#[derive(Debug, Clone, Copy)]
pub struct ReportExporter {
    /// Name of the format as options use it: `html`.
    pub name: &'static str,
    /// Whether the output is text that a terminal may show.
    pub is_text: bool,
    /// Writes the whole report. Fails if a run cannot be read, the report cannot be written, or there is
    /// nothing to draw.
    pub export: fn(&Report<'_>, &ReportRequest, &mut dyn Write) -> Result<(), ExportError>,
}

pub const EXPORTERS: &[ReportExporter] = &[
    ReportExporter { name: "html", is_text: true, export: html::export },
    ReportExporter { name: "md", is_text: true, export: markdown::export },
    ReportExporter { name: "csv", is_text: true, export: csv::export },
    ReportExporter { name: "json", is_text: true, export: json::export },
    ReportExporter { name: "xlsx", is_text: false, export: xlsx::export },
    ReportExporter { name: "svg", is_text: true, export: svg::export },
    #[cfg(feature = "png")]
    ReportExporter { name: "png", is_text: false, export: png::export },
];

/// Errors of writing a report in a format.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A run cannot be read, or the report cannot be written.
    #[error(transparent)]
    Runs(#[from] RunsError),
    /// The report has no chart with this name.
    #[error("no chart {wanted:?} in this report; it has {}", listed_names(known))]
    NoSuchChart { wanted: String, known: Vec<String> },
    /// The workbook cannot be written.
    #[error("cannot write the workbook: {0}")]
    Workbook(#[from] rust_xlsxwriter::XlsxError),
    /// The picture cannot be drawn.
    #[cfg(feature = "png")]
    #[error(transparent)]
    Png(#[from] crate::chart::png::PngError),
}

impl From<io::Error> for ExportError {
    fn from(error: io::Error) -> Self {
        RunsError::from(error).into()
    }
}

fn listed_names(names: &[String]) -> String {
    if names.is_empty() { "none: no run has a result".into() } else { names.join(", ") }
}

fn requested_charts(
    report: &Report<'_>,
    request: &ReportRequest,
) -> Result<Vec<crate::chart::Chart>, ExportError> {
    let all = || report.all_charts().cloned();
    let charts: Vec<_> = match &request.chart {
        None => all().collect(),
        Some(name) => all().filter(|chart| chart.id == *name).collect(),
    };
    if charts.is_empty() {
        let chart_ids = all().map(|chart| chart.id).collect();
        let wanted = request.chart.clone().unwrap_or_else(|| "any".into());
        return Err(ExportError::NoSuchChart { wanted, known: chart_ids });
    }
    Ok(charts)
}

#[cfg(test)]
mod tests;
