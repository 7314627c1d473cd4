//! How throughput grows with load: the Universal Scalability Law, Amdahl's law and linear scaling, fitted and chosen.
//!
//! [`scalability()`] fits all three to the points of a ramp, chooses by AICc, and says how sure it is. A fit is a
//! summary of what was measured; what it says beyond the highest load is a guess, and [`Scalability::sentence`] says so.

mod bootstrap;
mod choose;
mod law;
mod least_squares;
mod words;

#[cfg(test)]
mod tests;

pub use bootstrap::{Interval, Intervals, RESAMPLES};
pub use law::{Coefficients, Law, Peak};

use crate::load::Load;
use least_squares::{fit, sum_of_squares};

/// Different loads that a fit needs: with fewer, the law with three coefficients has no residual to judge it by.
pub const POINTS_MIN: usize = 6;

/// A law holds if it explains this share of the variance, or misses the points by no more than this, %.
const HOLDS: (f64, f64) = (0.5, 10.0);

/// One law fitted to the loads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fit {
    /// The law.
    pub law: Law,
    /// Its coefficients.
    pub coefficients: Coefficients,
    /// Share of the variance that it explains, at most 1; below 0 a horizontal line would do better.
    pub r_squared: f64,
    /// How far it misses the points, root mean square in percent of their mean throughput.
    pub misses_pct: f64,
    /// The criterion it was judged by: the smallest wins, differences below 2 mean little.
    pub aicc: f64,
    /// Intervals of 95 % confidence.
    pub intervals: Intervals,
}

/// What a ramp says about scalability.
#[derive(Debug, Clone, PartialEq)]
pub struct Scalability {
    /// The law with the smallest AICc.
    pub chosen: Law,
    /// Every law, in the order of [`Law::ALL`].
    pub fits: [Fit; 3],
    /// Loads that were fitted.
    pub points: usize,
    /// The highest load that was measured, sessions: beyond it everything is a guess.
    pub sessions_max: f64,
    /// Where measured throughput is highest.
    pub measured_peak: Peak,
    /// How far the measured throughput of the highest load lies below that, %.
    pub fell_pct: f64,
}

/// Why loads were not fitted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FitError {
    /// Too few loads.
    #[error("{found} different loads are too few for a scalability fit: measure at least {POINTS_MIN}")]
    TooFew {
        /// Different loads that there are.
        found: usize,
    },
    /// A load that no run can have.
    #[error(
        "{throughput} per second at {sessions} sessions is no load to fit: both must be above zero and finite"
    )]
    Unusable {
        /// Sessions.
        sessions: f64,
        /// Throughput, per second.
        throughput: f64,
    },
}

/// Fits every law to `loads` and chooses. `seed` makes the intervals repeatable.
///
/// # Errors
/// There are fewer than [`POINTS_MIN`] different loads, or one is not positive.
pub fn scalability(loads: &[Load], seed: u64) -> Result<Scalability, FitError> {
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
pub(crate) fn fitted(loads: &[Load], sessions_max: f64, seed: u64, resamples: usize) -> Scalability {
    // Each law begins, among others, where the simpler one ended: it can only come nearer.
    let linear = fit(Law::Linear, loads, &[]);
    let amdahl = fit(Law::Amdahl, loads, &[linear]);
    let usl = fit(Law::Usl, loads, &[linear, amdahl]);
    let fits = [(Law::Linear, linear), (Law::Amdahl, amdahl), (Law::Usl, usl)].map(|(law, coefficients)| {
        let (r_squared, misses_pct, aicc) = judged(law, &coefficients, loads);
        let intervals = bootstrap::intervals(law, loads, &coefficients, seed, resamples);
        Fit { law, coefficients, r_squared, misses_pct, aicc, intervals }
    });
    let chosen = fits.iter().min_by(|a, b| a.aicc.total_cmp(&b.aicc)).map_or(Law::Usl, |best| best.law);
    let highest = |a: &&Load, b: &&Load| a.throughput.total_cmp(&b.throughput);
    let place = |load: &Load| Peak { sessions: load.sessions, throughput: load.throughput };
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

/// R² of a fit over the points, how far it misses them in percent, and its AICc over the runs.
fn judged(law: Law, coefficients: &Coefficients, loads: &[Load]) -> (f64, f64, f64) {
    let sum = |part: &dyn Fn(&Load) -> f64| -> f64 {
        loads.iter().map(|load| f64::from(load.repeats) * part(load)).sum()
    };
    let squares = sum_of_squares(loads, coefficients);
    let mean = sum(&|load| load.throughput) / sum(&|_| 1.0);
    let variance = sum(&|load| (load.throughput - mean).powi(2));
    let scatter: f64 = loads.iter().map(|load| load.scatter).sum();
    let r_squared = if variance > 0.0 { 1.0 - squares / variance } else { 0.0 };
    let runs = sum(&|_| 1.0);
    let misses_pct = 100.0 * (squares / runs).sqrt() / mean;
    (r_squared, misses_pct, choose::aicc(law, squares + scatter, runs, sum(&|load| load.throughput.powi(2))))
}

impl Fit {
    /// Whether it says anything of what was measured: it explains at least half of the variance, or there is hardly any, as
    /// on a platform that one session saturates.
    pub fn holds(&self) -> bool {
        self.r_squared >= HOLDS.0 || self.misses_pct <= HOLDS.1
    }
}

/// How far the highest throughput that a law allows may lie below a measured one before the law is not shown, %: as far
/// as repeats of one run differ.
const BELOW_MAX_PCT: f64 = 5.0;

/// What a law says of the highest throughput, held against what was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Maximum {
    /// It sets none: throughput rises without end.
    None,
    /// This one, and none was measured above it.
    Above(f64),
    /// One that lies below a measured throughput by little, so that it can only be said to be near.
    Near,
    /// One that lies so far below a measured throughput that the data contradicts the law.
    Contradicted,
}

impl Scalability {
    /// What `fit` says of the highest throughput. Never less than what was measured.
    pub fn maximum(&self, fit: &Fit) -> Maximum {
        let told = fit.coefficients.peak().map(|peak| peak.throughput).or(fit.coefficients.ceiling());
        let measured = self.measured_peak.throughput;
        match told {
            None => Maximum::None,
            Some(most) if most >= measured => Maximum::Above(most),
            Some(most) if most >= measured * (1.0 - BELOW_MAX_PCT / 100.0) => Maximum::Near,
            Some(_) => Maximum::Contradicted,
        }
    }

    /// Whether `fit` is shown: it says something of what was measured, and the measured does not contradict it.
    pub fn shows(&self, fit: &Fit) -> bool {
        fit.holds() && self.maximum(fit) != Maximum::Contradicted
    }

    /// The fit of `law`.
    pub fn fit(&self, law: Law) -> &Fit {
        match law {
            Law::Linear => &self.fits[0],
            Law::Amdahl => &self.fits[1],
            Law::Usl => &self.fits[2],
        }
    }

    /// The fit that was chosen.
    pub fn best(&self) -> &Fit {
        self.fit(self.chosen)
    }
}
