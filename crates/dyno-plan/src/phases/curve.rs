//! The rate of a schedule at each moment, the number of arrivals so far, and the due time of each arrival.

use super::RatePhase;
use super::piece::{RateSegment, RateShape};

/// A schedule as a function of time. A lead comes before its phases: as long as the warm-up, at the first phase's initial
/// rate. After the phases the last rate continues.
#[derive(Debug, Clone, PartialEq)]
pub struct RateCurve {
    stages: Vec<Stage>,
    pieces: Vec<RateSegment>,
}

/// A part of a schedule with its own figures: a phase, or one step of a `steps` phase.
#[derive(Debug, Clone, PartialEq)]
pub struct Stage {
    /// As written: `ramp 0/s..1000/s 30s`; for a CSV file, without its rows.
    pub name: String,
    /// Its start, in seconds after the start of the first stage.
    pub begin_s: f64,
    /// Its end, in seconds after the start of the first stage.
    pub end_s: f64,
}

impl RateCurve {
    /// The function of `phases` after a lead of `lead_s` seconds; all their files must be read.
    pub fn of(phases: &[RatePhase], lead_s: f64) -> Self {
        let mut curve = Self { stages: Vec::new(), pieces: Vec::new() };
        for phase in phases {
            curve.take(phase, lead_s);
        }
        let first = curve.pieces.first().map_or(0.0, |piece| piece.rate(0.0));
        let last = curve.pieces.last().map_or(0.0, |piece| piece.rate(piece.seconds));
        let flat = |begin_s, seconds, rate| RateSegment {
            begin_s,
            seconds,
            shape: RateShape::Line { from: rate, to: rate },
            before: 0.0,
        };
        curve.pieces.insert(0, flat(0.0, lead_s, first));
        let end_s = curve.pieces.last().map_or(0.0, RateSegment::end_s);
        curve.pieces.push(flat(end_s, f64::INFINITY, last));
        let mut before = 0.0;
        for piece in &mut curve.pieces {
            piece.before = before;
            before += piece.all();
        }
        curve
    }

    fn take(&mut self, phase: &RatePhase, lead_s: f64) {
        let begin_s = self.stages.last().map_or(0.0, |stage| stage.end_s);
        let mut at_s = lead_s + begin_s;
        let mut name = phase.to_string();
        let mut add = |seconds: f64, shape: RateShape| {
            self.pieces.push(RateSegment { begin_s: at_s, seconds, shape, before: 0.0 });
            at_s += seconds;
        };
        match phase {
            RatePhase::Hold { rate, time } => {
                add(time.0.as_secs_f64(), RateShape::Line { from: *rate, to: *rate });
            }
            RatePhase::Ramp { from, to, time } => {
                add(time.0.as_secs_f64(), RateShape::Line { from: *from, to: *to });
            }
            RatePhase::Sine { low, high, period, time } => add(
                time.0.as_secs_f64(),
                RateShape::Sine { low: *low, high: *high, period_s: period.0.as_secs_f64() },
            ),
            RatePhase::Csv { file, rows } => {
                for pair in rows.as_deref().unwrap_or_default().windows(2) {
                    let (begin, end) = (pair[0], pair[1]);
                    // Two rows with the same time are a jump.
                    if end.0 > begin.0 {
                        add(
                            (end.0.0 - begin.0.0).as_secs_f64(),
                            RateShape::Line { from: begin.1, to: end.1 },
                        );
                    }
                }
                name = format!("csv {file}");
            }
            RatePhase::Steps { each, .. } => {
                for rate in phase.rates() {
                    self.take(&RatePhase::Hold { rate, time: *each }, lead_s);
                }
                return;
            }
        }
        self.stages.push(Stage { name, begin_s, end_s: at_s - lead_s });
    }

    /// The parts with their own figures, in order.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// Operations per second, `s` seconds after the start of the lead; at a jump, the rate after it.
    pub fn rate(&self, s: f64) -> f64 {
        let piece = self.piece_at(s);
        piece.rate((s - piece.begin_s).max(0.0))
    }

    /// Arrivals from the start of the lead until `s` seconds later.
    pub fn arrivals(&self, s: f64) -> f64 {
        let piece = self.piece_at(s);
        piece.before + piece.arrivals((s - piece.begin_s).max(0.0))
    }

    fn piece_at(&self, s: f64) -> &RateSegment {
        let at = self.pieces.partition_point(|piece| piece.begin_s <= s);
        &self.pieces[at.saturating_sub(1)]
    }

    /// The due time of the next arrival after `arrivals`, in seconds after the start of the lead; infinite if no more come.
    /// `hint` is 0 on the first call; later calls, for more arrivals, pass back what the call before left in it.
    pub fn when(&self, arrivals: f64, hint: &mut usize) -> f64 {
        let last = self.pieces.len() - 1;
        // An arrival due within a pause is due when the pause ends.
        while *hint < last && arrivals >= self.pieces[*hint + 1].before {
            *hint += 1;
        }
        let piece = &self.pieces[*hint];
        if *hint == last && piece.rate(0.0) == 0.0 {
            return f64::INFINITY;
        }
        piece.begin_s + piece.when(arrivals - piece.before)
    }
}
