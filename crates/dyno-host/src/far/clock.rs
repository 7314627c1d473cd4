//! How far the clock of another machine is from ours, with a bound, and at which of our moments it was read.
//!
//! Each exchange bounds the offset from both sides: what the machine did, it did after it was asked and before its answer was
//! there (F. Cristian, Probabilistic clock synchronization, 1989). Bounds of several exchanges are cut with each other, after they
//! have grown by what clocks may drift apart meanwhile. Where nothing is left, one of the clocks was set.

use super::reading::Reading;

/// By how much two clocks may drift apart, ns per s: crystals are within 100 ppm, and a clock that is slewed goes up to 500 ppm
/// beside its speed (adjtime(3)).
const DRIFT_PPM: i128 = 600;

/// Nanoseconds in a second.
const NS: i128 = 1_000_000_000;

/// When counters were read, by our clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Moment {
    /// The middle of what is possible, ns.
    pub at_ns: u64,
    /// It was not farther from that, ns.
    pub bound_ns: u64,
}

/// Bounds of an offset: the machine's clock less ours, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Bounds {
    least: i128,
    most: i128,
    at_ns: u64,
}

/// What is known of a machine's clock.
#[derive(Debug, Clone, Default)]
pub struct ClockTrack {
    bounds: Option<Bounds>,
    /// How often it was set, and by how much it moved in the largest of these steps, ns.
    steps: (u32, i128),
}

impl Bounds {
    fn of(reading: &Reading) -> Option<Self> {
        let far = reading.far.filter(|far| far.begin_ns <= far.end_ns)?;
        let (asked, answered) = (i128::from(reading.asked_ns), i128::from(reading.answered_ns));
        let most = i128::from(far.begin_ns) + i128::from(far.resolution_ns) - asked;
        let least = i128::from(far.end_ns) - answered;
        (least <= most).then_some(Self { least, most, at_ns: reading.answered_ns })
    }

    /// As wide as they are by `at_ns`.
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
    /// Takes in what a reading tells. A machine whose clock goes backwards while it is read tells nothing.
    pub fn note(&mut self, reading: &Reading) {
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

    /// When the counters of a reading were read; it has to be [noted](Self::note) before. Always after they were asked for and
    /// before they were there, whatever the machine's clock says.
    pub fn moment(&self, reading: &Reading) -> Moment {
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
        Moment { at_ns: ns(from + half), bound_ns: ns(half + 1) }
    }

    /// The machine's clock less ours, and how far it may be from that, s; absent where it does not tell. `ours_ns` is what our own
    /// clock of the same kind says when the one that readings go by says 0.
    pub fn offset_s(&self, ours_ns: u64) -> Option<(f64, f64)> {
        let bounds = self.bounds?;
        let seconds = |ns: i128| ns as f64 / NS as f64;
        Some((seconds(bounds.middle() - i128::from(ours_ns)), seconds(bounds.most - bounds.least) / 2.0))
    }

    /// How often one of the clocks was set while it was looked at, and the largest of these steps, s.
    pub fn steps(&self) -> (u32, f64) {
        (self.steps.0, self.steps.1 as f64 / NS as f64)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::far::FarTime;

    /// A reading of a machine whose clock is `offset` ahead, that took its time on the way there, at its work and on the way back.
    fn reading(asked_ns: u64, offset: i64, there: u64, work: u64, back: u64) -> Reading {
        let begin_ns = (asked_ns + there).checked_add_signed(offset).unwrap();
        Reading {
            asked_ns,
            answered_ns: asked_ns + there + work + back,
            far: Some(FarTime { begin_ns, end_ns: begin_ns + work, resolution_ns: 0 }),
            within_far: true,
            ..Reading::default()
        }
    }

    const S: u64 = 1_000_000_000;

    #[test]
    fn one_short_exchange_makes_long_ones_sharp() {
        let mut clock = ClockTrack::default();
        clock.note(&reading(S, 5_000_000_000, 100_000, 0, 100_000));
        let slow = reading(2 * S, 5_000_000_000, 80_000_000, 2_000_000, 1_000_000);
        clock.note(&slow);
        let moment = clock.moment(&slow);
        assert!(moment.at_ns.abs_diff(2 * S + 81_000_000) <= moment.bound_ns, "{moment:?}");
        assert!(moment.bound_ns < 2_000_000, "{moment:?}");
        let (offset_s, bound_s) = clock.offset_s(0).unwrap();
        assert!((offset_s - 5.0).abs() <= bound_s && bound_s < 0.001, "{offset_s} {bound_s}");
        assert_eq!(clock.steps().0, 0);
    }

    #[test]
    fn a_clock_that_is_set_is_seen_and_moves_no_reading() {
        let mut clock = ClockTrack::default();
        clock.note(&reading(S, 0, 100_000, 0, 100_000));
        let later = reading(2 * S, 3_600_000_000_000, 100_000, 0, 100_000);
        clock.note(&later);
        let (steps, by_s) = clock.steps();
        assert!(steps == 1 && (by_s - 3_600.0).abs() < 0.01, "{steps} {by_s}");
        assert!(clock.moment(&later).at_ns.abs_diff(2 * S + 100_000) <= 100_001);
        // It goes backwards while it is read.
        let mut torn = reading(3 * S, 0, 100_000, 0, 100_000);
        torn.far = Some(FarTime { begin_ns: 9 * S, end_ns: S, resolution_ns: 0 });
        clock.note(&torn);
        assert_eq!((clock.steps().0, clock.offset_s(0)), (2, None));
        assert_eq!(clock.moment(&torn).at_ns, 3 * S + 100_000);
    }

    proptest! {
        #[test]
        fn the_true_moment_is_always_within_the_bound(
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
        fn no_clock_makes_it_panic(asked: u64, answered: u64, begin_ns: u64, end_ns: u64, resolution_ns: u64) {
            let mut clock = ClockTrack::default();
            let far = Some(FarTime { begin_ns, end_ns, resolution_ns });
            let reading = Reading { asked_ns: asked.min(answered), answered_ns: asked.max(answered), far, within_far: true, ..Reading::default() };
            clock.note(&reading);
            clock.note(&reading);
            let moment = clock.moment(&reading);
            prop_assert!(moment.at_ns >= reading.asked_ns && moment.at_ns <= reading.answered_ns);
            let _ = (clock.offset_s(u64::MAX), clock.steps());
        }
    }
}
