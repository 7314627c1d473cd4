//! Bounds the offset between another machine's clock and ours, and converts its reading times to our clock.
//!
//! Each exchange bounds the offset from both sides: the machine read its clock after our request and before
//! its answer arrived (F. Cristian, Probabilistic clock synchronization, 1989). Bounds of several exchanges
//! are intersected, after each has grown by the possible drift since. An empty intersection means that one of
//! the clocks was set.

use super::reading::TimedHostSnapshot;

/// The most that two clocks drift apart, ns per s. Crystals are within 100 ppm, and slewing adds up to 500
/// ppm (adjtime(3)).
const DRIFT_PPM: i128 = 600;

const NS: i128 = 1_000_000_000;

/// When counters were read, on our clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HostReadTime {
    /// The middle of the possible interval, ns.
    pub at_ns: u64,
    /// Half the width of that interval, ns.
    pub bound_ns: u64,
}

/// Bounds of an offset: the machine's clock minus ours, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Bounds {
    least: i128,
    most: i128,
    at_ns: u64,
}

/// What is known about a machine's clock.
#[derive(Debug, Clone, Default)]
pub struct ClockTrack {
    bounds: Option<Bounds>,
    /// Number of steps, and the largest of them, ns.
    steps: (u32, i128),
}

impl Bounds {
    fn of(reading: &TimedHostSnapshot) -> Option<Self> {
        let far = reading.far.filter(|far| far.begin_ns <= far.end_ns)?;
        let (asked, answered) = (i128::from(reading.asked_ns), i128::from(reading.answered_ns));
        let most = i128::from(far.begin_ns) + i128::from(far.resolution_ns) - asked;
        let least = i128::from(far.end_ns) - answered;
        (least <= most).then_some(Self { least, most, at_ns: reading.answered_ns })
    }

    /// These bounds, widened by the possible drift until `at_ns`.
    fn at(self, at_ns: u64) -> Self {
        let drift = i128::from(at_ns.abs_diff(self.at_ns)) * DRIFT_PPM / 1_000_000;
        Self { least: self.least - drift, most: self.most + drift, at_ns }
    }

    fn cut(self, other: Self) -> Option<Self> {
        let (least, most) = (self.least.max(other.least), self.most.min(other.most));
        (least <= most).then_some(Self { least, most, ..other })
    }

    fn middle(self) -> i128 {
        self.least + (self.most - self.least) / 2
    }
}

impl ClockTrack {
    /// Uses a reading to narrow the bounds. A reading during which the machine's clock went backwards is not
    /// used.
    pub fn note(&mut self, reading: &TimedHostSnapshot) {
        let Some(new) = Bounds::of(reading) else {
            if reading.far.is_some() {
                self.bounds = None;
                self.steps.0 += 1;
            }
            return;
        };
        let Some(old) = self.bounds.map(|old| old.at(new.at_ns)) else {
            self.bounds = Some(new);
            return;
        };
        self.bounds = Some(old.cut(new).unwrap_or_else(|| {
            let moved = new.middle() - old.middle();
            let largest = if moved.abs() > self.steps.1.abs() { moved } else { self.steps.1 };
            self.steps = (self.steps.0 + 1, largest);
            new
        }));
    }

    /// When the counters of a reading were read; [note](Self::note) the reading first. The result always lies
    /// between request and answer, whatever the machine's clock says.
    pub fn moment(&self, reading: &TimedHostSnapshot) -> HostReadTime {
        let (mut from, mut until) = (i128::from(reading.asked_ns), i128::from(reading.answered_ns));
        if let (Some(far), Some(bounds), true) = (reading.far, self.bounds, reading.within_far) {
            let bounds = bounds.at(reading.answered_ns);
            let begin = i128::from(far.begin_ns) - bounds.most;
            let end = i128::from(far.end_ns) + i128::from(far.resolution_ns) - bounds.least;
            let (later, earlier) = (from.max(begin), until.min(end));
            if later <= earlier {
                (from, until) = (later, earlier);
            }
        }
        let half = (until - from).max(0) / 2;
        let ns = |value: i128| u64::try_from(value).unwrap_or(0);
        HostReadTime { at_ns: ns(from + half), bound_ns: ns(half + 1) }
    }

    /// The machine's clock minus ours, and its bound, s; absent where it is unknown. `ours_ns` is the time of
    /// our own clock of the same kind when the clock of the readings was 0.
    pub fn offset_s(&self, ours_ns: u64) -> Option<(f64, f64)> {
        let bounds = self.bounds?;
        let seconds = |ns: i128| ns as f64 / NS as f64;
        Some((seconds(bounds.middle() - i128::from(ours_ns)), seconds(bounds.most - bounds.least) / 2.0))
    }

    /// How often one of the clocks was set during the observation, and the largest of these steps, s.
    pub fn steps(&self) -> (u32, f64) {
        (self.steps.0, self.steps.1 as f64 / NS as f64)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::remote::RemoteTime;

    /// A reading of a machine whose clock is `offset` ahead, with the durations of the way there, the work
    /// and the way back.
    fn reading(asked_ns: u64, offset: i64, outbound_ns: u64, work: u64, back: u64) -> TimedHostSnapshot {
        let begin_ns = (asked_ns + outbound_ns).checked_add_signed(offset).unwrap();
        TimedHostSnapshot {
            asked_ns,
            answered_ns: asked_ns + outbound_ns + work + back,
            far: Some(RemoteTime { begin_ns, end_ns: begin_ns + work, resolution_ns: 0 }),
            within_far: true,
            ..TimedHostSnapshot::default()
        }
    }

    const S: u64 = 1_000_000_000;

    #[test]
    fn one_fast_exchange_tightens_bounds_of_slow_ones() {
        let mut clock = ClockTrack::default();
        clock.note(&reading(S, 5_000_000_000, 100_000, 0, 100_000));
        let slow = reading(2 * S, 5_000_000_000, 80_000_000, 2_000_000, 1_000_000);
        clock.note(&slow);
        let moment = clock.moment(&slow);
        assert!(moment.at_ns.abs_diff(2 * S + 81_000_000) <= moment.bound_ns, "{moment:?}");
        assert!(moment.bound_ns < 2_000_000, "{moment:?}");
        let (offset_s, bound_s) = clock.offset_s(0).unwrap();
        assert!((offset_s - 5.0).abs() <= bound_s, "{offset_s} {bound_s}");
        assert!(bound_s < 0.001, "{offset_s} {bound_s}");
        assert_eq!(clock.steps().0, 0);
    }

    #[test]
    fn clock_step_is_counted_and_shifts_no_reading() {
        let mut clock = ClockTrack::default();
        clock.note(&reading(S, 0, 100_000, 0, 100_000));
        let later = reading(2 * S, 3_600_000_000_000, 100_000, 0, 100_000);
        clock.note(&later);
        let (steps, by_s) = clock.steps();
        assert!(steps == 1, "{steps} {by_s}");
        assert!((by_s - 3_600.0).abs() < 0.01, "{steps} {by_s}");
        assert!(clock.moment(&later).at_ns.abs_diff(2 * S + 100_000) <= 100_001);
        // The clock goes backwards during the reading.
        let mut torn = reading(3 * S, 0, 100_000, 0, 100_000);
        torn.far = Some(RemoteTime { begin_ns: 9 * S, end_ns: S, resolution_ns: 0 });
        clock.note(&torn);
        assert_eq!((clock.steps().0, clock.offset_s(0)), (2, None));
        assert_eq!(clock.moment(&torn).at_ns, 3 * S + 100_000);
    }

    proptest! {
        #[test]
        fn remote_time_is_always_within_the_error_bound(
            offset in -1_000_000_000i64..1_000_000_000_000,
            legs in proptest::collection::vec((0u64..200_000_000, 0u64..50_000_000, 0u64..200_000_000), 1..20),
            ppm in -100i64..100,
        ) {
            let mut clock = ClockTrack::default();
            for (at, (there, work, back)) in (2u64..).zip(legs) {
                let drifted = offset + at as i64 * ppm * 1_000;
                let reading = reading(at * S, drifted, there, work, back);
                clock.note(&reading);
                let moment = clock.moment(&reading);
                let (begun, ended) = (at * S + there, at * S + there + work);
                prop_assert!(moment.at_ns - moment.bound_ns <= begun && ended <= moment.at_ns + moment.bound_ns, "{:?}", moment);
                prop_assert!(moment.at_ns >= reading.asked_ns && moment.at_ns <= reading.answered_ns);
                let (offset_s, bound_s) = clock.offset_s(0).unwrap();
                prop_assert!((offset_s - drifted as f64 / 1e9).abs() <= bound_s + 1e-6);
            }
            prop_assert_eq!(clock.steps().0, 0);
        }

        #[test]
        fn clock_track_never_panics_on_any_reading(sent_ns: u64, answered: u64, begin_ns: u64, end_ns: u64, resolution_ns: u64) {
            let mut clock = ClockTrack::default();
            let far = Some(RemoteTime { begin_ns, end_ns, resolution_ns });
            let reading = TimedHostSnapshot { asked_ns: sent_ns.min(answered), answered_ns: sent_ns.max(answered), far, within_far: true, ..TimedHostSnapshot::default() };
            clock.note(&reading);
            clock.note(&reading);
            let moment = clock.moment(&reading);
            prop_assert!(moment.at_ns >= reading.asked_ns && moment.at_ns <= reading.answered_ns);
            let _ = (clock.offset_s(u64::MAX), clock.steps());
        }
    }
}
