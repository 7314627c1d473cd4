//! Maps another host's clock to the own one from many exchanges of messages.
//!
//! An exchange has four moments. The controller's clock reads `asked_ns` and `answered_ns`; the agent's clock
//! reads `heard_ns` and `said_ns`. Messages take time, so the agent's clock is ahead by at most `heard_ns -
//! asked_ns` and by at least `said_ns - answered_ns`. These bounds hold even if the two directions take
//! different times. Both clocks are monotonic and may be slewed, so the bounds of an exchange widen with its
//! age.

use dyno_record::ClockFit;
use serde::{Deserialize, Serialize};

/// Greatest relative drift of two clocks: `adjtimex` lets a kernel slew by half of it, on either host.
const DRIFT_MAX: f64 = 1e-3;
/// Maximum number of exchanges kept: the first ones, which map the run's begin, and the last ones.
const KEPT_MAX: usize = 512;

/// A question and its answer, with the moments of sending and receiving on both clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    /// When the question was sent, on the own clock.
    pub asked_ns: u64,
    /// When the question was received, on the other clock.
    pub heard_ns: u64,
    /// When the answer was sent, on the other clock.
    pub said_ns: u64,
    /// When the answer was received, on the own clock.
    pub answered_ns: u64,
}

impl Exchange {
    /// Lower and upper bound of how far the other clock is ahead, ns.
    fn bounds(&self) -> (f64, f64) {
        let ahead = |other_ns: u64, own_ns: u64| other_ns as f64 - own_ns as f64;
        (ahead(self.said_ns, self.answered_ns), ahead(self.heard_ns, self.asked_ns))
    }

    fn middle_ns(&self) -> f64 {
        self.asked_ns as f64 / 2.0 + self.answered_ns as f64 / 2.0
    }

    /// Travel time of both messages together, ns.
    fn round_trip_ns(&self) -> u64 {
        let whole_ns = self.answered_ns.saturating_sub(self.asked_ns);
        whole_ns.saturating_sub(self.said_ns.saturating_sub(self.heard_ns))
    }

    /// Whether the four moments are consistent.
    fn is_possible(&self) -> bool {
        let (whole_ns, there_ns) =
            (self.answered_ns.checked_sub(self.asked_ns), self.said_ns.checked_sub(self.heard_ns));
        matches!((whole_ns, there_ns), (Some(whole_ns), Some(there_ns)) if there_ns <= whole_ns)
    }
}

/// How far another host's clock is ahead of the own one, from exchanges.
#[derive(Debug, Clone, Default)]
pub struct ClockMap {
    exchanges: Vec<Exchange>,
    made: u32,
    impossible: u32,
}

/// How far the other clock is ahead at one moment, and the uncertainty of that, ns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClockOffset {
    /// The middle of the possible range.
    pub ns: f64,
    /// Half the width of the possible range.
    pub bound_ns: f64,
}

impl ClockMap {
    /// Adds an exchange; one with inconsistent moments is only counted.
    pub fn note(&mut self, exchange: Exchange) {
        if !exchange.is_possible() {
            self.impossible += 1;
            return;
        }
        self.made += 1;
        if self.exchanges.len() >= KEPT_MAX {
            // Drops the oldest of the later half, because the first exchanges map the run's begin.
            self.exchanges.remove(KEPT_MAX / 2);
        }
        self.exchanges.push(exchange);
    }

    /// Returns how far the other clock is ahead when the own clock shows `own_ns`.
    ///
    /// # Errors
    /// There is no exchange, or the other clock runs at an impossible speed.
    pub fn ahead(&self, own_ns: u64) -> Result<ClockOffset, String> {
        if self.exchanges.is_empty() {
            return Err(match self.impossible {
                0 => "its clock was never read".to_owned(),
                _ => "its clock returned impossible values".to_owned(),
            });
        }
        let (mut least, mut most) = (f64::NEG_INFINITY, f64::INFINITY);
        for exchange in &self.exchanges {
            let slack_ns = (exchange.middle_ns() - own_ns as f64).abs() * DRIFT_MAX;
            let (low, high) = exchange.bounds();
            least = least.max(low - slack_ns);
            most = most.min(high + slack_ns);
        }
        // Both bounds are floating-point sums of large numbers, so they may be off by some nanoseconds.
        if least > most + 1_000.0 {
            return Err(format!(
                "its clock does not run at the speed of this host's clock: it is ahead by at least {:.3} ms \
                 and at most {:.3} ms",
                least / 1e6,
                most / 1e6
            ));
        }
        Ok(ClockOffset { ns: least / 2.0 + most / 2.0, bound_ns: ((most - least) / 2.0).max(0.0) })
    }

    /// Returns what the other clock shows when the own clock shows `own_ns`.
    ///
    /// # Errors
    /// As [`ClockMap::ahead`].
    pub fn to_remote_ns(&self, own_ns: u64) -> Result<u64, String> {
        Ok((own_ns as f64 + self.ahead(own_ns)?.ns).max(0.0) as u64)
    }

    /// Maps moments between `first_ns` and `last_ns` on the other clock to the own clock.
    ///
    /// # Errors
    /// As [`ClockMap::ahead`].
    pub fn mapping(&self, first_ns: u64, last_ns: u64) -> Result<ClockMapping, String> {
        // The offset drifts by less than a thousandth. It hardly changes over the time that this estimate of
        // the moment may be wrong.
        let own_ns = |other_ns: u64| -> Result<u64, String> {
            let near = self.exchanges.last().map_or(0.0, |last| last.bounds().0);
            let guess = self.ahead((other_ns as f64 - near).max(0.0) as u64)?.ns;
            Ok((other_ns as f64 - guess).max(0.0) as u64)
        };
        let (first, last) = (self.ahead(own_ns(first_ns)?)?, self.ahead(own_ns(last_ns)?)?);
        Ok(ClockMapping { ends: [(first_ns, first), (last_ns.max(first_ns), last)] })
    }

    /// Returns how well the other clock is known at `own_ns`.
    ///
    /// # Errors
    /// As [`ClockMap::ahead`].
    pub fn fit(&self, own_ns: u64) -> Result<ClockFit, String> {
        let ahead = self.ahead(own_ns)?;
        Ok(ClockFit {
            exchanges: self.made,
            round_trip_us: self.round_trip_ns() as f64 / 1e3,
            bound_us: ahead.bound_ns / 1e3,
            ahead_us: Some(ahead.ns / 1e3),
            drifted_us: None,
        })
    }

    /// Shortest travel time of a question and its answer together, ns.
    pub fn round_trip_ns(&self) -> u64 {
        self.exchanges.iter().map(Exchange::round_trip_ns).min().unwrap_or(0)
    }
}

/// Maps moments on another clock to the own one by linear interpolation between two known offsets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClockMapping {
    ends: [(u64, ClockOffset); 2],
}

impl ClockMapping {
    /// Returns the moment on the own clock.
    pub fn own_ns(&self, other_ns: u64) -> u64 {
        let [(first_ns, first), (last_ns, last)] = &self.ends;
        let span_ns = last_ns.saturating_sub(*first_ns) as f64;
        let share = match span_ns > 0.0 {
            true => (other_ns.saturating_sub(*first_ns) as f64 / span_ns).clamp(0.0, 1.0),
            false => 0.0,
        };
        let ahead_ns = first.ns + share * (last.ns - first.ns);
        (other_ns as f64 - ahead_ns).max(0.0) as u64
    }

    /// How far the other clock was ahead at the first end, ns, and how much more at the last.
    pub fn ahead_ns(&self) -> (f64, f64) {
        let [(_, first), (_, last)] = &self.ends;
        (first.ns, last.ns - first.ns)
    }

    /// Greatest error of a mapped moment, ns.
    pub fn bound_ns(&self) -> f64 {
        self.ends.iter().map(|(_, ahead)| ahead.bound_ns).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An exchange at `own_ns` with a clock that is ahead by `ahead_ns` and drifts by `drift`; `ways_ns` is
    /// the travel time in each direction.
    fn exchange(own_ns: u64, ahead_ns: i64, drift: f64, ways_ns: (u64, u64), thinks_ns: u64) -> Exchange {
        let remote_ns = |own_ns: u64| (own_ns as f64 + ahead_ns as f64 + own_ns as f64 * drift) as u64;
        let arrived_ns = own_ns + ways_ns.0;
        let answered_ns = arrived_ns + thinks_ns + ways_ns.1;
        Exchange {
            asked_ns: own_ns,
            heard_ns: remote_ns(arrived_ns),
            said_ns: remote_ns(arrived_ns + thinks_ns),
            answered_ns,
        }
    }

    proptest! {
        #[test]
        fn agent_time_is_within_bound_for_any_network_delay(
            ahead_ns in -1_000_000_000i64..1_000_000_000_000,
            drift in -4e-4f64..4e-4,
            ways in prop::collection::vec((0u64..50_000_000, 0u64..50_000_000, 0u64..1_000_000), 1..40),
            at in 0usize..40,
        ) {
            let mut map = ClockMap::default();
            let own_ns = |at: usize| 2_000_000_000 + at as u64 * 500_000_000;
            for (at, (there, back, thinks)) in ways.iter().enumerate() {
                map.note(exchange(own_ns(at), ahead_ns, drift, (*there, *back), *thinks));
            }
            let now_ns = own_ns(at);
            let truth_ns = ahead_ns as f64 + now_ns as f64 * drift;
            let estimate = map.ahead(now_ns).unwrap();
            // The other clock's moments are rounded to whole nanoseconds.
            prop_assert!((estimate.ns - truth_ns).abs() <= estimate.bound_ns + 2_000.0, "{estimate:?} {truth_ns}");
            let there_ns = (now_ns as f64 + truth_ns) as u64;
            let mapping = map.mapping(there_ns, there_ns).unwrap();
            let off_ns = mapping.own_ns(there_ns) as f64 - now_ns as f64;
            // A moment that is off by the bound changes the drift term by a thousandth of the bound.
            prop_assert!(off_ns.abs() <= mapping.bound_ns() * 1.01 + 4_000.0, "{off_ns} {mapping:?}");
        }

        #[test]
        fn more_exchanges_never_widen_clock_bound(
            ways in prop::collection::vec((1_000u64..5_000_000, 1_000u64..5_000_000), 2..30),
        ) {
            let mut map = ClockMap::default();
            let mut last = f64::INFINITY;
            for (there, back) in ways {
                map.note(exchange(1_000_000_000, 77_000, 0.0, (there, back), 10));
                let bound_ns = map.ahead(1_000_000_000).unwrap().bound_ns;
                prop_assert!(bound_ns <= last + 1_000.0);
                last = bound_ns;
            }
        }
    }

    #[test]
    fn clock_speed_difference_is_distinguished_from_slow_link() {
        let mut map = ClockMap::default();
        for at in 0..20 {
            map.note(exchange(1_000_000_000 * (at + 1), 5_000, 0.1, (50_000, 50_000), 1_000));
        }
        assert!(map.ahead(10_000_000_000).unwrap_err().contains("speed"));
    }

    #[test]
    fn impossible_clock_exchanges_give_no_offset() {
        let mut map = ClockMap::default();
        map.note(Exchange { asked_ns: 10, heard_ns: 5_000, said_ns: 90_000, answered_ns: 20 });
        map.note(Exchange { asked_ns: 10, heard_ns: 5_000, said_ns: 4_000, answered_ns: 20 });
        assert!(map.ahead(10).unwrap_err().contains("impossible values"));
    }

    #[test]
    fn long_run_keeps_clock_exchanges_of_its_begin() {
        let mut map = ClockMap::default();
        (0..5_000u64).for_each(|at| map.note(exchange(at * 1_000_000_000, 9_000, 2e-5, (20_000, 30_000), 0)));
        assert_eq!(map.exchanges.len(), KEPT_MAX);
        let fit = map.fit(5_000_000).unwrap();
        assert!(fit.bound_us < 60.0, "{fit:?}");
        assert!(fit.exchanges == 5_000, "{fit:?}");
        assert!((fit.ahead_us.unwrap() - 9.0).abs() <= fit.bound_us, "{fit:?}");
        // A drift of 20 ppm over 4,000 seconds.
        let mapping = map.mapping(9_000, 4_000_000_000_000).unwrap();
        let (ahead_ns, drifted_ns) = mapping.ahead_ns();
        assert!((ahead_ns - 9_000.0).abs() <= mapping.bound_ns(), "{mapping:?}");
        assert!((drifted_ns - 80_000_000.0).abs() <= 2.0 * mapping.bound_ns(), "{mapping:?}");
    }
}
