//! Figures in the order of time, whoever made them: the levels that they keep, what is odd within a level, and what
//! moves together.
//!
//! A figure on paper has a last digit, so every [`Sample`] carries what that is worth; what differs by no more than the
//! last digits leave open is neither a level nor odd.

pub mod levels;
pub mod odd;
pub mod rank;
mod usual;

pub use levels::{Level, levels};
pub use odd::{Odd, odd};
pub use rank::{Correlation, correlation};
pub use usual::{Usual, usual};

/// One figure and what one more in its last printed digit would add; 0 where it is exact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// The figure.
    pub value: f64,
    /// The worth of its last digit.
    pub step: f64,
}

impl Sample {
    /// A figure that is exact.
    pub fn exact(value: f64) -> Self {
        Self { value, step: 0.0 }
    }
}

/// The middle of the values; 0 of none.
pub(crate) fn middle(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    if values.is_empty() { 0.0 } else { crate::compare::ratio::median(&mut values) }
}

/// The largest worth of a last digit.
pub(crate) fn step(samples: &[Sample]) -> f64 {
    samples.iter().map(|sample| sample.step).fold(0.0, f64::max)
}
