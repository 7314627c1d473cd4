//! Reports as bytes: one small file for each format.

mod csv;
mod html;
mod json;
mod markdown;
#[cfg(feature = "png")]
mod png;
mod series;
mod svg;

use std::io::{self, Write};

use crate::report::Report;
use crate::runs::RunsError;

pub use series::SeriesCsv;

/// Runs in, bytes out.
pub trait Exporter: std::fmt::Debug {
    /// The format's name, as options have it: `html`.
    fn name(&self) -> &'static str;
    /// Whether the bytes are text that a terminal may show.
    fn is_text(&self) -> bool {
        true
    }
    /// Writes the whole report in this format.
    ///
    /// # Errors
    /// A run cannot be read, the report cannot be written, or there is nothing to draw.
    fn export(&self, report: &Report<'_>, request: &Request, out: &mut dyn Write) -> Result<(), ExportError>;
}

/// What a format may have to know beside the report.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// When the report is made, as it is shown.
    pub made_at: String,
    /// The one chart that is wanted, for pictures; all of them where there is none.
    pub chart: Option<String>,
}

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

/// Every format.
pub fn exporters() -> Vec<Box<dyn Exporter>> {
    vec![
        Box::new(html::Html),
        Box::new(markdown::Markdown),
        Box::new(csv::Csv),
        Box::new(json::Json),
        Box::new(svg::Svg),
        #[cfg(feature = "png")]
        Box::new(png::Png),
    ]
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
