//! Computes a distribution the simple way: every duration is kept and sorted.
//!
//! It shares nothing with the counters of the hot path except the resolution of a record's histogram. That
//! has three significant digits, so durations of 2,048 ns and more share buckets, and a bucket stands for its
//! upper end.

use std::collections::BTreeMap;

/// Below this many nanoseconds every duration has a bucket of its own.
const EXACT_BELOW_NS: u64 = 2_048;

/// Durations, with the number of occurrences of each.
#[derive(Debug, Clone, Default)]
pub(crate) struct Distribution(BTreeMap<u64, u64>);

/// The first and the last nanosecond of the bucket that contains `ns`.
fn bucket(ns: u64) -> (u64, u64) {
    let mut width = 1;
    while ns / width >= EXACT_BELOW_NS {
        width *= 2;
    }
    let first = ns - ns % width;
    (first, first + width - 1)
}

impl Distribution {
    /// From durations with their numbers of occurrences.
    pub(crate) fn of(counts: &BTreeMap<u64, u64>) -> Self {
        Self(counts.clone())
    }

    pub(crate) fn add(&mut self, ns: u64) {
        *self.0.entry(ns).or_default() += 1;
    }

    pub(crate) fn count(&self) -> u64 {
        self.0.values().sum()
    }

    /// The mean, with each duration taken as the middle of its bucket, as in records.
    pub(crate) fn mean_us(&self) -> Option<f64> {
        let middle = |ns: u64| {
            let (first, last) = bucket(ns);
            (first + (last - first).div_ceil(2)) as f64
        };
        let sum: f64 = self.0.iter().map(|(&ns, &count)| middle(ns) * count as f64).sum();
        (self.count() > 0).then(|| sum / self.count() as f64 / 1_000.0)
    }

    /// The nearest-rank quantile: the shortest duration that at least `quantile` of all durations do not
    /// exceed.
    pub(crate) fn quantile_us(&self, quantile: f64) -> Option<f64> {
        let rank = ((self.count() as f64 * quantile).ceil() as u64).max(1);
        let mut running_count = 0;
        let quantile_entry = self.0.iter().find(|&(_, &count)| {
            running_count += count;
            running_count >= rank
        });
        quantile_entry.map(|(&ns, _)| bucket(ns).1 as f64 / 1_000.0)
    }

    /// Counts by the last nanosecond of each bucket.
    pub(crate) fn buckets(&self) -> BTreeMap<u64, u64> {
        let mut buckets = BTreeMap::new();
        for (&ns, &count) in &self.0 {
            *buckets.entry(bucket(ns).1).or_default() += count;
        }
        buckets
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_record::Histogram;
    use proptest::prelude::*;

    #[test]
    fn histogram_buckets_widen_from_2048_ns() {
        assert_eq!(bucket(1), (1, 1));
        assert_eq!(bucket(2_047), (2_047, 2_047));
        assert_eq!(bucket(2_048), (2_048, 2_049));
        assert_eq!(bucket(4_097), (4_096, 4_099));
        assert_eq!(bucket(50_000), (49_984, 50_015));
    }

    proptest! {
        #[test]
        fn plain_distribution_agrees_with_histogram(values in prop::collection::vec(1u64..3_600_000_000_000, 1..300)) {
            let (mut plain, mut record) = (Distribution::default(), Histogram::new());
            for &value in &values {
                plain.add(value);
                record.record_ns(value);
            }
            let summary = record.summary();
            for (quantile, recorded) in [(0.5, summary.p50), (0.9, summary.p90), (0.99, summary.p99), (1.0, summary.max)] {
                prop_assert_eq!(plain.quantile_us(quantile), recorded);
            }
            let (plain, recorded) = (plain.mean_us().unwrap(), summary.mean.unwrap());
            prop_assert!((plain / recorded - 1.0).abs() < 1e-12, "{} {}", plain, recorded);
        }
    }
}
