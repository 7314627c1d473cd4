//! When an operation is due: at once (closed loop), or by a schedule of arrivals (open loop).
//!
//! The schedule is made of due moments that do not depend on how the platform keeps up: no arrival is skipped, so a stall
//! is seen by every operation that it delays.

use dyno_engine::data::mix;
use dyno_plan::{Arrivals, Rate, Workload};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// One session's due moments.
#[derive(Debug, Clone)]
pub enum Pace {
    /// The next operation is due when the last has ended.
    Closed,
    /// The next operation is due by schedule.
    Open(Schedule),
}

/// A schedule of arrivals.
#[derive(Debug, Clone)]
pub struct Schedule {
    gap_ns: f64,
    poisson: bool,
    rng: Xoshiro256PlusPlus,
    /// Kept as a float beside the origin: sums of gaps stay exact to far below a nanosecond for years.
    next_after_ns: f64,
}

impl Pace {
    /// The pace of a session `number` of all, which is the one at `place` of `sessions` that share `rate` evenly.
    pub fn new(workload: &Workload, rate: Option<Rate>, number: u32, (place, sessions): (u32, u32)) -> Self {
        let Some(rate) = rate else {
            return Self::Closed;
        };
        let gap_ns = 1e9 * f64::from(sessions) / rate.0;
        let poisson = workload.arrivals == Arrivals::Poisson;
        let mut rng =
            Xoshiro256PlusPlus::seed_from_u64(mix(workload.seed() ^ 0x7061_6365) ^ u64::from(number));
        // Evenly spaced sessions take turns; a Poisson process has no memory, so its first gap is like any other.
        let next_after_ns = match poisson {
            true => exponential(&mut rng) * gap_ns,
            false => gap_ns * f64::from(place) / f64::from(sessions),
        };
        Self::Open(Schedule { gap_ns, poisson, rng, next_after_ns })
    }
}

impl Pace {
    /// Whether operations are due by schedule.
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Open(_))
    }
}

impl Schedule {
    /// The due moment of the next arrival in nanoseconds after the gate opened.
    pub fn due_ns(&self) -> u64 {
        self.next_after_ns as u64
    }

    /// Moves on to the following arrival.
    pub fn advance(&mut self) {
        let gap = if self.poisson { exponential(&mut self.rng) } else { 1.0 };
        self.next_after_ns += gap * self.gap_ns;
    }
}

/// A draw from the exponential distribution with mean 1, by inversion.
fn exponential(rng: &mut Xoshiro256PlusPlus) -> f64 {
    // 53 random bits and a half: uniform in (0, 1), never 0 or 1.
    let uniform = ((rng.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
    -uniform.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due_moments(arrivals: Arrivals, rate: f64, sessions: u32, each: usize) -> Vec<u64> {
        let workload = Workload { rate: Some(Rate(rate)), arrivals, seed: Some(1), ..Workload::default() };
        let mut all = Vec::new();
        for number in 0..sessions {
            let Pace::Open(mut schedule) = Pace::new(&workload, workload.rate, number, (number, sessions))
            else {
                panic!("a plan with a rate is an open loop");
            };
            for _ in 0..each {
                all.push(schedule.due_ns());
                schedule.advance();
            }
        }
        all.sort_unstable();
        all
    }

    #[test]
    fn constant_arrivals_of_all_sessions_are_evenly_spaced() {
        let due = due_moments(Arrivals::Constant, 1_000.0, 4, 250);
        assert_eq!(due.len(), 1_000);
        for (i, moment) in due.iter().enumerate() {
            assert!(moment.abs_diff(i as u64 * 1_000_000) <= 1, "arrival {i} is due at {moment} ns");
        }
    }

    #[test]
    fn poisson_arrivals_have_the_rate_and_the_spread_of_their_law() {
        let due = due_moments(Arrivals::Poisson, 1_000.0, 1, 20_000);
        let gaps: Vec<f64> = due.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e6).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        // Five standard errors around mean 1 and variance 1 of the exponential distribution.
        assert!((mean - 1.0).abs() < 5.0 / (gaps.len() as f64).sqrt(), "mean gap {mean}");
        assert!((variance - 1.0).abs() < 5.0 * (8.0 / gaps.len() as f64).sqrt(), "variance {variance}");
    }

    #[test]
    fn without_a_rate_the_loop_is_closed() {
        assert!(matches!(Pace::new(&Workload::default(), None, 0, (0, 1)), Pace::Closed));
    }
}
