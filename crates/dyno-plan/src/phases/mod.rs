//! Schedules of phases: how the rate of an open loop changes during one run.
//!
//! | file | job |
//! | --- | --- |
//! | `text` | parses and writes a phase |
//! | `csv` | reads a file of times and rates |
//! | `curve` | the rate at each moment, the arrivals so far, and when each is due |
//! | `piece` | the same for one interval with one formula |

mod csv;
mod curve;
mod piece;
mod text;

pub(crate) use csv::read_rows;
pub use curve::{RateCurve, Stage};
pub use text::PHASES_MAX;

use crate::units::TimeSpan;

/// One phase of a schedule. Rates are in operations per second over all sessions, and may be 0.
#[derive(Debug, Clone, PartialEq)]
pub enum RatePhase {
    /// `hold 1000/s 60s`: a constant rate.
    Hold {
        /// The rate in operations per second.
        rate: f64,
        /// How long the phase lasts.
        time: TimeSpan,
    },
    /// `ramp 0..1000/s 30s`: from one rate to another, linearly.
    Ramp {
        /// The rate at the start.
        from: f64,
        /// The rate at the end.
        to: f64,
        /// How long the phase lasts.
        time: TimeSpan,
    },
    /// `steps 200/s..1000/s by 200/s each 10s`: one rate after another; each step has its own figures.
    Steps {
        /// The rate of the first step.
        from: f64,
        /// The rate of the last step.
        to: f64,
        /// The difference between two steps.
        by: f64,
        /// How long each step lasts.
        each: TimeSpan,
    },
    /// `sine 200/s..1000/s period 20s for 60s`: waves that start at the low rate.
    Sine {
        /// The lowest rate of a wave.
        low: f64,
        /// The highest rate of a wave.
        high: f64,
        /// The length of one wave.
        period: TimeSpan,
        /// The length of the whole phase.
        time: TimeSpan,
    },
    /// `csv load.csv`: times and rates of a file, linear between rows.
    Csv {
        /// The name of the CSV file.
        file: String,
        /// The rows: seconds since the start of the phase, and the rate then; absent until the file is read.
        rows: Option<Vec<(TimeSpan, f64)>>,
    },
}

impl RatePhase {
    /// Its length; `None` until its file is read.
    pub fn time(&self) -> Option<TimeSpan> {
        match self {
            Self::Hold { time, .. } | Self::Ramp { time, .. } | Self::Sine { time, .. } => Some(*time),
            Self::Steps { each, .. } => Some(TimeSpan(each.0 * u32::try_from(self.rates().len()).ok()?)),
            Self::Csv { rows, .. } => rows.as_ref()?.last().map(|(at, _)| *at),
        }
    }

    /// The rates of its steps; empty for other phases.
    fn rates(&self) -> Vec<f64> {
        let Self::Steps { from, to, by, .. } = self else { return Vec::new() };
        let steps = ((to - from).abs() / by).round() as u32;
        (0..=steps)
            .map(|step| if step == steps { *to } else { from + (to - from).signum() * by * f64::from(step) })
            .collect()
    }
}

/// The length of all `phases`; `None` until their files are read.
pub fn total(phases: &[RatePhase]) -> Option<TimeSpan> {
    phases
        .iter()
        .try_fold(TimeSpan::default(), |sum, phase| Some(TimeSpan(sum.0.checked_add(phase.time()?.0)?)))
}

#[cfg(test)]
mod tests;
