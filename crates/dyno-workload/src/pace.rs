//! Decides when an operation is due: immediately (closed loop), or by a schedule of arrivals (open loop).
//!
//! Due moments do not depend on how fast the platform is. No arrival is skipped, so every operation that a stall delays shows it
//! in its response time.

use std::sync::Arc;

use dyno_engine::data::mix;
use dyno_plan::{Arrivals, Rate, RateCurve, WorkloadSettings};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The due moments of one session.
#[derive(Debug, Clone)]
pub enum Pace {
    /// The next operation is due when the last one has ended.
    Closed,
    /// The next operation is due at its scheduled moment.
    Open(ArrivalSchedule),
}

/// A schedule of arrivals for one session.
#[derive(Debug, Clone)]
pub struct ArrivalSchedule {
    gap_ns: f64,
    poisson: bool,
    rng: Xoshiro256PlusPlus,
    /// A float, separate from the origin: sums of gaps stay exact to far below a nanosecond for years.
    next_after_ns: f64,
    /// The rate of a schedule of phases; all sessions share it.
    phased: Option<Phased>,
}

/// The position of a session in a schedule of phases.
#[derive(Debug, Clone)]
struct Phased {
    curve: Arc<RateCurve>,
    /// Expected arrivals of all sessions before the next one of this session; integers if arrivals are evenly spaced.
    arrivals: f64,
    /// Number of sessions that share the schedule.
    sessions: f64,
    hint: usize,
}

impl Phased {
    /// The due moment of the current arrival in nanoseconds; beyond any run if no more arrivals come.
    fn due_ns(&mut self) -> f64 {
        (self.curve.when(self.arrivals, &mut self.hint) * 1e9).min(NEVER_NS)
    }
}

/// A moment beyond any run: a hundred years, so that a clock's reading can be added without overflow.
const NEVER_NS: f64 = 100.0 * 366.0 * 86_400.0 * 1e9;

impl Pace {
    /// The pace of session `number`, which has the index `place` among `sessions` that share `rate` evenly.
    pub fn new(workload: &WorkloadSettings, rate: Option<Rate>, number: u32, sharing: (u32, u32)) -> Self {
        Self::after(workload, rate, None, number, sharing)
    }

    /// The same with phases: `curve` is the rate of the workload, with the warm-up as its lead.
    pub fn after(
        workload: &WorkloadSettings,
        rate: Option<Rate>,
        curve: Option<&Arc<RateCurve>>,
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
        // Sessions with even spacing alternate; a Poisson process has no memory, so its first gap is like any other.
        let first = if poisson { exponential(&mut rng) } else { f64::from(place) / f64::from(sessions) };
        let phased = curve.map(|curve| Phased {
            curve: Arc::clone(curve),
            arrivals: if poisson { first * f64::from(sessions) } else { f64::from(place) },
            sessions: sessions.into(),
            hint: 0,
        });
        let mut schedule = ArrivalSchedule { gap_ns, poisson, rng, next_after_ns: first * gap_ns, phased };
        if let Some(phased) = &mut schedule.phased {
            schedule.next_after_ns = phased.due_ns();
        }
        Self::Open(schedule)
    }
}

impl Pace {
    /// Whether operations are due on a schedule.
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Open(_))
    }
}

impl ArrivalSchedule {
    /// The due moment of the next arrival, in nanoseconds after the gate opened.
    pub fn due_ns(&self) -> u64 {
        self.next_after_ns as u64
    }

    /// Moves to the following arrival.
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

    /// Moves to the first arrival that is due at `end_ns` after the gate or later; returns the number of skipped arrivals. It takes
    /// moments even if counting the arrivals one by one would take longer than a second.
    pub fn pass(&mut self, end_ns: u64) -> u64 {
        let (mut passed, end_s) = (0, end_ns as f64 / 1e9);
        let (at, end, step) = match &self.phased {
            None => (self.next_after_ns, end_ns as f64, self.gap_ns),
            Some(phased) => (phased.arrivals, phased.curve.arrivals(end_s), phased.sessions),
        };
        // Far from the end, count in the schedule's own measure, in which arrivals are evenly spaced or Poisson. Near the end, where
        // rounding would decide, go one by one.
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

/// The relative rounding error of a sum of arrivals.
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

    fn due_moments(arrivals: Arrivals, rate: f64, sessions: u32, arrivals_per_session: usize) -> Vec<u64> {
        let workload = WorkloadSettings {
            rate: Some(Rate(rate)),
            arrivals,
            seed: Some(1),
            ..WorkloadSettings::default()
        };
        let mut all = Vec::new();
        for number in 0..sessions {
            let Pace::Open(mut schedule) = Pace::new(&workload, workload.rate, number, (number, sessions))
            else {
                panic!("a plan with a rate is an open loop");
            };
            for _ in 0..arrivals_per_session {
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
    fn poisson_arrivals_have_expected_rate_and_variance() {
        let due = due_moments(Arrivals::Poisson, 1_000.0, 1, 20_000);
        let gaps: Vec<f64> = due.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e6).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        // Five standard errors around mean 1 and variance 1 of the exponential distribution.
        assert!((mean - 1.0).abs() < 5.0 / (gaps.len() as f64).sqrt(), "mean gap {mean}");
        assert!((variance - 1.0).abs() < 5.0 * (8.0 / gaps.len() as f64).sqrt(), "variance {variance}");
    }

    fn phased(arrivals: Arrivals, phases: &[&str], number: u32, sessions: u32) -> ArrivalSchedule {
        let phases = phases.iter().map(|phase| phase.parse().unwrap()).collect();
        let workload = WorkloadSettings { phases, arrivals, seed: Some(1), ..WorkloadSettings::default() };
        let curve = workload.curve(1.0).map(Arc::new);
        match Pace::after(&workload, None, curve.as_ref(), number, (number, sessions)) {
            Pace::Open(schedule) => schedule,
            Pace::Closed => panic!("a plan with phases is an open loop"),
        }
    }

    fn until(mut schedule: ArrivalSchedule, end_ns: u64) -> Vec<u64> {
        let mut all = Vec::new();
        while schedule.due_ns() < end_ns {
            all.push(schedule.due_ns());
            schedule.advance();
        }
        all
    }

    #[test]
    fn single_hold_phase_matches_plain_rate() {
        for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
            let flat = due_moments(arrivals, 1_000.0, 3, 2_000);
            let session_arrivals = |n| until(phased(arrivals, &["hold 1000/s 9s"], n, 3), 7_000_000_000);
            let mut same: Vec<u64> =
                (0..3).flat_map(|n| session_arrivals(n).into_iter().take(2_000)).collect();
            same.sort_unstable();
            for (one, other) in flat.iter().zip(&same) {
                assert!(one.abs_diff(*other) <= 2, "{one} {other}");
            }
        }
    }

    #[test]
    fn phase_arrival_count_is_independent_of_session_count() {
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
    fn poisson_phase_gaps_are_exponential_in_curve_time() {
        let curve = WorkloadSettings {
            phases: vec!["ramp 10..2000/s 20s".parse().unwrap()],
            ..WorkloadSettings::default()
        };
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
    fn skipped_arrivals_match_count_of_regular_arrivals() {
        const PHASES: [&str; 4] =
            ["ramp 0..4000/s 10s", "hold 0/s 5s", "hold 50/s 4s", "sine 0..900/s period 3s for 9s"];
        let second_ns = 1_000_000_000;
        for (arrivals, sessions) in [(Arrivals::Constant, 1), (Arrivals::Constant, 7), (Arrivals::Poisson, 3)]
        {
            for number in 0..sessions {
                let flat = WorkloadSettings {
                    rate: Some(Rate(700.0)),
                    arrivals,
                    seed: Some(1),
                    ..WorkloadSettings::default()
                };
                let Pace::Open(flat) = Pace::new(&flat, flat.rate, number, (number, sessions)) else {
                    panic!()
                };
                for schedule in [flat, phased(arrivals, &PHASES, number, sessions)] {
                    let (mut jumps, mut each) = (schedule.clone(), schedule);
                    for end_ns in [
                        0,
                        second_ns,
                        3 * second_ns + 7,
                        11 * second_ns,
                        16 * second_ns,
                        20 * second_ns,
                        29 * second_ns,
                    ] {
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
        // One by one, this would take hours.
        let mut many = phased(Arrivals::Constant, &["hold 1000000/s 24h"], 0, 1);
        assert_eq!(many.pass(86_401 * second_ns), 86_401_000_000);
    }

    #[test]
    fn workload_without_rate_runs_a_closed_loop() {
        assert!(matches!(Pace::new(&WorkloadSettings::default(), None, 0, (0, 1)), Pace::Closed));
    }
}
