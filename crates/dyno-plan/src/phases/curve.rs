//! The rate at each moment of a schedule, how many arrivals it makes, and when each is due.

use super::Phase;
use super::piece::{Piece, Shape};

/// A schedule as a function of time. Before its phases lies a lead, as long as a warm-up, at the rate that the first one
/// begins with; behind them the last rate goes on.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    stages: Vec<Stage>,
    pieces: Vec<Piece>,
}

/// A part of a schedule with figures of its own: a phase, or one step of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Stage {
    /// As it is written: `ramp 0/s..1000/s 30s`; of a file without its rows.
    pub name: String,
    /// Its begin, seconds after the first one's.
    pub begin_s: f64,
    /// Its end.
    pub end_s: f64,
}

impl Curve {
    /// The function of `phases`, all of which were read, behind a lead of `lead_s` seconds.
    pub fn of(phases: &[Phase], lead_s: f64) -> Self {
        let mut curve = Self { stages: Vec::new(), pieces: Vec::new() };
        for phase in phases {
            curve.take(phase, lead_s);
        }
        let first = curve.pieces.first().map_or(0.0, |piece| piece.rate(0.0));
        let last = curve.pieces.last().map_or(0.0, |piece| piece.rate(piece.seconds));
        let flat = |begin_s, seconds, rate| Piece {
            begin_s,
            seconds,
            shape: Shape::Line { from: rate, to: rate },
            before: 0.0,
        };
        curve.pieces.insert(0, flat(0.0, lead_s, first));
        let end_s = curve.pieces.last().map_or(0.0, Piece::end_s);
        curve.pieces.push(flat(end_s, f64::INFINITY, last));
        let mut before = 0.0;
        for piece in &mut curve.pieces {
            piece.before = before;
            before += piece.all();
        }
        curve
    }

    fn take(&mut self, phase: &Phase, lead_s: f64) {
        let begin_s = self.stages.last().map_or(0.0, |stage| stage.end_s);
        let mut at_s = lead_s + begin_s;
        let mut name = phase.to_string();
        let mut add = |seconds: f64, shape: Shape| {
            self.pieces.push(Piece { begin_s: at_s, seconds, shape, before: 0.0 });
            at_s += seconds;
        };
        match phase {
            Phase::Hold { rate, time } => add(time.0.as_secs_f64(), Shape::Line { from: *rate, to: *rate }),
            Phase::Ramp { from, to, time } => add(time.0.as_secs_f64(), Shape::Line { from: *from, to: *to }),
            Phase::Sine { low, high, period, time } => add(
                time.0.as_secs_f64(),
                Shape::Sine { low: *low, high: *high, period_s: period.0.as_secs_f64() },
            ),
            Phase::Csv { file, rows } => {
                for pair in rows.as_deref().unwrap_or_default().windows(2) {
                    let (begin, end) = (pair[0], pair[1]);
                    // Two rows of one time are a jump.
                    if end.0 > begin.0 {
                        add((end.0.0 - begin.0.0).as_secs_f64(), Shape::Line { from: begin.1, to: end.1 });
                    }
                }
                name = format!("csv {file}");
            }
            Phase::Steps { each, .. } => {
                for rate in phase.rates() {
                    self.take(&Phase::Hold { rate, time: *each }, lead_s);
                }
                return;
            }
        }
        self.stages.push(Stage { name, begin_s, end_s: at_s - lead_s });
    }

    /// Its parts with figures of their own, one after the other.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// Operations per second, `s` seconds after the lead's begin. Where it jumps, the rate behind the jump.
    pub fn rate(&self, s: f64) -> f64 {
        let piece = self.piece_at(s);
        piece.rate((s - piece.begin_s).max(0.0))
    }

    /// Arrivals from the lead's begin until `s` seconds later.
    pub fn arrivals(&self, s: f64) -> f64 {
        let piece = self.piece_at(s);
        piece.before + piece.arrivals((s - piece.begin_s).max(0.0))
    }

    fn piece_at(&self, s: f64) -> &Piece {
        let at = self.pieces.partition_point(|piece| piece.begin_s <= s);
        &self.pieces[at.saturating_sub(1)]
    }

    /// Seconds after the lead's begin at which `arrivals` have come, and another one is due; infinite where no more come. `hint`
    /// is 0, or what an earlier call for fewer arrivals has left there.
    pub fn when(&self, arrivals: f64, hint: &mut usize) -> f64 {
        let last = self.pieces.len() - 1;
        // What is due where nothing comes for a while is due when it begins to come.
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
