//! Ramps: curves along sessions with the law that fits them.

use dyno_analyze::Load;
use dyno_analyze::points::{Point, Points, SESSIONS};
use dyno_analyze::scalability::{FitError, Scalability, scalability};

use crate::chart::{Kind, Series};

/// The measure that ramps are fitted by.
pub const OPS: &str = "ops_per_s";

/// Makes the intervals of a fit the same each time.
const SEED: u64 = 1;

/// Points of a fitted curve, as drawn.
const DRAWN: usize = 48;

/// A curve along sessions.
#[derive(Debug)]
pub struct Ramp<'p> {
    /// What sets it apart, in words; empty for the only one.
    pub name: String,
    /// Its points.
    pub points: Vec<&'p Point>,
    /// Its loads.
    pub loads: Vec<Load>,
    /// The law that fits, or why there is none.
    pub fit: Result<Scalability, FitError>,
}

/// The ramps of `points`; none where sessions were not varied.
pub fn ramps<'p>(points: &'p Points) -> Vec<Ramp<'p>> {
    if !points.axes.iter().any(|axis| axis.path == SESSIONS) {
        return Vec::new();
    }
    let ramp = |curve: dyno_analyze::points::Curve<'p>| {
        let loads = curve.loads(OPS, "service_mean_us");
        Ramp { name: super::curve_words(&curve), fit: scalability(&loads, SEED), points: curve.points, loads }
    };
    points.curves(SESSIONS).into_iter().map(ramp).filter(|ramp| ramp.loads.len() > 1).collect()
}

/// The fit of number `style` as a dashed curve over the sessions measured; none where no law fits.
pub(super) fn drawn(ramp: &Ramp<'_>, style: usize) -> Option<Series> {
    let scalability = ramp.fit.as_ref().ok()?;
    let fit = Some(scalability.best()).filter(|fit| scalability.shows(fit))?;
    let sessions = ramp.loads.iter().map(|load| load.sessions);
    let (least, most) = sessions.fold((f64::INFINITY, 0.0f64), |(a, b), s| (a.min(s), b.max(s)));
    let at = |i: usize| least * (most / least).powf(i as f64 / (DRAWN - 1) as f64);
    let points = (0..DRAWN).map(at).map(|x| crate::chart::Point::at(x, fit.coefficients.at(x))).collect();
    let name = if ramp.name.is_empty() {
        format!("fit: {}", fit.law.name())
    } else {
        format!("fit, {}: {}", ramp.name, fit.law.name())
    };
    Some(Series { name, kind: Kind::Fit, style, points })
}
