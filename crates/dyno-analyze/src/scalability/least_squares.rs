//! Weighted least squares within bounds: λ ≥ 0, 0 ≤ σ ≤ 1, κ ≥ 0.
//!
//! Levenberg–Marquardt (Marquardt, SIAM J. Appl. Math. 11, 1963) with steps limited to the bounds,
//! from several starts. It minimizes the squared distance in throughput itself. Fitting the
//! linearized curve `N ÷ X(N)` instead would give most weight to the points of low throughput,
//! which are seldom of interest.

use super::law::{Coefficients, ScalabilityLaw};
use crate::load::LoadPoint;

/// Most steps of one search; from a reasonable start about twenty are enough.
const STEPS_MAX: usize = 200;

/// A step that lowers the sum of squares by less than this share is the last.
const GAIN_LEAST: f64 = 1e-15;

/// Damping at the start, and the value beyond which no step helps.
const DAMPING: (f64, f64) = (1e-3, 1e16);

/// Bounds of λ, σ, κ: contention above all the work is meaningless, and so is negative contention.
const BOUNDS: [(f64, f64); 3] = [(0.0, f64::INFINITY), (0.0, 1.0), (0.0, f64::INFINITY)];

/// Starts of the searches, as (σ, κ); 0 for a coefficient that the law does not have.
const STARTS: [(f64, f64); 6] =
    [(0.01, 1e-6), (0.01, 1e-3), (0.1, 1e-4), (0.3, 1e-2), (0.9, 1e-5), (0.0, 0.0)];

/// The weighted sum of squared residuals.
pub(super) fn sum_of_squares(loads: &[LoadPoint], at: &Coefficients) -> f64 {
    loads.iter().map(|load| f64::from(load.repeats) * (load.throughput - at.at(load.sessions)).powi(2)).sum()
}

/// The coefficients of `law` nearest to `loads`, searched from all starts and from `also`, such as
/// the fit of a simpler law.
pub(super) fn fit(law: ScalabilityLaw, loads: &[LoadPoint], also: &[Coefficients]) -> Coefficients {
    STARTS
        .iter()
        .map(|&start| with_best_lambda(law, loads, start))
        .chain(also.iter().copied())
        .map(|place| search(law, loads, place))
        .min_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, found)| found)
        .expect("there is at least one start")
}

/// [`fit`] for loads that differ little from those behind `found`.
pub(super) fn refit(law: ScalabilityLaw, loads: &[LoadPoint], initial: &Coefficients) -> Coefficients {
    search(law, loads, with_best_lambda(law, loads, (initial.sigma, initial.kappa))).1
}

/// A start with these σ and κ, and the λ that fits best: given both, X is linear in λ.
fn with_best_lambda(law: ScalabilityLaw, loads: &[LoadPoint], (sigma, kappa): (f64, f64)) -> Coefficients {
    let sigma = if law == ScalabilityLaw::Linear { 0.0 } else { sigma };
    let kappa = if law == ScalabilityLaw::Usl { kappa } else { 0.0 };
    let unit = Coefficients { lambda: 1.0, sigma, kappa };
    let sum = |part: fn(f64, f64) -> f64| -> f64 {
        loads.iter().map(|l| f64::from(l.repeats) * part(unit.at(l.sessions), l.throughput)).sum()
    };
    Coefficients { lambda: sum(|g, x| g * x) / sum(|g, _| g * g), sigma, kappa }
}

/// One search; returns the sum of squares and the coefficients that reach it.
fn search(law: ScalabilityLaw, loads: &[LoadPoint], start: Coefficients) -> (f64, Coefficients) {
    let free = law.parameters();
    let (mut best, mut damping) = (start, DAMPING.0);
    let mut squares = sum_of_squares(loads, &best);
    for _ in 0..STEPS_MAX {
        let (normal, gradient) = normal_equations(loads, &best);
        let at = [best.lambda, best.sigma, best.kappa];
        // A parameter at its bound whose step leads outside stays there.
        let held: [bool; 3] = std::array::from_fn(|i| {
            i >= free
                || (at[i] <= BOUNDS[i].0 && gradient[i] <= 0.0)
                || (at[i] >= BOUNDS[i].1 && gradient[i] >= 0.0)
        });
        let mut gain = 0.0;
        while damping < DAMPING.1 {
            let Some(step) = solve(&normal, &gradient, &held, damping) else { break };
            let to: [f64; 3] = std::array::from_fn(|i| (at[i] + step[i]).clamp(BOUNDS[i].0, BOUNDS[i].1));
            let next = Coefficients { lambda: to[0], sigma: to[1], kappa: to[2] };
            let next_squares = sum_of_squares(loads, &next);
            if next_squares < squares {
                gain = (squares - next_squares) / squares;
                (best, squares, damping) = (next, next_squares, damping / 10.0);
                break;
            }
            damping *= 10.0;
        }
        if gain < GAIN_LEAST {
            break;
        }
    }
    (squares, best)
}

/// `JᵀJ` and `Jᵀr` of the residuals r with the Jacobian J of X in (λ, σ, κ), weighted.
fn normal_equations(loads: &[LoadPoint], at: &Coefficients) -> ([[f64; 3]; 3], [f64; 3]) {
    let (mut normal, mut gradient) = ([[0.0; 3]; 3], [0.0; 3]);
    for load in loads {
        let (n, weight) = (load.sessions, f64::from(load.repeats));
        let (below, x) = (at.denominator(n), at.at(n));
        let slopes = [n / below, -x * (n - 1.0) / below, -x * n * (n - 1.0) / below];
        for i in 0..3 {
            gradient[i] += weight * slopes[i] * (load.throughput - x);
            for j in 0..3 {
                normal[i][j] += weight * slopes[i] * slopes[j];
            }
        }
    }
    (normal, gradient)
}

/// The damped step, by Gaussian elimination with pivoting; 0 for parameters held at a bound. `None`
/// if there is no unique one.
fn solve(normal: &[[f64; 3]; 3], gradient: &[f64; 3], held: &[bool; 3], damping: f64) -> Option<[f64; 3]> {
    let mut rows = [[0.0; 4]; 3];
    for i in 0..3 {
        if held[i] {
            rows[i][i] = 1.0;
            continue;
        }
        // Marquardt's scaling makes the step independent of the units: λ is in the millions, κ in the millionths.
        let scale = normal[i][i].sqrt();
        if scale == 0.0 {
            return None;
        }
        for j in (0..3).filter(|&j| !held[j]) {
            rows[i][j] = normal[i][j] / scale / normal[j][j].sqrt();
        }
        rows[i][i] += damping;
        rows[i][3] = gradient[i] / scale;
    }
    for column in 0..3 {
        let pivot = (column..3).max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs()))?;
        rows.swap(column, pivot);
        let top = rows[column];
        if top[column].abs() < f64::MIN_POSITIVE {
            return None;
        }
        for row in rows.iter_mut().skip(column + 1) {
            let factor = row[column] / top[column];
            for (cell, above) in row.iter_mut().zip(top) {
                *cell -= factor * above;
            }
        }
    }
    let mut scaled = [0.0; 3];
    for i in (0..3).rev() {
        let solved_sum: f64 = (i + 1..3).map(|j| rows[i][j] * scaled[j]).sum();
        scaled[i] = (rows[i][3] - solved_sum) / rows[i][i];
    }
    let step: [f64; 3] = std::array::from_fn(|i| if held[i] { 0.0 } else { scaled[i] / normal[i][i].sqrt() });
    step.iter().all(|part| part.is_finite()).then_some(step)
}
