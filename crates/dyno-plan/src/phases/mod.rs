//! A schedule of phases: the rate of an open loop as it changes in the course of one run.
//!
//! | file | job |
//! | --- | --- |
//! | `text` | how a phase is written and read |
//! | `csv` | a file of times and rates |
//! | `curve` | the rate at each moment, how many arrivals it makes, and when each is due |
//! | `piece` | the same of one stretch with one formula |

mod csv;
mod curve;
mod piece;
mod text;

pub(crate) use csv::read_rows;
pub use curve::{Curve, Stage};
pub use text::PHASES_MAX;

use crate::units::Span;

/// One phase of a schedule. Rates are in operations per second over all sessions, and may be 0.
#[derive(Debug, Clone, PartialEq)]
pub enum Phase {
    /// `hold 1000/s 60s`: the same rate all the time.
    Hold {
        /// The rate.
        rate: f64,
        /// How long.
        time: Span,
    },
    /// `ramp 0..1000/s 30s`: from one rate to another in a straight line.
    Ramp {
        /// The rate at the begin.
        from: f64,
        /// The rate at the end.
        to: f64,
        /// How long.
        time: Span,
    },
    /// `steps 200/s..1000/s by 200/s each 10s`: one rate after the other, each a phase with figures of its own.
    Steps {
        /// The rate of the first step.
        from: f64,
        /// The rate of the last step.
        to: f64,
        /// How far apart they are.
        by: f64,
        /// How long each is.
        each: Span,
    },
    /// `sine 200/s..1000/s period 20s for 60s`: up and down in waves that begin at the low rate.
    Sine {
        /// The lowest rate.
        low: f64,
        /// The highest rate.
        high: f64,
        /// How long a wave is.
        period: Span,
        /// How long all of it is.
        time: Span,
    },
    /// `csv load.csv`: times and rates of a file, in straight lines from one row to the next.
    Csv {
        /// The file's name.
        file: String,
        /// What stands in it, once it was read: seconds since the phase's begin, and the rate there.
        rows: Option<Vec<(Span, f64)>>,
    },
}

impl Phase {
    /// How long it is; nothing where that stands in a file that was not read yet.
    pub fn time(&self) -> Option<Span> {
        match self {
            Self::Hold { time, .. } | Self::Ramp { time, .. } | Self::Sine { time, .. } => Some(*time),
            Self::Steps { each, .. } => Some(Span(each.0 * u32::try_from(self.rates().len()).ok()?)),
            Self::Csv { rows, .. } => rows.as_ref()?.last().map(|(at, _)| *at),
        }
    }

    /// The rates of its steps; of what has none nothing.
    fn rates(&self) -> Vec<f64> {
        let Self::Steps { from, to, by, .. } = self else { return Vec::new() };
        let steps = ((to - from).abs() / by).round() as u32;
        (0..=steps)
            .map(|step| if step == steps { *to } else { from + (to - from).signum() * by * f64::from(step) })
            .collect()
    }
}

/// How long all `phases` are together; nothing where a file was not read yet.
pub fn total(phases: &[Phase]) -> Option<Span> {
    phases.iter().try_fold(Span::default(), |sum, phase| Some(Span(sum.0.checked_add(phase.time()?.0)?)))
}

#[cfg(test)]
mod tests;
