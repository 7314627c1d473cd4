//! Models how throughput grows with load: fits the Universal Scalability Law, Amdahl's law and
//! linear scaling, and chooses one.
//!
//! [`scalability()`] fits all three to the points of a ramp, chooses by AICc, and computes the
//! confidence. A fit summarizes what was measured. Beyond the highest load it is an extrapolation,
//! and [`Scalability::sentence`] says so.

mod bootstrap;
mod law;
mod least_squares;
mod model_selection;
mod words;

#[cfg(test)]
mod tests;

pub use bootstrap::{CoefficientIntervals, ConfidenceInterval, RESAMPLES};
pub use law::{Coefficients, Peak, ScalabilityLaw};

use crate::load::LoadPoint;
use least_squares::{fit, sum_of_squares};

/// Fewest different loads for a fit: with fewer, the law with three coefficients has no residual to
/// assess it.
pub const POINTS_MIN: usize = 6;

/// A law holds if it explains this share of the variance, or if its error is at most this, %.
const HOLDS: (f64, f64) = (0.5, 10.0);

/// One law fitted to the loads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fit {
    pub law: ScalabilityLaw,
    pub coefficients: Coefficients,
    /// Share of the variance that it explains, at most 1; below 0 a horizontal line would fit
    /// better.
    pub r_squared: f64,
    /// Root mean square error, in percent of the points' mean throughput.
    pub misses_pct: f64,
    /// The criterion of the choice: the smallest wins, differences below 2 mean little.
    pub aicc: f64,
    /// Intervals of 95 % confidence.
    pub intervals: CoefficientIntervals,
}

/// The scalability of a ramp: all fits, and the chosen one.
#[derive(Debug, Clone, PartialEq)]
pub struct Scalability {
    /// The law with the smallest AICc.
    pub chosen: ScalabilityLaw,
    /// Every law, in the order of [`ScalabilityLaw::ALL`].
    pub fits: [Fit; 3],
    /// Number of loads that were fitted.
    pub points: usize,
    /// The highest measured load, in sessions: beyond it everything is extrapolated.
    pub sessions_max: f64,
    /// Where measured throughput is highest.
    pub measured_peak: Peak,
    /// How far the measured throughput at the highest load lies below that, %.
    pub fell_pct: f64,
}

/// Why loads were not fitted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FitError {
    /// There are too few different loads.
    #[error("{found} different loads are too few for a scalability fit: measure at least {POINTS_MIN}")]
    TooFew {
        /// Number of different loads among the given ones.
        found: usize,
    },
    /// A load that no run can have.
    #[error(
        "{throughput} per second at {sessions} sessions cannot be fitted: both must be above zero and finite"
    )]
    Unusable { sessions: f64, throughput: f64 },
}

/// Fits every law to `loads` and chooses. `seed` makes the intervals repeatable.
///
/// # Errors
/// There are fewer than [`POINTS_MIN`] different loads, or one is not positive.
pub fn scalability(loads: &[LoadPoint], seed: u64) -> Result<Scalability, FitError> {
    let usable = |value: f64| value.is_finite() && value > 0.0;
    if let Some(load) = loads.iter().find(|l| !usable(l.sessions) || !usable(l.throughput) || l.repeats == 0)
    {
        return Err(FitError::Unusable { sessions: load.sessions, throughput: load.throughput });
    }
    let mut different: Vec<f64> = loads.iter().map(|load| load.sessions).collect();
    different.sort_by(f64::total_cmp);
    different.dedup();
    let (found, Some(&sessions_max)) = (different.len(), different.last()) else {
        return Err(FitError::TooFew { found: 0 });
    };
    if found < POINTS_MIN {
        return Err(FitError::TooFew { found });
    }
    Ok(fitted(loads, sessions_max, seed, RESAMPLES))
}

/// The fits of loads that are known to be usable.
pub(crate) fn fitted(loads: &[LoadPoint], sessions_max: f64, seed: u64, resamples: usize) -> Scalability {
    // Among its starts, each law has the result of the simpler one, so its error cannot be larger.
    let linear = fit(ScalabilityLaw::Linear, loads, &[]);
    let amdahl = fit(ScalabilityLaw::Amdahl, loads, &[linear]);
    let usl = fit(ScalabilityLaw::Usl, loads, &[linear, amdahl]);
    let fits =
        [(ScalabilityLaw::Linear, linear), (ScalabilityLaw::Amdahl, amdahl), (ScalabilityLaw::Usl, usl)].map(
            |(law, coefficients)| {
                let (r_squared, misses_pct, aicc) = judged(law, &coefficients, loads);
                let intervals = bootstrap::intervals(law, loads, &coefficients, seed, resamples);
                Fit { law, coefficients, r_squared, misses_pct, aicc, intervals }
            },
        );
    let chosen =
        fits.iter().min_by(|a, b| a.aicc.total_cmp(&b.aicc)).map_or(ScalabilityLaw::Usl, |best| best.law);
    let highest = |a: &&LoadPoint, b: &&LoadPoint| a.throughput.total_cmp(&b.throughput);
    let place = |load: &LoadPoint| Peak { sessions: load.sessions, throughput: load.throughput };
    let peak = loads.iter().max_by(highest).map(place).expect("usable loads are not empty");
    let last = loads.iter().filter(|l| l.sessions == sessions_max).max_by(highest).map_or(peak, place);
    Scalability {
        chosen,
        fits,
        points: loads.len(),
        sessions_max,
        measured_peak: peak,
        fell_pct: 100.0 * (1.0 - last.throughput / peak.throughput),
    }
}

/// R² of a fit over the points, its error in percent, and its AICc over the runs.
fn judged(law: ScalabilityLaw, coefficients: &Coefficients, loads: &[LoadPoint]) -> (f64, f64, f64) {
    let sum = |part: &dyn Fn(&LoadPoint) -> f64| -> f64 {
        loads.iter().map(|load| f64::from(load.repeats) * part(load)).sum()
    };
    let squares = sum_of_squares(loads, coefficients);
    let mean = sum(&|load| load.throughput) / sum(&|_| 1.0);
    let variance = sum(&|load| (load.throughput - mean).powi(2));
    let scatter: f64 = loads.iter().map(|load| load.scatter).sum();
    let r_squared = if variance > 0.0 { 1.0 - squares / variance } else { 0.0 };
    let runs = sum(&|_| 1.0);
    let misses_pct = 100.0 * (squares / runs).sqrt() / mean;
    (
        r_squared,
        misses_pct,
        model_selection::aicc(law, squares + scatter, runs, sum(&|load| load.throughput.powi(2))),
    )
}

impl Fit {
    /// Whether it describes what was measured: it explains at least half of the variance, or there
    /// is hardly any. The latter is so on a platform that one session saturates.
    pub fn holds(&self) -> bool {
        self.r_squared >= HOLDS.0 || self.misses_pct <= HOLDS.1
    }
}

/// How far a law's highest throughput may lie below a measured one before the law is not shown, %:
/// as far as repeats of one run differ.
const BELOW_MAX_PCT: f64 = 5.0;

/// A law's highest throughput, compared with what was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Maximum {
    /// The law has none: throughput rises without end.
    None,
    /// The law's maximum; no measured throughput exceeds it.
    Above(f64),
    /// A maximum slightly below a measured throughput, so only its vicinity can be reported.
    Near,
    /// A maximum so far below a measured throughput that the data contradicts the law.
    Contradicted,
}

impl Scalability {
    /// The highest throughput by `fit`. It is never less than what was measured.
    pub fn maximum(&self, fit: &Fit) -> Maximum {
        let predicted = fit.coefficients.peak().map(|peak| peak.throughput).or(fit.coefficients.ceiling());
        let measured = self.measured_peak.throughput;
        match predicted {
            None => Maximum::None,
            Some(most) if most >= measured => Maximum::Above(most),
            Some(most) if most >= measured * (1.0 - BELOW_MAX_PCT / 100.0) => Maximum::Near,
            Some(_) => Maximum::Contradicted,
        }
    }

    /// Whether `fit` is shown: it describes what was measured, and no measurement contradicts it.
    pub fn shows(&self, fit: &Fit) -> bool {
        fit.holds() && self.maximum(fit) != Maximum::Contradicted
    }

    /// The fit of this `law`.
    pub fn fit(&self, law: ScalabilityLaw) -> &Fit {
        match law {
            ScalabilityLaw::Linear => &self.fits[0],
            ScalabilityLaw::Amdahl => &self.fits[1],
            ScalabilityLaw::Usl => &self.fits[2],
        }
    }

    /// The fit of the chosen law.
    pub fn best(&self) -> &Fit {
        self.fit(self.chosen)
    }
}
