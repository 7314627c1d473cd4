//! Charts: one model, drawn as static SVG, as text for a terminal, and as PNG.
//!
//! A [`Chart`] states what is shown, in which units and how to read it; it does not know how it is drawn.
//! Every drawing has units on both axes, labels that never overlap, and a legend that never covers data.
//! Color-blind readers can distinguish the colors, and each series also has its own marker and dash.

pub mod bars;
mod downsample;
pub(crate) mod measure;
mod model;
pub mod palette;
pub mod plot;
#[cfg(feature = "png")]
pub mod png;
mod quantity;
mod scale;
pub mod sheet;
pub mod svg;
pub(crate) mod table;
pub mod terminal;
mod ticks;

pub use downsample::{mean_of_chunks, spread_kept};
pub use model::{
    Category, Chart, ChartAxis, ChartMark, ChartPoint, ChartSeries, MarkAt, ScaleKind, SeriesKind,
};
pub use quantity::Quantity;
