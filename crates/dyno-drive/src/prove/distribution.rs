//! A distribution computed the plain way: every duration kept, and sorted.
//!
//! It shares nothing with the counters of the hot path but the definition of what a record's histogram tells apart: three
//! significant digits, so that durations of 2,048 ns and more share buckets, and a bucket stands for its upper end.

use std::collections::BTreeMap;

/// Below this many nanoseconds every duration has a bucket of its own.
const EXACT_BELOW_NS: u64 = 2_048;

/// Durations and how often each was.
#[derive(Debug, Clone, Default)]
pub(super) struct Distribution(BTreeMap<u64, u64>);

/// The first and the last nanosecond of the bucket that `ns` falls into.
fn bucket(ns: u64) -> (u64, u64) {
    let mut width = 1;
    while ns / width >= EXACT_BELOW_NS {
        width *= 2;
    }
    let first = ns - ns % width;
    (first, first + width - 1)
}

impl Distribution {
    /// A distribution of durations by how often each was.
    pub(super) fn of(counts: &BTreeMap<u64, u64>) -> Self {
        Self(counts.clone())
    }

    /// Adds one duration.
    pub(super) fn add(&mut self, ns: u64) {
        *self.0.entry(ns).or_default() += 1;
    }

    pub(super) fn count(&self) -> u64 {
        self.0.values().sum()
    }

    /// The mean, each duration taken as the middle of its bucket, as records do.
    pub(super) fn mean_us(&self) -> Option<f64> {
        let middle = |ns: u64| {
            let (first, last) = bucket(ns);
            (first + (last - first).div_ceil(2)) as f64
        };
        let sum: f64 = self.0.iter().map(|(&ns, &count)| middle(ns) * count as f64).sum();
        (self.count() > 0).then(|| sum / self.count() as f64 / 1_000.0)
    }

    /// The nearest-rank quantile: the shortest duration that at least `quantile` of all do not exceed.
    pub(super) fn quantile_us(&self, quantile: f64) -> Option<f64> {
        let rank = ((self.count() as f64 * quantile).ceil() as u64).max(1);
        let mut seen = 0;
        let found = self.0.iter().find(|&(_, &count)| {
            seen += count;
            seen >= rank
        });
        found.map(|(&ns, _)| bucket(ns).1 as f64 / 1_000.0)
    }

    /// Counts by the last nanosecond of each bucket.
    pub(super) fn buckets(&self) -> BTreeMap<u64, u64> {
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
    fn buckets_double_in_width_from_2048_ns_on() {
        assert_eq!(bucket(1), (1, 1));
        assert_eq!(bucket(2_047), (2_047, 2_047));
        assert_eq!(bucket(2_048), (2_048, 2_049));
        assert_eq!(bucket(4_097), (4_096, 4_099));
        assert_eq!(bucket(50_000), (49_984, 50_015));
    }

    proptest! {
        #[test]
        fn the_plain_way_and_the_records_way_agree(values in prop::collection::vec(1u64..3_600_000_000_000, 1..300)) {
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
