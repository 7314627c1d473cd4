//! How sure a fit is: intervals by resampling its residuals.
//!
//! The loads of a ramp are chosen, not drawn, and few; drawing points anew would often leave out the only one beyond
//! the peak. So the fit stays, and what is drawn are its residuals (Efron and Tibshirani, An Introduction to the
//! Bootstrap, 1993, section 9.4), widened by `√(m ÷ (m−p))` for the p parameters that have already bent towards them.

use super::law::{Coefficients, Law};
use super::least_squares::refit;
use crate::load::Load;
use crate::random::Random;

/// Resamples; the ends of a 95 % interval rest on 25 of them each.
pub const RESAMPLES: usize = 1_000;

/// The share that lies outside on either side of an interval.
const TAIL: f64 = 0.025;

/// An interval of 95 % confidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end; infinite where nothing bounds it.
    pub high: f64,
}

/// Intervals of a fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Intervals {
    /// λ, per second.
    pub lambda: Interval,
    /// σ.
    pub sigma: Interval,
    /// κ.
    pub kappa: Interval,
    /// The sessions of the peak; the upper end is infinite when some resamples have none.
    pub peak_sessions: Interval,
}

/// The 2.5th and 97.5th percentile.
fn interval(mut values: Vec<f64>) -> Interval {
    values.sort_by(f64::total_cmp);
    let last = values.len() - 1;
    let at = |share: f64| values[((share * last as f64).round() as usize).min(last)];
    Interval { low: at(TAIL), high: at(1.0 - TAIL) }
}

/// Intervals of `found`, the fit of `law` to `loads`, from so many `resamples` (at least one).
pub(super) fn intervals(
    law: Law,
    loads: &[Load],
    found: &Coefficients,
    seed: u64,
    resamples: usize,
) -> Intervals {
    let count = loads.len() as f64;
    let widen = (count / (count - law.parameters() as f64)).sqrt();
    // A point of more repeats scatters less; weighing makes residuals alike, and unweighing puts them back.
    let weight = |load: &Load| f64::from(load.repeats).sqrt();
    let residuals: Vec<f64> =
        loads.iter().map(|l| (l.throughput - found.at(l.sessions)) * weight(l) * widen).collect();
    let mean = residuals.iter().sum::<f64>() / count;
    let mut random = Random::new(seed);
    let draws: Vec<Coefficients> = (0..resamples)
        .map(|_| {
            let drawn: Vec<Load> = loads
                .iter()
                .map(|load| {
                    let residual = residuals[random.below(residuals.len())] - mean;
                    Load { throughput: found.at(load.sessions) + residual / weight(load), ..*load }
                })
                .collect();
            refit(law, &drawn, found)
        })
        .collect();
    let of = |part: fn(&Coefficients) -> f64| interval(draws.iter().map(part).collect());
    Intervals {
        lambda: of(|c| c.lambda),
        sigma: of(|c| c.sigma),
        kappa: of(|c| c.kappa),
        peak_sessions: of(|c| c.peak().map_or(f64::INFINITY, |peak| peak.sessions)),
    }
}
