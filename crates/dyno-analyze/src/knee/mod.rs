//! Finds the knee of a ramp by three definitions, because they differ.
//!
//! Kneedle finds where more sessions add less than they do on average. The peak of the Universal
//! Scalability Law is where they add nothing. The latency limit is the load that a user accepts. No
//! definition is the only right one, so a report shows all three.

mod kneedle;
mod limit;
#[cfg(test)]
mod maximum_tests;
#[cfg(test)]
mod tests;

pub use kneedle::{SENSITIVITY, kneedle};

use crate::load::LoadPoint;
use crate::number::{self, fixed, time_us};
use crate::points::phrase;
use crate::scalability::{FitError, Maximum, Scalability, ScalabilityLaw};
use limit::{Within, within_limit};

/// A point on a ramp.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KneePoint {
    /// Sessions; a whole number where it was measured.
    pub sessions: f64,
    pub throughput: f64,
    /// Mean latency, µs, where it was measured.
    pub latency_us: Option<f64>,
    /// Whether it is a measured point rather than one of a fitted curve.
    pub measured: bool,
}

/// A knee, or why there is none.
pub type KneeResult = Result<KneePoint, String>;

/// The knee by three definitions.
#[derive(Debug, Clone, PartialEq)]
pub struct Knee {
    /// By Kneedle, on throughput over sessions.
    pub kneedle: KneeResult,
    /// The peak of the Universal Scalability Law.
    pub usl_peak: KneeResult,
    /// The point of the highest throughput within the latency limit.
    pub within_limit: KneeResult,
    /// The latency limit, µs; absent where none was given.
    pub limit_us: Option<f64>,
    /// The highest load measured, sessions.
    pub sessions_max: f64,
}

fn measured(load: &LoadPoint) -> KneePoint {
    let LoadPoint { sessions, throughput, latency_us, .. } = *load;
    KneePoint { sessions, throughput, latency_us, measured: true }
}

/// The three knees of `loads`, sorted by sessions. `fit` is the result of
/// [`scalability()`](crate::scalability::scalability) for the same loads.
pub fn knee(loads: &[LoadPoint], fit: &Result<Scalability, FitError>, limit_us: Option<f64>) -> Knee {
    Knee {
        kneedle: by_kneedle(loads),
        usl_peak: by_usl(fit),
        within_limit: by_limit(loads, limit_us),
        limit_us,
        sessions_max: loads.iter().map(|load| load.sessions).fold(0.0, f64::max),
    }
}

/// Share of the highest throughput above which the first point already has all of it. A curve that
/// does not rise has only noise, and Kneedle would find a knee in that.
const ALL_AT_ONCE: f64 = 0.95;

/// The knee of `loads`, sorted by sessions: [`knee_index`] as a point.
pub fn by_kneedle(loads: &[LoadPoint]) -> KneeResult {
    knee_index(loads).map(|place| measured(&loads[place]))
}

/// The index of the knee in `loads`, by the one rule of all summaries, charts and tables: Kneedle on throughput
/// over rising sessions, never beyond the highest throughput.
///
/// # Errors
/// Why there is no knee.
pub fn knee_index(loads: &[LoadPoint]) -> Result<usize, String> {
    // Along the rate of an open loop, each point has the same number of sessions.
    if loads.windows(2).any(|pair| pair[0].sessions >= pair[1].sessions) {
        return Err("the number of sessions does not rise: no knee".into());
    }
    let sessions: Vec<f64> = loads.iter().map(|load| load.sessions).collect();
    let throughput: Vec<f64> = loads.iter().map(|load| load.throughput).collect();
    let highest = highest(&throughput);
    if let [first, _, _, ..] = loads
        && first.throughput >= throughput[highest] * ALL_AT_ONCE
        && throughput[highest] > 0.0
    {
        return Ok(0);
    }
    match kneedle(&sessions, &throughput, SENSITIVITY) {
        // Beyond the highest throughput, more sessions reduce it: the knee lies before that.
        Some(place) => Ok(place.min(highest)),
        None if loads.len() < 3 => Err(format!("{} points are too few for a knee", loads.len())),
        None => Err(match throughput.windows(2).any(|pair| pair[1] < pair[0] * (1.0 - FALL)) {
            true => "throughput does not rise evenly: no knee in the measured range".into(),
            false => "throughput rises evenly: no knee in the measured range".into(),
        }),
    }
}

/// The share of the throughput by which a fall exceeds the usual variation.
const FALL: f64 = 0.05;

/// The index of the largest of `values`; the first of equal ones.
fn highest(values: &[f64]) -> usize {
    (1..values.len()).fold(0, |best, i| if values[i] > values[best] { i } else { best })
}

fn by_usl(fit: &Result<Scalability, FitError>) -> KneeResult {
    let fit = fit.as_ref().map_err(ToString::to_string)?;
    let usl = fit.fit(ScalabilityLaw::Usl);
    if !usl.holds() {
        return Err(format!("the Universal Scalability Law does not fit (R² {})", fixed(usl.r_squared, 3)));
    }
    let peak = usl.coefficients.peak().ok_or("the Universal Scalability Law has no peak here: κ is 0")?;
    match fit.maximum(usl) {
        Maximum::Near => {
            Err("it is too close to the highest measured throughput to distinguish the two".into())
        }
        Maximum::Contradicted => {
            Err("the Universal Scalability Law predicts it below a measured throughput".into())
        }
        Maximum::None | Maximum::Above(_) => Ok(KneePoint {
            sessions: peak.sessions,
            throughput: peak.throughput,
            latency_us: None,
            measured: false,
        }),
    }
}

fn by_limit(loads: &[LoadPoint], limit_us: Option<f64>) -> KneeResult {
    let limit_us = limit_us.ok_or("no latency limit was given")?;
    match within_limit(loads, limit_us) {
        Within::Highest(place) => Ok(measured(&loads[place])),
        Within::None(place) => Err(format!(
            "no point holds {}: the nearest takes {} at {}",
            time_us(limit_us),
            loads[place].latency_us.map_or_else(String::new, time_us),
            number::sessions(loads[place].sessions),
        )),
        Within::Unknown => Err("no latency was measured".into()),
    }
}

impl KneePoint {
    /// The point in words: `16 sessions: 1,234 operations/s at 1.30 ms on average`. `throughput` is the name of its measure.
    pub fn phrase(&self, throughput: &str) -> String {
        let latency =
            self.latency_us.map_or_else(String::new, |us| format!(" at {} on average", time_us(us)));
        format!("{}: {}{latency}", number::sessions(self.sessions), phrase(throughput, self.throughput))
    }
}

impl Knee {
    /// The three knees, one sentence each; `throughput` is the name of the measure.
    pub fn sentences(&self, throughput: &str) -> [String; 3] {
        let describe = |words: &str, answer: &KneeResult| match answer {
            Ok(point) if point.sessions > self.sessions_max => format!(
                "{words} lies at {} (beyond the {} measured: an extrapolation)",
                point.phrase(throughput),
                fixed(self.sessions_max, 0)
            ),
            Ok(point) => format!("{words} lies at {}", point.phrase(throughput)),
            Err(reason) => format!("{words}: {reason}"),
        };
        let limit = match self.limit_us {
            Some(us) => format!("the highest point within {}", time_us(us)),
            None => "the highest point within a latency limit".into(),
        };
        [
            describe("the knee (Kneedle)", &self.kneedle),
            describe("the peak (Universal Scalability Law)", &self.usl_peak),
            describe(&limit, &self.within_limit),
        ]
    }
}
