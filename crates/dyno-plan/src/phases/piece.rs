//! One interval of a schedule with one formula: its rate, its arrivals, and when each arrival is due.

use std::f64::consts::TAU;

/// Precision of a due time inside a wave, in seconds: a tenth of a nanosecond.
const SHARP_S: f64 = 1e-10;

/// How the rate changes in the interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum RateShape {
    /// Linear from one rate to another.
    Line { from: f64, to: f64 },
    /// Waves with a period in seconds, starting at the low rate.
    Sine { low: f64, high: f64, period_s: f64 },
}

/// One interval of a schedule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RateSegment {
    pub(super) begin_s: f64,
    /// Its length; the last interval is infinite.
    pub(super) seconds: f64,
    pub(super) shape: RateShape,
    /// Arrivals before the interval begins.
    pub(super) before: f64,
}

impl RateSegment {
    /// Its end in seconds; infinite for the last interval.
    pub(super) fn end_s(&self) -> f64 {
        self.begin_s + self.seconds
    }

    /// Arrivals per second, `s` seconds after its start.
    pub(super) fn rate(&self, s: f64) -> f64 {
        match self.shape {
            RateShape::Line { from, to } if from == to => from,
            RateShape::Line { from, to } => from + (to - from) * s / self.seconds,
            RateShape::Sine { low, high, period_s } => {
                low + (high - low) * (1.0 - (TAU * s / period_s).cos()) / 2.0
            }
        }
    }

    /// Arrivals in its first `s` seconds.
    pub(super) fn arrivals(&self, s: f64) -> f64 {
        match self.shape {
            RateShape::Line { from, to } if from == to => from * s,
            RateShape::Line { from, to } => s * (from + (to - from) * s / self.seconds / 2.0),
            RateShape::Sine { low, high, period_s } => {
                (low + high) / 2.0 * s - (high - low) / 2.0 * period_s / TAU * (TAU * s / period_s).sin()
            }
        }
    }

    /// Arrivals in the whole interval.
    pub(super) fn all(&self) -> f64 {
        if self.seconds.is_finite() || self.rate(0.0) == 0.0 {
            self.arrivals(if self.seconds.is_finite() { self.seconds } else { 0.0 })
        } else {
            f64::INFINITY
        }
    }

    /// Seconds after its start at which `arrivals` have come; fewer than all of its arrivals.
    pub(super) fn when(&self, arrivals: f64) -> f64 {
        if arrivals <= 0.0 {
            return 0.0;
        }
        let s = match self.shape {
            RateShape::Line { from, to } => {
                let slope = if from == to { 0.0 } else { (to - from) / self.seconds };
                // This form of the quadratic root stays exact for a nearly flat line.
                2.0 * arrivals / (from + (from * from + 2.0 * slope * arrivals).max(0.0).sqrt())
            }
            RateShape::Sine { low, high, period_s } => {
                let wave = (low + high) / 2.0 * period_s;
                let waves = (arrivals / wave).floor();
                waves * period_s + self.in_wave(arrivals - waves * wave, period_s)
            }
        };
        s.min(self.seconds)
    }

    /// Like `when`, within one wave: Newton's method with bounds that close in.
    fn in_wave(&self, arrivals: f64, period_s: f64) -> f64 {
        let (mut low_s, mut high_s) = (0.0, period_s);
        let mut s = period_s / 2.0;
        while high_s - low_s > SHARP_S {
            let over = self.arrivals(s) - arrivals;
            if over > 0.0 {
                high_s = s;
            } else {
                low_s = s;
            }
            let next = s - over / self.rate(s);
            if (next - s).abs() < SHARP_S {
                return next.clamp(low_s, high_s);
            }
            let inside = next > low_s && next < high_s;
            s = if inside { next } else { low_s + (high_s - low_s) / 2.0 };
            if s <= low_s || s >= high_s {
                break;
            }
        }
        s
    }
}
