//! What the parts of a calibration share: what they were told to do, what they have found out, and how long it will take.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use dyno_engine::Cancel;
use dyno_record::{Calibration, RawFigure};

use crate::Told;
use crate::order::Order;
use crate::witness::Witness;

/// Two steps in a row that bring less than this more end a ramp.
const PAYS_FROM: f64 = 1.02;

/// How often a rest looks for a stop.
const LOOK: Duration = Duration::from_millis(20);

/// A calibration under way.
pub(crate) struct Course<'a> {
    pub(crate) order: &'a Order,
    /// The folder, without links.
    pub(crate) folder: PathBuf,
    pub(crate) cancel: &'a Cancel,
    pub(crate) tell: &'a dyn Fn(Told<'_>),
    pub(crate) witness: Witness,
    pub(crate) found: Calibration,
    /// How long it will take from here on, s, as far as that can be known.
    pub(crate) left_s: f64,
}

impl Course<'_> {
    /// Whether a stop was asked for.
    pub(crate) fn is_stopped(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Says what is done now, which is expected to take so long.
    pub(crate) fn step(&mut self, what: &str, seconds: f64) {
        (self.tell)(Told::Step { what, left_s: self.left_s.max(seconds) });
        self.left_s = (self.left_s - seconds).max(0.0);
    }

    /// Keeps a figure.
    pub(crate) fn put(&mut self, figure: RawFigure) {
        (self.tell)(Told::Figure(&figure));
        self.found.figures.push(figure);
    }

    /// Says what is not measured, and why.
    pub(crate) fn leave_out(&mut self, why: String) {
        (self.tell)(Told::LeftOut(&why));
        self.found.left_out.push(why);
    }

    /// What memory gave at most, MB/s, if it was measured. A copy counts what is read and what is written.
    pub(crate) fn memory_mb_per_s(&self) -> Option<f64> {
        let of = |test| self.found.most_mb_per_s(test)?.mb_per_s;
        let tests = [
            dyno_record::RawTest::MemoryRead,
            dyno_record::RawTest::MemoryWrite,
            dyno_record::RawTest::MemoryCopy,
        ];
        tests.into_iter().filter_map(of).reduce(f64::max)
    }

    /// Waits, unless a stop is asked for.
    pub(crate) fn rest(&self, time: Duration) {
        let begin = Instant::now();
        while begin.elapsed() < time && !self.is_stopped() {
            thread::sleep(LOOK.min(time));
        }
    }
}

/// Whether more still pays, where a ramp has given these rates so far.
pub(crate) fn still_pays(rates: &[f64]) -> bool {
    let [before @ .., a, b] = rates else { return true };
    let best = before.iter().copied().fold(0.0, f64::max);
    best == 0.0 || *a > best * PAYS_FROM || *b > best * PAYS_FROM
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ramp_ends_when_two_steps_in_a_row_bring_nothing() {
        assert!(still_pays(&[]));
        assert!(still_pays(&[100.0, 50.0]));
        assert!(still_pays(&[100.0, 90.0, 110.0]));
        assert!(!still_pays(&[100.0, 200.0, 201.0, 199.0]));
        assert!(!still_pays(&[100.0, 200.0, 150.0, 203.9]));
    }
}
