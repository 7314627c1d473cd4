//! Charts: one model, drawn as static SVG, as text for a terminal, and as PNG.
//!
//! A [`Chart`] says what is shown, in which units and how it is to be read; nothing in it knows how it is drawn. The
//! drawings keep what a picture of measurements owes its reader: units on both axes, labels that never overlap, a legend
//! that never lies over data, colours that colour-blind readers tell apart and, beside colour, a marker and a dash of
//! each series' own.

mod downsample;
pub(crate) mod measure;
mod model;
pub mod palette;
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
pub use model::{Axis, Category, Chart, Kind, Mark, MarkAt, Point, ScaleKind, Series};
pub use quantity::Quantity;
