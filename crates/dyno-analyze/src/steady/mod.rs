//! Checks whether a platform has settled: steady state, and the two ways of never reaching it.
//!
//! Flash is faster while it has empty blocks, and caches are slow until they are warm. A figure
//! from before the steady state does not predict later ones. The criterion is that of SNIA's Solid
//! State Storage Performance Test Specification (version 2.0.2, definition of steady state). Over
//! five rounds, the range of the rounds is within 20 % of their mean. The best straight line
//! through them rises or falls by no more than 10 % of the mean.

mod change;

pub use change::{CLIFF_PCT, SteadyChange, change};

use dyno_record::Series;

use crate::number::{percent, span_s};
use crate::points::phrase;

/// Rounds in a measurement window.
pub const ROUNDS: usize = 5;

/// Largest range (largest − smallest) of a steady window, % of its mean.
pub const RANGE_MAX_PCT: f64 = 20.0;

/// Largest rise or fall of the straight line through a steady window from its first to its last round, % of its mean.
pub const SLOPE_MAX_PCT: f64 = 10.0;

/// A window of five consecutive rounds.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SteadyWindow {
    /// Index of its first round.
    pub first: usize,
    /// Mean of the rounds, in their unit.
    pub mean: f64,
    /// Largest − smallest, % of the mean.
    pub range_pct: f64,
    /// Rise (or, negative, fall) of the best straight line from the first to the last round, % of the mean.
    pub slope_pct: f64,
    /// Whether both are within their limits.
    pub steady: bool,
}

/// The mean of `values` and the slope of the least-squares line through them, per step.
pub(crate) fn line(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let middle = (n - 1.0) / 2.0;
    let (mut over, mut under) = (0.0, 0.0);
    for (i, value) in values.iter().enumerate() {
        let from_middle = i as f64 - middle;
        over += from_middle * (value - mean);
        under += from_middle * from_middle;
    }
    (mean, if under > 0.0 { over / under } else { 0.0 })
}

/// Every window of five consecutive rounds, in order.
pub fn windows(rounds: &[f64]) -> Vec<SteadyWindow> {
    rounds
        .windows(ROUNDS)
        .enumerate()
        .map(|(first, rounds)| {
            let (mean, slope) = line(rounds);
            let (low, high) =
                rounds.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &r| (l.min(r), h.max(r)));
            let range_pct = 100.0 * (high - low) / mean;
            let slope_pct = 100.0 * slope * (ROUNDS - 1) as f64 / mean;
            // Five rounds without any throughput have no mean: the comparison is false for NaN.
            let steady = range_pct <= RANGE_MAX_PCT && slope_pct.abs() <= SLOPE_MAX_PCT;
            SteadyWindow { first, mean, range_pct, slope_pct, steady }
        })
        .collect()
}

/// The first steady window; `None` if there is none yet.
pub fn steady(rounds: &[f64]) -> Option<SteadyWindow> {
    windows(rounds).into_iter().find(|window| window.steady)
}

/// Throughput of rounds of `round_s` seconds (above zero), operations per second. An unfinished
/// round at the end is left out.
pub fn rounds(series: &Series, round_s: f64) -> Vec<f64> {
    let mut rounds = Vec::new();
    let (mut ops, mut seconds) = (0u64, 0.0);
    for point in &series.points {
        ops += point.ops;
        seconds += point.seconds;
        // Interval lengths depend on timers: a round may be short by half an interval.
        if seconds + series.interval_s / 2.0 >= round_s {
            rounds.push(ops as f64 / seconds);
            (ops, seconds) = (0, 0.0);
        }
    }
    rounds
}

/// Whether rounds of `round_s` seconds settled, in one sentence; `measure` is the name of the
/// measure.
pub fn sentence(rounds: &[f64], round_s: f64, measure: &str) -> String {
    let length = span_s(round_s);
    match (steady(rounds), windows(rounds).last()) {
        (Some(window), _) => {
            let settled = format!(
                "steady after {}, over {ROUNDS} rounds of {length}: {}, range {} % of the mean, slope {} %",
                span_s(window.first as f64 * round_s),
                phrase(measure, window.mean),
                percent(window.range_pct),
                percent(window.slope_pct)
            );
            // The end of the first window that is not steady any more: a settled run may degrade
            // later.
            let fallen =
                windows(rounds).into_iter().find(|later| later.first > window.first && !later.steady);
            match fallen {
                None => settled,
                Some(later) => format!(
                    "{settled}; not steady any more at {}: {}, range {} %",
                    span_s((later.first + ROUNDS) as f64 * round_s),
                    phrase(measure, later.mean),
                    percent(later.range_pct)
                ),
            }
        }
        (None, Some(last)) => format!(
            "not steady within {}: the last {ROUNDS} rounds of {length} range over {} % of their mean (at most {} %), \
             slope {} % (at most {} %)",
            span_s(rounds.len() as f64 * round_s),
            percent(last.range_pct),
            percent(RANGE_MAX_PCT),
            percent(last.slope_pct),
            percent(SLOPE_MAX_PCT)
        ),
        (None, None) => {
            format!("{} rounds of {length} are too few to tell: it takes {ROUNDS}", rounds.len())
        }
    }
}

#[cfg(test)]
mod tests {
    use dyno_record::SeriesPoint;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn decline_after_steady_rounds_is_in_the_sentence() {
        let rounds = [100.0, 101.0, 99.0, 100.0, 100.0, 100.0, 20.0, 20.0];
        let words = sentence(&rounds, 5.0, "ops_per_s");
        assert!(words.starts_with("steady after 0 s"), "{words}");
        assert!(words.contains("; not steady any more at 35 s: 83.8 operations/s, range 95.5 %"), "{words}");
        assert!(!sentence(&rounds[..6], 5.0, "ops_per_s").contains("any more"));
    }

    #[test]
    fn steady_window_respects_range_and_slope_limits() {
        // Mean 100, range 20: just within; the line through them is flat.
        let range = [110.0, 90.0, 100.0, 90.0, 110.0];
        assert!(windows(&range)[0].steady);
        // A range of 20.2 % is not.
        assert!(!windows(&[110.1, 89.9, 100.0, 89.9, 110.1])[0].steady);
        // 2.5 a round over four steps: 10 %, just within; a straight line of 2.6 a round is not.
        let rising = |step: f64| -> Vec<f64> { (-2..=2).map(|i| 100.0 + step * f64::from(i)).collect() };
        let window = windows(&rising(2.5))[0];
        assert!(window.steady);
        assert!((window.slope_pct - 10.0).abs() < 1e-9);
        assert!((window.range_pct - 10.0).abs() < 1e-9);
        assert!(!windows(&rising(2.6))[0].steady);
        assert!(!windows(&rising(-2.6))[0].steady, "a fall counts as a rise");
    }

    #[test]
    fn steady_state_starts_at_first_stable_window() {
        let rounds = [300.0, 200.0, 130.0, 101.0, 99.0, 100.0, 102.0, 98.0, 100.0];
        assert_eq!(steady(&rounds).map(|window| window.first), Some(3));
        assert_eq!(
            sentence(&rounds, 60.0, "ops_per_s"),
            "steady after 3 min 00 s, over 5 rounds of 60 s: 100 operations/s, range 4.0 % of the mean, slope -1.2 %"
        );
        assert_eq!(
            sentence(&rounds[..5], 60.0, "ops_per_s"),
            "not steady within 5 min 00 s: the last 5 rounds of 60 s range over 121 % of their mean (at most 20.0 %), \
             slope -121 % (at most 10.0 %)"
        );
        assert_eq!(sentence(&[], 60.0, "ops_per_s"), "0 rounds of 60 s are too few to tell: it takes 5");
        assert_eq!(steady(&[0.0; 9]), None, "nothing done is not steady");
    }

    #[test]
    fn steady_rounds_are_complete_and_use_their_own_duration() {
        let point = |ops, seconds| SeriesPoint { ops, seconds, ..SeriesPoint::default() };
        let points =
            vec![point(100, 1.0), point(200, 1.01), point(300, 0.99), point(400, 1.0), point(7, 0.3)];
        let rounds = rounds(&Series { interval_s: 1.0, points, full: None }, 2.0);
        assert_eq!(rounds.len(), 2);
        assert!((rounds[0] - 300.0 / 2.01).abs() < 1e-9);
        assert!((rounds[1] - 700.0 / 1.99).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn steady_state_is_independent_of_the_unit(rounds in prop::collection::vec(1.0..1e6f64, 5..30), factor in 0.01..100.0f64) {
            let scaled: Vec<f64> = rounds.iter().map(|round| round * factor).collect();
            for (a, b) in windows(&rounds).iter().zip(windows(&scaled)) {
                prop_assert!((a.range_pct - b.range_pct).abs() < 1e-6 && (a.slope_pct - b.slope_pct).abs() < 1e-6);
            }
        }
    }
}
