//! One stretch of a schedule with one formula: its rate, the arrivals that it makes, and when each is due.

use std::f64::consts::TAU;

/// How exactly a due moment inside a wave is found, s: a tenth of a nanosecond.
const SHARP_S: f64 = 1e-10;

/// How the rate goes in a stretch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Shape {
    /// From one rate to another in a straight line.
    Line { from: f64, to: f64 },
    /// In waves of so many seconds, from the low rate on.
    Sine { low: f64, high: f64, period_s: f64 },
}

/// A stretch of a schedule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Piece {
    pub(super) begin_s: f64,
    /// The last one has no end.
    pub(super) seconds: f64,
    pub(super) shape: Shape,
    /// Arrivals before it.
    pub(super) before: f64,
}

impl Piece {
    /// Its end, s; infinite for the last one.
    pub(super) fn end_s(&self) -> f64 {
        self.begin_s + self.seconds
    }

    /// Arrivals per second, `s` seconds after its begin.
    pub(super) fn rate(&self, s: f64) -> f64 {
        match self.shape {
            Shape::Line { from, to } if from == to => from,
            Shape::Line { from, to } => from + (to - from) * s / self.seconds,
            Shape::Sine { low, high, period_s } => {
                low + (high - low) * (1.0 - (TAU * s / period_s).cos()) / 2.0
            }
        }
    }

    /// Arrivals in its first `s` seconds.
    pub(super) fn arrivals(&self, s: f64) -> f64 {
        match self.shape {
            Shape::Line { from, to } if from == to => from * s,
            Shape::Line { from, to } => s * (from + (to - from) * s / self.seconds / 2.0),
            Shape::Sine { low, high, period_s } => {
                (low + high) / 2.0 * s - (high - low) / 2.0 * period_s / TAU * (TAU * s / period_s).sin()
            }
        }
    }

    /// Arrivals in all of it.
    pub(super) fn all(&self) -> f64 {
        if self.seconds.is_finite() || self.rate(0.0) == 0.0 {
            self.arrivals(if self.seconds.is_finite() { self.seconds } else { 0.0 })
        } else {
            f64::INFINITY
        }
    }

    /// Seconds after its begin at which `arrivals` of it, fewer than all, have come.
    pub(super) fn when(&self, arrivals: f64) -> f64 {
        if arrivals <= 0.0 {
            return 0.0;
        }
        let s = match self.shape {
            Shape::Line { from, to } => {
                let slope = if from == to { 0.0 } else { (to - from) / self.seconds };
                // The root of the quadratic that stays exact where the line is nearly flat.
                2.0 * arrivals / (from + (from * from + 2.0 * slope * arrivals).max(0.0).sqrt())
            }
            Shape::Sine { low, high, period_s } => {
                let wave = (low + high) / 2.0 * period_s;
                let waves = (arrivals / wave).floor();
                waves * period_s + self.in_wave(arrivals - waves * wave, period_s)
            }
        };
        s.min(self.seconds)
    }

    /// The same within one wave: Newton's steps, kept between bounds that close in.
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
