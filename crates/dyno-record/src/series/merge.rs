//! Combines two consecutive intervals into one.
//!
//! Counts and seconds are added, maxima stay maxima, and a rate becomes the mean over time, so that rate × seconds is the count.
//! A ratio is weighted by its base. A percentile cannot be computed from two percentiles: callers with histograms merge the
//! histograms, others get none.

use std::collections::BTreeMap;

use super::{SeriesPoint, Slowest, add_bands};
use crate::waits::{SAMPLED_ACTIVE, WAITING};

/// A value of one interval that can be combined with the next interval.
pub trait Merge {
    /// Adds the interval that follows.
    fn merge(&mut self, later: Self);
}

/// Ratios, each with the rate of its base, used as the weight.
const RATIOS: [(&str, &str); 6] = [
    ("physical_read_latency_us", "physical_read_requests_per_s"),
    ("physical_write_latency_us", "physical_write_requests_per_s"),
    ("redo_sync_latency_us", "redo_syncs_per_s"),
    ("buffer_hit_pct", "logical_reads_per_s"),
    ("device_read_latency_us", "device_reads_per_s"),
    ("device_write_latency_us", "device_writes_per_s"),
];

/// An interval shorter than this share of its neighbor is the end of the window; its rate is not meaningful.
const SLIVER: f64 = 0.5;

impl Merge for SeriesPoint {
    fn merge(&mut self, later: Self) {
        self.slowest = slower(slowest(self), slowest(&later));
        self.metrics = metrics(self, &later);
        if self.ops == 0 {
            (self.p50_us, self.p99_us) = (later.p50_us, later.p99_us);
        } else if later.ops > 0 {
            (self.p50_us, self.p99_us) = (None, None);
        }
        self.max_us = [self.max_us, later.max_us].into_iter().flatten().reduce(f64::max);
        add_bands(&mut self.bands, &later.bands);
        self.seconds += later.seconds;
        self.ops = self.ops.saturating_add(later.ops);
        self.errors = self.errors.saturating_add(later.errors);
    }
}

fn slowest(point: &SeriesPoint) -> Slowest {
    point.slowest.unwrap_or(Slowest { at_s: point.at_s, seconds: point.seconds, ops: point.ops })
}

fn slower(first: Slowest, later: Slowest) -> Option<Slowest> {
    let slower = match (first, later) {
        (first, second) if second.seconds < SLIVER * first.seconds => first,
        (first, second) if first.seconds < SLIVER * second.seconds => second,
        (first, second) if second.rate_per_s() < first.rate_per_s() => second,
        (first, _) => first,
    };
    Some(slower)
}

/// Whether the samples of `point` did not contain this wait.
fn is_unseen(point: &SeriesPoint, name: &str) -> bool {
    name.starts_with(WAITING)
        && point.metrics.contains_key(SAMPLED_ACTIVE)
        && !point.metrics.contains_key(name)
}

fn metrics(first: &SeriesPoint, later: &SeriesPoint) -> BTreeMap<String, f64> {
    let mut merged = first.metrics.clone();
    // A wait that the samples did not contain has no metric, but counts as 0.
    for name in later.metrics.keys().filter(|name| is_unseen(first, name)) {
        merged.insert(name.clone(), 0.0);
    }
    for (name, own) in &mut merged {
        let unseen = is_unseen(later, name).then_some(&0.0);
        let Some(other) = later.metrics.get(name).or(unseen) else { continue };
        let mut weights = (weight(first, name), weight(later, name));
        if weights.0 + weights.1 <= 0.0 {
            weights = (first.seconds, later.seconds);
        }
        let all = weights.0 + weights.1;
        if all > 0.0 {
            *own = *own * (weights.0 / all) + other * (weights.1 / all);
        }
    }
    for (name, other) in &later.metrics {
        if !merged.contains_key(name) {
            merged.insert(name.clone(), *other);
        }
    }
    merged
}

/// The weight of a figure of a point: its seconds, or the number of events behind a ratio.
fn weight(point: &SeriesPoint, name: &str) -> f64 {
    let rate = RATIOS.iter().find(|(ratio, _)| *ratio == name).and_then(|(_, of)| point.metrics.get(*of));
    point.seconds * rate.copied().unwrap_or(1.0)
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Consecutive points, each with a rate and a ratio.
    pub(crate) fn points(lengths: std::ops::Range<usize>) -> impl Strategy<Value = Vec<SeriesPoint>> {
        let point_figures = (0u64..1_000_000, 0u64..100, 1u32..1_000_000, 0.0f64..10_000.0, 0.0f64..1_000.0);
        prop::collection::vec(point_figures, lengths).prop_map(|all| {
            let point =
                |(at, (ops, errors, max_us, reads, us)): (usize, (u64, u64, u32, f64, f64))| SeriesPoint {
                    at_s: at as f64,
                    seconds: 1.0,
                    ops,
                    errors,
                    p50_us: (ops > 0).then_some(1.0),
                    p99_us: (ops > 0).then_some(2.0),
                    max_us: (ops > 0).then_some(f64::from(max_us)),
                    metrics: BTreeMap::from([
                        ("physical_read_requests_per_s".to_owned(), reads),
                        ("physical_read_latency_us".to_owned(), us),
                    ]),
                    bands: if ops > 0 { vec![((at % 7) as i16 - 3, ops)] } else { Vec::new() },
                    slowest: None,
                };
            all.into_iter().enumerate().map(point).collect()
        })
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-6 * a.abs().max(b.abs()).max(1.0)
    }

    proptest! {
        #[test]
        fn series_merge_preserves_all_counts(all in points(1..60)) {
            let mut merged = all[0].clone();
            all[1..].iter().for_each(|later| merged.merge(later.clone()));
            let counted: u64 = merged.bands.iter().map(|(_, count)| count).sum();
            prop_assert_eq!(counted, merged.ops, "bands hold every operation");
            prop_assert!(merged.bands.windows(2).all(|pair| pair[0].0 < pair[1].0));
            let sum = |of: fn(&SeriesPoint) -> u64| all.iter().map(of).sum::<u64>();
            prop_assert_eq!((merged.ops, merged.errors), (sum(|p| p.ops), sum(|p| p.errors)));
            prop_assert!(close(merged.seconds, all.len() as f64));
            prop_assert_eq!(merged.max_us, all.iter().filter_map(|p| p.max_us).reduce(f64::max));
            let requests = |p: &SeriesPoint| p.metrics["physical_read_requests_per_s"] * p.seconds;
            let waited = |p: &SeriesPoint| p.metrics["physical_read_latency_us"] * requests(p);
            prop_assert!(close(requests(&merged), all.iter().map(requests).sum()));
            if requests(&merged) > 0.0 {
                prop_assert!(close(waited(&merged), all.iter().map(waited).sum()));
            }
            let least = all.iter().map(|p| p.rate_per_s()).fold(f64::INFINITY, f64::min);
            let slowest_rate = merged.slowest.map_or(merged.rate_per_s(), |slowest| slowest.rate_per_s());
            prop_assert!(close(slowest_rate, least));
            // A percentile of several points cannot be computed from theirs.
            let busy = all.iter().filter(|p| p.ops > 0).count();
            prop_assert_eq!(merged.p99_us.is_some(), busy == 1);
        }
    }

    #[test]
    fn metric_missing_in_one_half_is_taken_from_the_other() {
        let metric_map = |name: &str, value| BTreeMap::from([(name.to_owned(), value)]);
        let mut first = SeriesPoint { seconds: 1.0, metrics: metric_map("a", 3.0), ..SeriesPoint::default() };
        first.merge(SeriesPoint { seconds: 1.0, metrics: metric_map("b", 4.0), ..SeriesPoint::default() });
        assert_eq!(first.metrics, BTreeMap::from([("a".to_owned(), 3.0), ("b".to_owned(), 4.0)]));
    }

    #[test]
    fn slowest_interval_ignores_partial_last_interval() {
        let mut point = SeriesPoint { seconds: 1.0, ops: 100, ..SeriesPoint::default() };
        point.merge(SeriesPoint { at_s: 1.0, seconds: 0.1, ..SeriesPoint::default() });
        assert_eq!(point.slowest, Some(Slowest { at_s: 0.0, seconds: 1.0, ops: 100 }));
    }
}
