//! Ramps: curves over sessions with the scalability law fitted to them.

use dyno_analyze::LoadPoint;
use dyno_analyze::points::{MeasuredPoint, Points, SESSIONS};
use dyno_analyze::scalability::{FitError, Scalability, scalability};

use crate::chart::{ChartSeries, SeriesKind};

/// The measure to which ramps are fitted.
pub const OPS: &str = "ops_per_s";

/// Fixed seed, so that the intervals of a fit are reproducible.
const SEED: u64 = 1;

/// Points of a drawn fitted curve.
const DRAWN: usize = 48;

#[derive(Debug)]
pub struct RampCurve<'p> {
    /// Settings that distinguish it, in words; empty for a single curve.
    pub name: String,
    pub points: Vec<&'p MeasuredPoint>,
    pub loads: Vec<LoadPoint>,
    /// The fitted law, or why there is none.
    pub fit: Result<Scalability, FitError>,
}

/// The ramps of `points`; empty if sessions were not varied.
pub fn ramps<'p>(points: &'p Points) -> Vec<RampCurve<'p>> {
    if !points.axes.iter().any(|axis| axis.path == SESSIONS) {
        return Vec::new();
    }
    let ramp = |curve: dyno_analyze::points::MeasuredCurve<'p>| {
        let loads = curve.loads(OPS, "service_mean_us");
        RampCurve {
            name: super::curve_words(&curve),
            fit: scalability(&loads, SEED),
            points: curve.points,
            loads,
        }
    };
    points.curves(SESSIONS).into_iter().map(ramp).filter(|ramp| ramp.loads.len() > 1).collect()
}

/// Fit number `style` as a dashed curve over the measured sessions; `None` if no law fits.
pub(super) fn fit_series(ramp: &RampCurve<'_>, style: usize) -> Option<ChartSeries> {
    let scalability = ramp.fit.as_ref().ok()?;
    let fit = Some(scalability.best()).filter(|fit| scalability.shows(fit))?;
    let sessions = ramp.loads.iter().map(|load| load.sessions);
    let (least, most) = sessions.fold((f64::INFINITY, 0.0f64), |(a, b), s| (a.min(s), b.max(s)));
    let at = |i: usize| least * (most / least).powf(i as f64 / (DRAWN - 1) as f64);
    let points =
        (0..DRAWN).map(at).map(|x| crate::chart::ChartPoint::at(x, fit.coefficients.at(x))).collect();
    let name = if ramp.name.is_empty() {
        format!("fit: {}", fit.law.name())
    } else {
        format!("fit, {}: {}", ramp.name, fit.law.name())
    };
    Some(ChartSeries { name, kind: SeriesKind::Fit, style, points })
}
