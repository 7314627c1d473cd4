//! State shared by the parts of a calibration: the request, the figures so far, and the remaining time.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use dyno_engine::Cancel;
use dyno_record::{Calibration, RawFigure};

use crate::CalibrationEvent;
use crate::device_counters::DeviceCounters;
use crate::order::CalibrationSpec;

/// A ramp ends after two successive steps that gain less than this factor.
const RAMP_GAIN_MIN: f64 = 1.02;

/// Interval at which a pause checks for a stop request.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(20);

pub(crate) struct CalibrationRun<'a> {
    pub(crate) order: &'a CalibrationSpec,
    /// The folder with links resolved.
    pub(crate) folder: PathBuf,
    pub(crate) cancel: &'a Cancel,
    pub(crate) tell: &'a dyn Fn(CalibrationEvent<'_>),
    pub(crate) witness: DeviceCounters,
    pub(crate) results: Calibration,
    /// Estimated time until the end, s.
    pub(crate) left_s: f64,
}

impl CalibrationRun<'_> {
    /// Whether a stop was requested.
    pub(crate) fn is_stopped(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Reports the step that begins and its expected time.
    pub(crate) fn step(&mut self, description: &str, seconds: f64) {
        (self.tell)(CalibrationEvent::Step { description, left_s: self.left_s.max(seconds) });
        self.left_s = (self.left_s - seconds).max(0.0);
    }

    pub(crate) fn put(&mut self, figure: RawFigure) {
        (self.tell)(CalibrationEvent::Figure(&figure));
        self.results.figures.push(figure);
    }

    /// Reports what is not measured, and why.
    pub(crate) fn leave_out(&mut self, why: String) {
        (self.tell)(CalibrationEvent::LeftOut(&why));
        self.results.left_out.push(why);
    }

    /// The highest measured memory bandwidth, MB/s; `None` if it was not measured. A copy counts both its
    /// reads and its writes.
    pub(crate) fn memory_mb_per_s(&self) -> Option<f64> {
        let peak_mb_per_s = |test| self.results.most_mb_per_s(test)?.mb_per_s;
        let tests = [
            dyno_record::RawTest::MemoryRead,
            dyno_record::RawTest::MemoryWrite,
            dyno_record::RawTest::MemoryCopy,
        ];
        tests.into_iter().filter_map(peak_mb_per_s).reduce(f64::max)
    }

    /// Pauses unless a stop is requested.
    pub(crate) fn rest(&self, time: Duration) {
        let begin = Instant::now();
        while begin.elapsed() < time && !self.is_stopped() {
            thread::sleep(STOP_POLL_INTERVAL.min(time));
        }
    }
}

/// Whether the ramp with these rates still gains from more load.
pub(crate) fn is_worth_continuing(rates: &[f64]) -> bool {
    let [before @ .., a, b] = rates else { return true };
    let best = before.iter().copied().fold(0.0, f64::max);
    best == 0.0 || *a > best * RAMP_GAIN_MIN || *b > best * RAMP_GAIN_MIN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ramp_ends_after_two_steps_without_gain() {
        assert!(is_worth_continuing(&[]));
        assert!(is_worth_continuing(&[100.0, 50.0]));
        assert!(is_worth_continuing(&[100.0, 90.0, 110.0]));
        assert!(!is_worth_continuing(&[100.0, 200.0, 201.0, 199.0]));
        assert!(!is_worth_continuing(&[100.0, 200.0, 150.0, 203.9]));
    }
}
