//! What is usual among figures.

use super::{Sample, middle, step};

/// A median absolute deviation times this is the standard deviation of a normal distribution.
const MAD_TO_SIGMA: f64 = 1.4826;

/// Least spread that counts, as a share of the median: where almost all figures are equal, a hair's breadth is not odd.
const SPREAD_MIN: f64 = 0.05;

/// What is usual among figures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Usual {
    /// Their middle.
    pub median: f64,
    /// How far they lie around it: their robust standard deviation.
    pub spread: f64,
    /// What a difference is measured by: the spread, and at least the last digit, a twentieth of the median, and what is of
    /// any weight.
    pub sigma: f64,
}

impl Usual {
    /// How far `value` is from the median, in robust standard deviations; negative below.
    pub fn score(&self, value: f64) -> f64 {
        if self.sigma > 0.0 { (value - self.median) / self.sigma } else { 0.0 }
    }
}

/// What is usual among `samples`. `weight` is the least difference of any weight.
pub fn usual(samples: &[Sample], weight: f64) -> Usual {
    let median = middle(samples.iter().map(|sample| sample.value));
    let spread = MAD_TO_SIGMA * middle(samples.iter().map(|sample| (sample.value - median).abs()));
    let sigma = spread.max(SPREAD_MIN * median.abs()).max(step(samples)).max(weight);
    Usual { median, spread, sigma }
}
