//! Computes the confidence intervals of a fit by resampling its residuals.
//!
//! The loads of a ramp are chosen, not random, and few; resampled points would often omit the only
//! one beyond the peak. So the fit is kept and its residuals are resampled (Efron and Tibshirani,
//! An Introduction to the Bootstrap, 1993, section 9.4). They are widened by `√(m ÷ (m−p))` for the
//! p parameters that were fitted to them.

use super::law::{Coefficients, ScalabilityLaw};
use super::least_squares::refit;
use crate::load::LoadPoint;
use crate::random::ResamplingRandom;

/// Resamples; each end of a 95 % interval depends on 25 of them.
pub const RESAMPLES: usize = 1_000;

/// The share that lies outside on either side of an interval.
const TAIL: f64 = 0.025;

/// An interval of 95 % confidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConfidenceInterval {
    pub low: f64,
    /// Its upper end; infinite where it is unbounded.
    pub high: f64,
}

/// The intervals of a fit's coefficients.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CoefficientIntervals {
    /// Throughput of one session λ, per second.
    pub lambda: ConfidenceInterval,
    pub sigma: ConfidenceInterval,
    pub kappa: ConfidenceInterval,
    /// The sessions of the peak; the upper end is infinite when some resamples have none.
    pub peak_sessions: ConfidenceInterval,
}

/// The 2.5th and 97.5th percentile.
fn interval(mut values: Vec<f64>) -> ConfidenceInterval {
    values.sort_by(f64::total_cmp);
    let last = values.len() - 1;
    let at = |share: f64| values[((share * last as f64).round() as usize).min(last)];
    ConfidenceInterval { low: at(TAIL), high: at(1.0 - TAIL) }
}

/// The intervals of the coefficients already fitted by `law` to `loads`, from this many `resamples`
/// (at least one).
pub(super) fn intervals(
    law: ScalabilityLaw,
    loads: &[LoadPoint],
    fitted: &Coefficients,
    seed: u64,
    resamples: usize,
) -> CoefficientIntervals {
    let count = loads.len() as f64;
    let widen = (count / (count - law.parameters() as f64)).sqrt();
    // A point with more repeats scatters less. Weighting makes residuals comparable; dividing by
    // the weight restores them.
    let weight = |load: &LoadPoint| f64::from(load.repeats).sqrt();
    let residuals: Vec<f64> =
        loads.iter().map(|l| (l.throughput - fitted.at(l.sessions)) * weight(l) * widen).collect();
    let mean = residuals.iter().sum::<f64>() / count;
    let mut random = ResamplingRandom::new(seed);
    let draws: Vec<Coefficients> = (0..resamples)
        .map(|_| {
            let drawn: Vec<LoadPoint> = loads
                .iter()
                .map(|load| {
                    let residual = residuals[random.below(residuals.len())] - mean;
                    LoadPoint { throughput: fitted.at(load.sessions) + residual / weight(load), ..*load }
                })
                .collect();
            refit(law, &drawn, fitted)
        })
        .collect();
    let interval_of = |part: fn(&Coefficients) -> f64| interval(draws.iter().map(part).collect());
    CoefficientIntervals {
        lambda: interval_of(|c| c.lambda),
        sigma: interval_of(|c| c.sigma),
        kappa: interval_of(|c| c.kappa),
        peak_sessions: interval_of(|c| c.peak().map_or(f64::INFINITY, |peak| peak.sessions)),
    }
}
