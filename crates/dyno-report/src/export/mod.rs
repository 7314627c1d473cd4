//! Reports as bytes: one small file for each format.

mod csv;
mod html;
mod json;
mod markdown;
#[cfg(feature = "png")]
mod png;
mod sections;
mod series;
mod svg;
mod xlsx;

use std::io::{self, Write};

use crate::report::Report;
use crate::runs::RunsError;

pub use crate::request::Request;
pub(crate) use csv::field as csv_field;
pub use sections::{sections_csv, sections_markdown};
pub use series::SeriesCsv;
pub use xlsx::{Sheet, workbook};

/// A format: runs in, bytes out.
#[derive(Debug, Clone, Copy)]
pub struct Exporter {
    /// Its name, as options have it: `html`.
    pub name: &'static str,
    /// Whether the bytes are text that a terminal may show.
    pub is_text: bool,
    /// Writes the whole report; fails where a run cannot be read, the report cannot be written, or there is nothing to draw.
    pub export: fn(&Report<'_>, &Request, &mut dyn Write) -> Result<(), ExportError>,
}

/// Every format.
pub const EXPORTERS: &[Exporter] = &[
    Exporter { name: "html", is_text: true, export: html::export },
    Exporter { name: "md", is_text: true, export: markdown::export },
    Exporter { name: "csv", is_text: true, export: csv::export },
    Exporter { name: "json", is_text: true, export: json::export },
    Exporter { name: "xlsx", is_text: false, export: xlsx::export },
    Exporter { name: "svg", is_text: true, export: svg::export },
    #[cfg(feature = "png")]
    Exporter { name: "png", is_text: false, export: png::export },
];

/// A report that cannot be written in a format.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A run cannot be read, or the report cannot be written.
    #[error(transparent)]
    Runs(#[from] RunsError),
    /// No chart is named so.
    #[error("there is no chart {wanted:?} in this report; it has {}", listed(known))]
    NoSuchChart {
        /// What was asked for.
        wanted: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// The workbook cannot be written.
    #[error("the workbook cannot be written: {0}")]
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

fn listed(known: &[String]) -> String {
    if known.is_empty() { "none: no run has a result".into() } else { known.join(", ") }
}

/// The charts that were asked for.
fn wanted(report: &Report<'_>, request: &Request) -> Result<Vec<crate::chart::Chart>, ExportError> {
    let all = || report.all_charts().cloned();
    let charts: Vec<_> = match &request.chart {
        None => all().collect(),
        Some(name) => all().filter(|chart| chart.id == *name).collect(),
    };
    if charts.is_empty() {
        let known = all().map(|chart| chart.id).collect();
        let wanted = request.chart.clone().unwrap_or_else(|| "any".into());
        return Err(ExportError::NoSuchChart { wanted, known });
    }
    Ok(charts)
}

#[cfg(test)]
mod tests;
