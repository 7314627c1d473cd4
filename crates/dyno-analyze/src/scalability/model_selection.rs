//! Chooses the law: Akaike's information criterion, corrected for few points.

use super::law::ScalabilityLaw;

/// Residuals below this share of the throughput have no meaning: no measurement is that exact, and
/// rounding must not decide the law.
const RESIDUAL_LEAST: f64 = 1e-6;

/// AICc of a least-squares fit: `m ln(S ÷ m) + 2k + 2k(k+1) ÷ (m−k−1)`, where k counts the law's parameters and the
/// variance (Hurvich and Tsai, Biometrika 76, 1989; Burnham and Anderson, Model Selection, 2002, section 2.4).
///
/// `squares` is the sum S of squared residuals of all runs, `runs` their number m (more than k + 1), `scale` the sum
/// of their squared throughputs.
pub(super) fn aicc(law: ScalabilityLaw, squares: f64, runs: f64, scale: f64) -> f64 {
    let m = runs;
    let k = law.parameters() as f64 + 1.0;
    let squares = squares.max(scale * RESIDUAL_LEAST * RESIDUAL_LEAST).max(f64::MIN_POSITIVE);
    m * (squares / m).ln() + 2.0 * k + 2.0 * k * (k + 1.0) / (m - k - 1.0)
}
