//! Analyzes figures over time from any source: their levels, outliers within a level, and figures
//! that change together.
//!
//! A printed figure has a last digit, so every [`SeriesSample`] carries its place value. Differences
//! within the rounding of the last digits are neither a level nor an outlier.

pub mod levels;
pub mod outliers;
pub mod rank;
mod typical;

pub use levels::{SeriesLevel, levels};
pub use outliers::{SeriesOutlier, find_outliers};
pub use rank::{Correlation, correlation};
pub use typical::{Usual, usual};

/// One figure and the place value of its last printed digit; 0 where it is exact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeriesSample {
    pub value: f64,
    /// The place value of its last digit.
    pub step: f64,
}

impl SeriesSample {
    /// A figure that is exact, with a step of 0.
    pub fn exact(value: f64) -> Self {
        Self { value, step: 0.0 }
    }
}

/// The median of the values; 0 without values.
pub(crate) fn middle(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    if values.is_empty() { 0.0 } else { crate::compare::ratio::median(&mut values) }
}

/// The largest place value of a last digit.
pub(crate) fn step(samples: &[SeriesSample]) -> f64 {
    samples.iter().map(|sample| sample.step).fold(0.0, f64::max)
}
