//! Renders charts as PNG from their SVG.

use std::sync::Arc;

use resvg::{tiny_skia, usvg};

use super::model::Chart;
use super::palette::LIGHT;
use super::sheet::sheet;
use super::svg::SvgPlacement;

/// Pixels per unit of the picture: sharp on screens of twice the usual density, and in print.
const SCALE: f32 = 2.0;

/// Errors of rendering charts as PNG.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// Without a font, charts would have no text.
    #[error("no font for the labels found on this machine: install one (fonts-dejavu-core), or export SVG")]
    NoFont,
    /// The report contains no chart.
    #[error("no chart to draw")]
    NoChart,
    #[error("cannot draw the chart: {0}")]
    Draw(String),
}

/// Renders the charts as one PNG on white.
///
/// # Errors
/// There is no chart, the machine has no font, or the picture is too large to draw.
pub fn png(charts: &[Chart]) -> Result<Vec<u8>, PngError> {
    if charts.is_empty() {
        return Err(PngError::NoChart);
    }
    let mut fonts = usvg::fontdb::Database::new();
    fonts.load_system_fonts();
    let family = ["DejaVu Sans", "Liberation Sans", "Noto Sans", "Arial"];
    let has = |fonts: &usvg::fontdb::Database, name: &str| {
        fonts.faces().any(|face| face.families.iter().any(|(family, _)| family == name))
    };
    let chosen = family.into_iter().find(|name| has(&fonts, name)).map(str::to_owned);
    let fallback_family =
        || fonts.faces().next().and_then(|face| face.families.first().map(|(name, _)| name.clone()));
    let chosen = chosen.or_else(fallback_family).ok_or(PngError::NoFont)?;
    fonts.set_sans_serif_family(chosen);
    let options = usvg::Options { fontdb: Arc::new(fonts), ..usvg::Options::default() };
    let failed = |error: &dyn std::fmt::Display| PngError::Draw(error.to_string());
    let tree = usvg::Tree::from_str(&sheet(charts, SvgPlacement::Fixed(&LIGHT)), &options)
        .map_err(|e| failed(&e))?;
    let size = tree.size();
    let (width, height) = ((size.width() * SCALE).ceil() as u32, (size.height() * SCALE).ceil() as u32);
    let mut pixels = tiny_skia::Pixmap::new(width, height).ok_or_else(|| failed(&"it is too large"))?;
    resvg::render(&tree, tiny_skia::Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().map_err(|e| failed(&e))
}
