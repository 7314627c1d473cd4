//! Think time: sleeps of a session between two operations.
//!
//! It has its own random generator, so that think time does not change the drawn operations.

use dyno_engine::data::mix;
use dyno_plan::WorkloadSettings;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The sleeps of one session.
#[derive(Debug, Clone)]
pub struct SessionThinkTime {
    rng: Xoshiro256PlusPlus,
    /// On average one in this many operations is followed by a sleep; 0 for none.
    every: u64,
    min_ns: u64,
    /// The longest sleep minus the shortest, plus one.
    span_ns: u64,
    /// Whether the time of the operation is subtracted from the sleep.
    compensated: bool,
}

impl SessionThinkTime {
    /// The sleeps of session `number`.
    pub fn new(workload: &WorkloadSettings, number: u32) -> Self {
        let (min_ns, max_ns) =
            (workload.think_min.0.as_nanos() as u64, workload.think_max.0.as_nanos() as u64);
        Self {
            rng: Xoshiro256PlusPlus::seed_from_u64(mix(
                mix(workload.seed() ^ 0x7468_696e) ^ u64::from(number)
            )),
            every: u64::from(workload.think_every),
            min_ns,
            span_ns: max_ns.saturating_sub(min_ns) + 1,
            compensated: workload.think_compensated,
        }
    }

    /// Whether the session sleeps at all.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.every > 0
    }

    /// Draws whether the next operation is followed by a sleep; returns its length in ns.
    #[inline]
    pub fn draw(&mut self) -> Option<u64> {
        if self.every == 0 || self.below(self.every) != 0 {
            return None;
        }
        Some(self.min_ns + self.below(self.span_ns))
    }

    /// The end of a sleep of `length_ns` after an operation.
    #[inline]
    pub fn until_ns(&self, length_ns: u64, began_ns: u64, ended_ns: u64) -> u64 {
        length_ns + if self.compensated { began_ns } else { ended_ns }
    }

    fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.rng.next_u64()) * u128::from(n)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_plan::TimeSpan;
    use std::time::Duration;

    fn think(every: u32, compensated: bool) -> SessionThinkTime {
        let workload = WorkloadSettings {
            think_every: every,
            think_min: TimeSpan(Duration::from_millis(10)),
            think_max: TimeSpan(Duration::from_millis(30)),
            think_compensated: compensated,
            ..WorkloadSettings::default()
        };
        SessionThinkTime::new(&workload, 3)
    }

    #[test]
    fn think_time_follows_one_in_n_operations_with_given_length() {
        let mut think = think(5, false);
        let lengths: Vec<u64> = (0..50_000).filter_map(|_| think.draw()).collect();
        let share = lengths.len() as f64 / 50_000.0;
        // Five standard deviations of a binomial.
        assert!((share - 0.2).abs() < 5.0 * (0.2 * 0.8 / 50_000.0f64).sqrt(), "{share}");
        assert!(lengths.iter().all(|ns| (10_000_000..=30_000_000).contains(ns)));
        let mean_ms = lengths.iter().sum::<u64>() as f64 / lengths.len() as f64 / 1e6;
        assert!(
            (mean_ms - 20.0).abs() < 5.0 * 20.0 / 12f64.sqrt() / (lengths.len() as f64).sqrt(),
            "{mean_ms}"
        );
    }

    #[test]
    fn compensated_think_time_counts_from_operation_begin() {
        assert_eq!(think(1, false).until_ns(100, 1_000, 1_070), 1_170);
        assert_eq!(think(1, true).until_ns(100, 1_000, 1_070), 1_100);
    }

    #[test]
    fn no_think_time_is_drawn_when_disabled() {
        let mut off = think(0, false);
        assert!(!off.is_on());
        assert!((0..100).all(|_| off.draw().is_none()));
    }
}
