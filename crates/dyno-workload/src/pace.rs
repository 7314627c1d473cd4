//! When an operation is due: at once (closed loop), or by a schedule of arrivals (open loop).
//!
//! The schedule is made of due moments that do not depend on how the platform keeps up: no arrival is skipped, so a stall
//! is seen by every operation that it delays.

use std::sync::Arc;

use dyno_engine::data::mix;
use dyno_plan::{Arrivals, Curve, Rate, Workload};
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
    /// The rate of a schedule of phases, which all sessions share.
    phased: Option<Phased>,
}

/// Where a session is in a schedule of phases.
#[derive(Debug, Clone)]
struct Phased {
    curve: Arc<Curve>,
    /// Arrivals of all sessions by the next of this one, on average; whole numbers where they are evenly spaced.
    arrivals: f64,
    /// Of how many sessions this is one.
    sessions: f64,
    hint: usize,
}

impl Phased {
    /// The moment of the arrival that it is at, in nanoseconds; far beyond any run where none comes any more.
    fn due_ns(&mut self) -> f64 {
        (self.curve.when(self.arrivals, &mut self.hint) * 1e9).min(NEVER_NS)
    }
}

/// A moment that no run lives to see: a hundred years, so that a clock's reading can be added to it.
const NEVER_NS: f64 = 100.0 * 366.0 * 86_400.0 * 1e9;

impl Pace {
    /// The pace of a session `number` of all, which is the one at `place` of `sessions` that share `rate` evenly.
    pub fn new(workload: &Workload, rate: Option<Rate>, number: u32, sharing: (u32, u32)) -> Self {
        Self::after(workload, rate, None, number, sharing)
    }

    /// The same where the rate goes by phases: the `curve` of the workload's, with the warm-up as its lead.
    pub fn after(
        workload: &Workload,
        rate: Option<Rate>,
        curve: Option<&Arc<Curve>>,
        number: u32,
        (place, sessions): (u32, u32),
    ) -> Self {
        let gap_ns = match (rate, curve) {
            (Some(rate), _) => 1e9 * f64::from(sessions) / rate.0,
            (None, Some(_)) => 0.0,
            (None, None) => return Self::Closed,
        };
        let poisson = workload.arrivals == Arrivals::Poisson;
        let mut rng =
            Xoshiro256PlusPlus::seed_from_u64(mix(workload.seed() ^ 0x7061_6365) ^ u64::from(number));
        // Evenly spaced sessions take turns; a Poisson process has no memory, so its first gap is like any other.
        let first = if poisson { exponential(&mut rng) } else { f64::from(place) / f64::from(sessions) };
        let phased = curve.map(|curve| Phased {
            curve: Arc::clone(curve),
            arrivals: if poisson { first * f64::from(sessions) } else { f64::from(place) },
            sessions: sessions.into(),
            hint: 0,
        });
        let mut schedule = Schedule { gap_ns, poisson, rng, next_after_ns: first * gap_ns, phased };
        if let Some(phased) = &mut schedule.phased {
            schedule.next_after_ns = phased.due_ns();
        }
        Self::Open(schedule)
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
        match &mut self.phased {
            None => self.next_after_ns += gap * self.gap_ns,
            Some(phased) => {
                phased.arrivals += gap * phased.sessions;
                self.next_after_ns = phased.due_ns();
            }
        }
    }

    /// Moves on to the first arrival that is due at `end_ns` after the gate or later: how many lie before that. Of as many as a
    /// second cannot count one by one it is told within moments.
    pub fn pass(&mut self, end_ns: u64) -> u64 {
        let (mut passed, end_s) = (0, end_ns as f64 / 1e9);
        let (at, end, step) = match &self.phased {
            None => (self.next_after_ns, end_ns as f64, self.gap_ns),
            Some(phased) => (phased.arrivals, phased.curve.arrivals(end_s), phased.sessions),
        };
        // Far from the end by counting in the schedule's own measure, in which arrivals are evenly spaced or Poisson's; near it
        // moment by moment, where rounding would decide.
        let near = end - step - end.abs() * NEAR;
        let mut reached = at;
        if self.poisson {
            while reached < near {
                reached += exponential(&mut self.rng) * step;
                passed += 1;
            }
        } else if at < near {
            let steps = ((near - at) / step).floor();
            (reached, passed) = (at + steps * step, steps as u64);
        }
        if passed > 0 {
            match &mut self.phased {
                None => self.next_after_ns = reached,
                Some(phased) => {
                    phased.arrivals = reached;
                    self.next_after_ns = phased.due_ns();
                }
            }
        }
        while self.due_ns() < end_ns {
            self.advance();
            passed += 1;
        }
        passed
    }
}

/// What rounding may make of a sum of arrivals, as a share of it.
const NEAR: f64 = 1e-9;

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

    fn phased(arrivals: Arrivals, phases: &[&str], number: u32, sessions: u32) -> Schedule {
        let phases = phases.iter().map(|phase| phase.parse().unwrap()).collect();
        let workload = Workload { phases, arrivals, seed: Some(1), ..Workload::default() };
        let curve = workload.curve(1.0).map(Arc::new);
        match Pace::after(&workload, None, curve.as_ref(), number, (number, sessions)) {
            Pace::Open(schedule) => schedule,
            Pace::Closed => panic!("a plan with phases is an open loop"),
        }
    }

    fn until(mut schedule: Schedule, end_ns: u64) -> Vec<u64> {
        let mut all = Vec::new();
        while schedule.due_ns() < end_ns {
            all.push(schedule.due_ns());
            schedule.advance();
        }
        all
    }

    #[test]
    fn one_phase_of_one_rate_is_that_rate() {
        for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
            let flat = due_moments(arrivals, 1_000.0, 3, 2_000);
            let each = |n| until(phased(arrivals, &["hold 1000/s 9s"], n, 3), 7_000_000_000);
            let mut same: Vec<u64> = (0..3).flat_map(|n| each(n).into_iter().take(2_000)).collect();
            same.sort_unstable();
            for (one, other) in flat.iter().zip(&same) {
                assert!(one.abs_diff(*other) <= 2, "{one} {other}");
            }
        }
    }

    #[test]
    fn arrivals_of_phases_are_as_many_as_asked_whatever_sessions_share_them() {
        const PHASES: [&str; 3] = ["ramp 0..1000/s 10s", "sine 200..1000/s period 4s for 20s", "hold 0/s 5s"];
        let (asked, second) = ([5_000.0, 12_000.0, 0.0], 1_000_000_000);
        let ends = [1, 11, 31, 36].map(|s| s * second);
        for sessions in [1, 7] {
            for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
                let due: Vec<u64> = (0..sessions)
                    .flat_map(|n| until(phased(arrivals, &PHASES, n, sessions), 99 * second))
                    .collect();
                let chance =
                    |asked: f64| if arrivals == Arrivals::Poisson { 5.0 * asked.sqrt() } else { 1.0 };
                assert!(due.iter().all(|due| *due >= second), "nothing is due in a warm-up at 0/s");
                for (at, asked) in asked.into_iter().enumerate() {
                    let came = due.iter().filter(|due| (ends[at]..ends[at + 1]).contains(due)).count() as f64;
                    assert!(
                        (came - asked).abs() <= chance(asked),
                        "{came} of {asked} by {sessions} sessions"
                    );
                }
                assert!(due.iter().all(|due| *due <= ends[2]), "and nothing behind a phase that ends at 0/s");
            }
        }
    }

    #[test]
    fn a_poisson_process_of_phases_has_the_gaps_of_its_law_in_its_own_time() {
        let curve = Workload { phases: vec!["ramp 10..2000/s 20s".parse().unwrap()], ..Workload::default() };
        let curve = curve.curve(1.0).unwrap();
        let due = until(phased(Arrivals::Poisson, &["ramp 10..2000/s 20s"], 0, 1), 21_000_000_000);
        let gaps: Vec<f64> = due
            .windows(2)
            .map(|pair| curve.arrivals(pair[1] as f64 / 1e9) - curve.arrivals(pair[0] as f64 / 1e9))
            .collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean - 1.0).abs() < 5.0 / (gaps.len() as f64).sqrt(), "mean gap {mean}");
        assert!((variance - 1.0).abs() < 5.0 * (8.0 / gaps.len() as f64).sqrt(), "variance {variance}");
    }

    #[test]
    fn arrivals_that_are_passed_are_as_many_as_would_have_come() {
        const PHASES: [&str; 4] =
            ["ramp 0..4000/s 10s", "hold 0/s 5s", "hold 50/s 4s", "sine 0..900/s period 3s for 9s"];
        let second = 1_000_000_000;
        for (arrivals, sessions) in [(Arrivals::Constant, 1), (Arrivals::Constant, 7), (Arrivals::Poisson, 3)]
        {
            for number in 0..sessions {
                let flat =
                    Workload { rate: Some(Rate(700.0)), arrivals, seed: Some(1), ..Workload::default() };
                let Pace::Open(flat) = Pace::new(&flat, flat.rate, number, (number, sessions)) else {
                    panic!()
                };
                for schedule in [flat, phased(arrivals, &PHASES, number, sessions)] {
                    let (mut jumps, mut each) = (schedule.clone(), schedule);
                    for end_ns in
                        [0, second, 3 * second + 7, 11 * second, 16 * second, 20 * second, 29 * second]
                    {
                        let one_by_one = until(each.clone(), end_ns);
                        one_by_one.iter().for_each(|_| each.advance());
                        assert_eq!(
                            jumps.pass(end_ns),
                            one_by_one.len() as u64,
                            "until {end_ns} of {arrivals:?}"
                        );
                        assert!(jumps.due_ns().abs_diff(each.due_ns()) <= 1, "{end_ns}");
                    }
                }
            }
        }
        // One by one this would take hours.
        let mut many = phased(Arrivals::Constant, &["hold 1000000/s 24h"], 0, 1);
        assert_eq!(many.pass(86_401 * second), 86_401_000_000);
    }

    #[test]
    fn without_a_rate_the_loop_is_closed() {
        assert!(matches!(Pace::new(&Workload::default(), None, 0, (0, 1)), Pace::Closed));
    }
}
