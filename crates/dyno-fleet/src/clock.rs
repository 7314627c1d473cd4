//! Another host's clock on one's own: what many exchanges of messages leave possible.
//!
//! A message that was sent at `asked` by the leader's clock and heard at `heard` by the agent's took some time, so the agent's clock
//! is ahead by at most `heard - asked`; by the answer it is ahead by at least `said - answered`. That holds however unequal the two
//! ways are. Both clocks are monotonic and may be slewed, so what an exchange says widens with its age.

use dyno_record::ClockFit;
use serde::{Deserialize, Serialize};

/// How much two clocks may drift apart: what `adjtimex` lets a kernel slew, and that on both hosts.
const DRIFT_MAX: f64 = 1e-3;
/// Exchanges that are kept: the first ones, which the run's begin is mapped by, and the last.
const KEPT_MAX: usize = 512;

/// A question and its answer: the moments of asking and of the answer on one's own clock, of hearing and of answering on the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    /// When it was asked, on one's own clock.
    pub asked_ns: u64,
    /// When that was heard, on the other clock.
    pub heard_ns: u64,
    /// When the answer was sent, on the other clock.
    pub said_ns: u64,
    /// When the answer was there, on one's own clock.
    pub answered_ns: u64,
}

impl Exchange {
    /// The least and the most by which the other clock is ahead, ns.
    fn bounds(&self) -> (f64, f64) {
        let ahead = |other_ns: u64, own_ns: u64| other_ns as f64 - own_ns as f64;
        (ahead(self.said_ns, self.answered_ns), ahead(self.heard_ns, self.asked_ns))
    }

    fn middle_ns(&self) -> f64 {
        self.asked_ns as f64 / 2.0 + self.answered_ns as f64 / 2.0
    }

    /// Time on the way, there and back.
    fn round_trip_ns(&self) -> u64 {
        let whole_ns = self.answered_ns.saturating_sub(self.asked_ns);
        whole_ns.saturating_sub(self.said_ns.saturating_sub(self.heard_ns))
    }

    /// Whether it can have happened.
    fn is_possible(&self) -> bool {
        let (whole_ns, there_ns) =
            (self.answered_ns.checked_sub(self.asked_ns), self.said_ns.checked_sub(self.heard_ns));
        matches!((whole_ns, there_ns), (Some(whole_ns), Some(there_ns)) if there_ns <= whole_ns)
    }
}

/// Another host's clock on one's own.
#[derive(Debug, Clone, Default)]
pub struct ClockMap {
    exchanges: Vec<Exchange>,
    made: u32,
    impossible: u32,
}

/// By how much the other clock is ahead at a moment, and by how much that may be wrong, ns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ahead {
    /// The middle of what is possible.
    pub ns: f64,
    /// Half of what is possible.
    pub bound_ns: f64,
}

impl ClockMap {
    /// Notes an exchange; one that cannot have happened is only counted.
    pub fn note(&mut self, exchange: Exchange) {
        if !exchange.is_possible() {
            self.impossible += 1;
            return;
        }
        self.made += 1;
        if self.exchanges.len() >= KEPT_MAX {
            // Of the later half the oldest: the first ones map the begin.
            self.exchanges.remove(KEPT_MAX / 2);
        }
        self.exchanges.push(exchange);
    }

    /// By how much the other clock is ahead at `own_ns` on one's own.
    ///
    /// # Errors
    /// Nothing is known of it; or it runs at another speed than clocks do.
    pub fn ahead(&self, own_ns: u64) -> Result<Ahead, String> {
        if self.exchanges.is_empty() {
            return Err(match self.impossible {
                0 => "its clock was never asked".to_owned(),
                _ => "its clock says what cannot be".to_owned(),
            });
        }
        let (mut least, mut most) = (f64::NEG_INFINITY, f64::INFINITY);
        for exchange in &self.exchanges {
            let slack_ns = (exchange.middle_ns() - own_ns as f64).abs() * DRIFT_MAX;
            let (low, high) = exchange.bounds();
            least = least.max(low - slack_ns);
            most = most.min(high + slack_ns);
        }
        // Both are sums of large numbers as floating point: a nanosecond is nobody's speed.
        if least > most + 1_000.0 {
            return Err(format!(
                "its clock does not run at the speed of this host's: it is ahead by at least {:.3} ms and at most {:.3} ms",
                least / 1e6,
                most / 1e6
            ));
        }
        Ok(Ahead { ns: least / 2.0 + most / 2.0, bound_ns: ((most - least) / 2.0).max(0.0) })
    }

    /// What the other clock shows at `own_ns` on one's own.
    ///
    /// # Errors
    /// As [`ClockMap::ahead`].
    pub fn there(&self, own_ns: u64) -> Result<u64, String> {
        Ok((own_ns as f64 + self.ahead(own_ns)?.ns).max(0.0) as u64)
    }

    /// How moments between `first_ns` and `last_ns` on the other clock are mapped to one's own.
    ///
    /// # Errors
    /// As [`ClockMap::ahead`].
    pub fn mapping(&self, first_ns: u64, last_ns: u64) -> Result<Mapping, String> {
        // The offset moves by less than a thousandth: at a moment that is wrong by it, it is the same.
        let own_ns = |other_ns: u64| -> Result<u64, String> {
            let near = self.exchanges.last().map_or(0.0, |last| last.bounds().0);
            let guess = self.ahead((other_ns as f64 - near).max(0.0) as u64)?.ns;
            Ok((other_ns as f64 - guess).max(0.0) as u64)
        };
        let (first, last) = (self.ahead(own_ns(first_ns)?)?, self.ahead(own_ns(last_ns)?)?);
        Ok(Mapping { ends: [(first_ns, first), (last_ns.max(first_ns), last)] })
    }

    /// How well it is known at `own_ns`.
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

    /// The shortest way there and back, ns.
    pub fn round_trip_ns(&self) -> u64 {
        self.exchanges.iter().map(Exchange::round_trip_ns).min().unwrap_or(0)
    }
}

/// How moments on another clock are mapped to one's own: between two ends that are known, in proportion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mapping {
    ends: [(u64, Ahead); 2],
}

impl Mapping {
    /// The moment on one's own clock.
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

    /// By how much the other clock was ahead at the first end, ns, and by how much more at the last.
    pub fn ahead_ns(&self) -> (f64, f64) {
        let [(_, first), (_, last)] = &self.ends;
        (first.ns, last.ns - first.ns)
    }

    /// The most by which a mapped moment may be wrong, ns.
    pub fn bound_ns(&self) -> f64 {
        self.ends.iter().map(|(_, ahead)| ahead.bound_ns).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An exchange at `own_ns` with a clock that is ahead by `ahead_ns` and drifts by `drift`, on ways that take so long.
    fn exchange(own_ns: u64, ahead_ns: i64, drift: f64, ways_ns: (u64, u64), thinks_ns: u64) -> Exchange {
        let there = |own_ns: u64| (own_ns as f64 + ahead_ns as f64 + own_ns as f64 * drift) as u64;
        let heard = own_ns + ways_ns.0;
        let answered_ns = heard + thinks_ns + ways_ns.1;
        Exchange { asked_ns: own_ns, heard_ns: there(heard), said_ns: there(heard + thinks_ns), answered_ns }
    }

    proptest! {
        #[test]
        fn the_truth_lies_within_the_bound_whatever_the_ways_take(
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
            let known = map.ahead(now_ns).unwrap();
            // The other clock's moments are whole nanoseconds.
            prop_assert!((known.ns - truth_ns).abs() <= known.bound_ns + 2_000.0, "{known:?} {truth_ns}");
            let there_ns = (now_ns as f64 + truth_ns) as u64;
            let mapping = map.mapping(there_ns, there_ns).unwrap();
            let off_ns = mapping.own_ns(there_ns) as f64 - now_ns as f64;
            // Moving the moment by the bound moves the drift by a thousandth of it.
            prop_assert!(off_ns.abs() <= mapping.bound_ns() * 1.01 + 4_000.0, "{off_ns} {mapping:?}");
        }

        #[test]
        fn more_exchanges_never_make_it_worse(
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
    fn a_clock_of_another_speed_is_told_from_a_slow_way() {
        let mut map = ClockMap::default();
        for at in 0..20 {
            map.note(exchange(1_000_000_000 * (at + 1), 5_000, 0.1, (50_000, 50_000), 1_000));
        }
        assert!(map.ahead(10_000_000_000).unwrap_err().contains("speed"));
    }

    #[test]
    fn what_cannot_have_happened_says_nothing() {
        let mut map = ClockMap::default();
        map.note(Exchange { asked_ns: 10, heard_ns: 5_000, said_ns: 90_000, answered_ns: 20 });
        map.note(Exchange { asked_ns: 10, heard_ns: 5_000, said_ns: 4_000, answered_ns: 20 });
        assert!(map.ahead(10).unwrap_err().contains("cannot be"));
    }

    #[test]
    fn a_long_run_keeps_the_exchanges_of_its_begin() {
        let mut map = ClockMap::default();
        (0..5_000u64).for_each(|at| map.note(exchange(at * 1_000_000_000, 9_000, 2e-5, (20_000, 30_000), 0)));
        assert_eq!(map.exchanges.len(), KEPT_MAX);
        let fit = map.fit(5_000_000).unwrap();
        assert!(fit.bound_us < 60.0 && fit.exchanges == 5_000, "{fit:?}");
        assert!((fit.ahead_us.unwrap() - 9.0).abs() <= fit.bound_us, "{fit:?}");
        // 20 ppm for 4,000 seconds.
        let mapping = map.mapping(9_000, 4_000_000_000_000).unwrap();
        let (ahead_ns, drifted_ns) = mapping.ahead_ns();
        assert!((ahead_ns - 9_000.0).abs() <= mapping.bound_ns(), "{mapping:?}");
        assert!((drifted_ns - 80_000_000.0).abs() <= 2.0 * mapping.bound_ns(), "{mapping:?}");
    }
}
