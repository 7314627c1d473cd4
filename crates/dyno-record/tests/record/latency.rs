//! Tests of latency distributions against exact computations.

use dyno_record::{Histogram, Latency};
use proptest::prelude::*;

/// Latencies from nanoseconds to hours.
fn latencies() -> impl Strategy<Value = Vec<u64>> {
    let any_magnitude = (0u32..43).prop_flat_map(|bits| 1u64 << bits..(2u64 << bits));
    proptest::collection::vec(any_magnitude, 1..300)
}

fn histogram(latencies: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    latencies.iter().for_each(|&latency_ns| histogram.record_ns(latency_ns));
    histogram
}

/// The smallest value that is not exceeded by at least a share `quantile` of all values.
fn exact(sorted: &[u64], quantile: f64) -> f64 {
    let rank = (quantile * sorted.len() as f64).ceil().max(1.0) as usize;
    sorted[rank - 1] as f64 / 1_000.0
}

/// Whether both agree in the three significant digits of a histogram.
fn close(estimate_us: Option<f64>, exact_us: f64) -> bool {
    estimate_us.is_some_and(|estimate| (estimate - exact_us).abs() <= exact_us * 0.001 + 0.001)
}

fn figures(latency: &Latency) -> [Option<f64>; 6] {
    [latency.p50, latency.p90, latency.p95, latency.p99, latency.p999, latency.max]
}

/// Each case visits a whole histogram some dozen times, so the default is a quarter of the usual number of cases.
fn cases() -> ProptestConfig {
    let all = std::env::var("DYNO_TEST_ALL").is_ok_and(|value| !value.is_empty() && value != "0");
    ProptestConfig::with_cases(if all { 256 } else { 64 })
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn histogram_percentiles_match_exact_ones(mut values in latencies()) {
        let summary = histogram(&values).summary();
        values.sort_unstable();
        for (figure, quantile) in figures(&summary).into_iter().zip([0.5, 0.9, 0.95, 0.99, 0.999, 1.0]) {
            prop_assert!(close(figure, exact(&values, quantile)), "{quantile}: {figure:?} of {values:?}");
        }
        let mean = values.iter().map(|&ns| ns as f64 / 1_000.0).sum::<f64>() / values.len() as f64;
        prop_assert!(close(summary.mean, mean), "{:?} is not {mean}", summary.mean);
        prop_assert_eq!(summary.count, values.len() as u64);
    }

    #[test]
    fn histogram_text_round_trip_is_lossless(values in latencies()) {
        let written = histogram(&values);
        let read = Histogram::decode(&written.summary().histogram.unwrap()).unwrap();
        prop_assert_eq!(read.summary(), written.summary());
    }

    #[test]
    fn merged_histogram_equals_combined_recording(a in latencies(), b in latencies()) {
        let mut merged = histogram(&a);
        merged.merge(&histogram(&b));
        let combined = histogram(&[a.clone(), b.clone()].concat());
        prop_assert_eq!(merged.summary(), combined.summary());
        let mut from_text = histogram(&a);
        from_text.add_encoded(&histogram(&b).summary().histogram.unwrap()).unwrap();
        prop_assert_eq!(from_text.figures(), Latency { histogram: None, ..combined.summary() });
        let mut narrow = hdrhistogram::Histogram::<u32>::new_with_bounds(1, dyno_record::latency::LATENCY_NS_MAX, 3).unwrap();
        b.iter().for_each(|&latency_ns| narrow.record(latency_ns).unwrap());
        let mut added = histogram(&a);
        added.add(&narrow);
        prop_assert_eq!(added.count(), merged.count());
        prop_assert_eq!(added.summary().p99, merged.summary().p99);
    }

    #[test]
    fn histogram_since_returns_only_later_recordings(before in latencies(), after in latencies()) {
        let earlier = histogram(&before);
        let later = histogram(&[before, after.clone()].concat());
        prop_assert_eq!(later.since(&earlier).summary().count, after.len() as u64);
        let (difference, expected) = (later.since(&earlier).summary(), histogram(&after).summary());
        for (actual, expected) in figures(&difference).into_iter().zip(figures(&expected)) {
            prop_assert!(close(actual, expected.unwrap()), "{actual:?} is not {expected:?}");
        }
    }

    #[test]
    fn histogram_decode_never_panics_on_any_text(text in "[A-Za-z0-9+/=]{0,200}") {
        let _ = Histogram::decode(&text);
    }
}

#[test]
fn empty_histogram_has_no_latency_figures() {
    let summary = Histogram::new().summary();
    assert_eq!(summary, Latency::default());
}

#[test]
fn restarted_histogram_counts_belong_to_new_interval() {
    let (old, new) = (histogram(&[1_000, 1_000, 2_000]), histogram(&[1_000]));
    assert_eq!(new.since(&old).summary(), new.summary());
}

#[test]
fn shortest_and_longest_latencies_are_clamped_to_bounds() {
    let summary = histogram(&[0, u64::MAX]).summary();
    assert!(close(summary.p50, 0.001));
    assert!(close(summary.max, 24.0 * 3_600.0 * 1e6), "{:?}", summary.max);
}
