//! The distribution of a figure over many intervals, in bounded memory: values are counted in classes of 1 %
//! width.

use std::collections::{BTreeMap, VecDeque};

use dyno_record::Spread;

/// Ratio between the lower ends of two consecutive classes.
const WIDTH: f64 = 1.01;
/// Seconds of a minute, and the share of a minute that must be known.
const MINUTE_S: f64 = 60.0;
const WHOLE_S: f64 = 54.0;
/// Rounding tolerance for sums of lengths, s.
const EDGE_S: f64 = 1e-6;

/// The distribution of one figure.
#[derive(Debug, Clone, Default)]
pub(crate) struct Gauge {
    seconds: f64,
    weighted: f64,
    /// Seconds by class of the value, and the sum of value and time; values that are not above 0 are in the first class.
    classes: BTreeMap<i32, (f64, f64)>,
    peak: Option<(f64, f64)>,
    /// The last minute: begin, length and value of each interval.
    minute: VecDeque<(f64, f64, f64)>,
    busiest: Option<(f64, f64)>,
}

impl Gauge {
    /// Notes that the figure was `value` for this many seconds from `at_s` on, later than all before.
    pub(crate) fn note(&mut self, at_s: f64, seconds: f64, value: f64) {
        if !value.is_finite() || seconds <= 0.0 {
            return;
        }
        self.seconds += seconds;
        self.weighted += value * seconds;
        let (in_class_s, in_class) = self.classes.entry(class(value)).or_default();
        *in_class_s += seconds;
        *in_class += value.max(0.0) * seconds;
        if self.peak.is_none_or(|(peak, _)| value > peak) {
            self.peak = Some((value, at_s));
        }
        self.minute.push_back((at_s, seconds, value));
        let from_s = at_s + seconds - MINUTE_S - EDGE_S;
        while self.minute.front().is_some_and(|(at_s, ..)| *at_s < from_s) {
            self.minute.pop_front();
        }
        let known_s: f64 = self.minute.iter().map(|(_, seconds, _)| seconds).sum();
        let mean = self.minute.iter().map(|(_, seconds, value)| seconds * value).sum::<f64>() / known_s;
        if known_s >= WHOLE_S && self.busiest.is_none_or(|(most, _)| mean > most) {
            self.busiest = self.minute.front().map(|(at_s, ..)| (mean, *at_s));
        }
    }

    /// The spread of the figure; `None` if it was never known.
    pub(crate) fn spread(self) -> Option<Spread> {
        let (peak, peak_at_s) = self.peak?;
        Some(Spread {
            seconds: self.seconds,
            mean: self.weighted / self.seconds,
            p50: self.quantile(0.50).min(peak),
            p95: self.quantile(0.95).min(peak),
            peak,
            peak_at_s,
            busiest_minute: self.busiest.map(|(most, _)| most),
            busiest_minute_at_s: self.busiest.map(|(_, at_s)| at_s),
        })
    }

    /// The mean of the class that this quantile of the time falls into: exact where all values of the class are equal.
    fn quantile(&self, share: f64) -> f64 {
        let mut below = 0.0;
        for (seconds, weighted) in self.classes.values() {
            below += seconds;
            if below >= share * self.seconds * (1.0 - 1e-9) {
                return weighted / seconds;
            }
        }
        0.0
    }
}

/// The class of values that are not above 0.
const NOTHING: i32 = i32::MIN;

fn class(value: f64) -> i32 {
    if value > 0.0 { (value.ln() / WIDTH.ln()).floor() as i32 } else { NOTHING }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn gauge_spread_matches_spread_of_its_values(values in prop::collection::vec(0.0f64..1e9, 1..400)) {
            let mut gauge = Gauge::default();
            for (at, value) in values.iter().enumerate() {
                gauge.note(at as f64, 1.0, *value);
            }
            let spread = gauge.spread().unwrap();
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            let rank = |share: f64| sorted[((share * values.len() as f64).ceil() as usize).max(1) - 1];
            let near = |told: f64, is: f64| (told - is).abs() <= 0.011 * is + 1e-9;
            prop_assert!(near(spread.p95, rank(0.95)), "{} {}", spread.p95, rank(0.95));
            prop_assert!(near(spread.p50, rank(0.50)), "{} {}", spread.p50, rank(0.50));
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            prop_assert!((spread.mean - mean).abs() <= 1e-9 * mean.max(1.0));
            prop_assert_eq!(spread.peak, sorted[values.len() - 1]);
            prop_assert_eq!(values[spread.peak_at_s as usize], spread.peak);
            prop_assert_eq!(spread.seconds, values.len() as f64);
            // Each minute of which at least nine tenths were observed, wherever it begins, is the mean of its
            // seconds.
            let minutes = (1..=values.len()).map(|end| &values[end.saturating_sub(60)..end]);
            let minutes = minutes.filter(|minute| minute.len() >= 54);
            let busiest =
                minutes.map(|minute| minute.iter().sum::<f64>() / minute.len() as f64).reduce(f64::max);
            prop_assert_eq!(spread.busiest_minute.is_some(), busiest.is_some());
            if let (Some(told), Some(is)) = (spread.busiest_minute, busiest) {
                prop_assert!((told - is).abs() <= 1e-9 * is.max(1.0));
            }
            prop_assert!(spread.peak >= spread.p95 && spread.p95 >= spread.p50);
        }
    }

    #[test]
    fn equal_values_have_themselves_as_percentiles() {
        let mut gauge = Gauge::default();
        (0..20).for_each(|at| gauge.note(f64::from(at), 1.0, 100.0));
        let spread = gauge.spread().unwrap();
        assert_eq!((spread.p50, spread.p95, spread.mean), (100.0, 100.0, 100.0));
    }

    #[test]
    fn day_of_samples_uses_few_classes_and_nan_has_no_spread() {
        let mut gauge = Gauge::default();
        (0..86_400).for_each(|at| gauge.note(f64::from(at), 1.0, f64::from(at)));
        assert!(gauge.classes.len() < 1_500, "{}", gauge.classes.len());
        let spread = gauge.spread().unwrap();
        assert_eq!((spread.peak, spread.busiest_minute_at_s), (86_399.0, Some(86_340.0)));
        let mut never = Gauge::default();
        never.note(0.0, 1.0, f64::NAN);
        assert_eq!(never.spread(), None);
    }

    #[test]
    fn minute_with_a_gap_is_not_the_busiest_minute() {
        let mut gauge = Gauge::default();
        (0..30).for_each(|at| gauge.note(f64::from(at), 1.0, 1_000.0));
        (60..120).for_each(|at| gauge.note(f64::from(at), 1.0, 10.0));
        let spread = gauge.spread().unwrap();
        assert_eq!((spread.busiest_minute, spread.peak), (Some(10.0), 1_000.0));
    }
}
