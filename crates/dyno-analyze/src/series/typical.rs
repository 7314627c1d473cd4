//! Computes the usual value and spread of figures.

use super::{SeriesSample, middle, step};

/// A median absolute deviation times this is the standard deviation of a normal distribution.
const MAD_TO_SIGMA: f64 = 1.4826;

/// Smallest spread, as a share of the median: where almost all figures are equal, a tiny deviation
/// is no outlier.
const SPREAD_MIN: f64 = 0.05;

/// The usual value and spread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Usual {
    pub median: f64,
    /// Their robust standard deviation around the median.
    pub spread: f64,
    /// The unit of differences: the spread, and at least the last digit, a twentieth of the median,
    /// and the smallest relevant difference.
    pub sigma: f64,
}

impl Usual {
    /// Distance of `value` from the median, in robust standard deviations; negative below.
    pub fn score(&self, value: f64) -> f64 {
        if self.sigma > 0.0 { (value - self.median) / self.sigma } else { 0.0 }
    }
}

/// The usual value of `samples`. `weight` is the smallest relevant difference.
pub fn usual(samples: &[SeriesSample], weight: f64) -> Usual {
    let median = middle(samples.iter().map(|sample| sample.value));
    let spread = MAD_TO_SIGMA * middle(samples.iter().map(|sample| (sample.value - median).abs()));
    let sigma = spread.max(SPREAD_MIN * median.abs()).max(step(samples)).max(weight);
    Usual { median, spread, sigma }
}
