//! Throughput and response times over the last seconds and minutes of complete intervals.
//!
//! Distributions are merged, percentiles are never averaged; a stretch that is not fully measured has no
//! figure.

use std::collections::VecDeque;

use dyno_drive::CoarseLatencies;
use dyno_record::SeriesPoint;

/// Longest stretch in memory, s.
const KEPT_S: f64 = 600.0;
/// Shorter intervals are merged, so that ten minutes have at most a few hundred parts.
const PART_S: f64 = 1.0;
/// Maximum deviation of summed interval lengths from whole seconds.
const NEAR_S: f64 = 1e-3;

/// The last minutes of complete intervals.
#[derive(Debug, Clone, Default)]
pub struct Recent {
    parts: VecDeque<Part>,
    seconds: f64,
    until_s: f64,
}

#[derive(Debug, Clone, Default)]
struct Part {
    seconds: f64,
    ops: u64,
    latency: CoarseLatencies,
}

/// Throughput and response times of a stretch of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecentFigures {
    /// Operations per second over the last intervals.
    pub ops_per_s: f64,
    /// Median response time, µs; absent if none was measured.
    pub p50_us: Option<f64>,
    /// 99th percentile of response time, µs; absent if none was measured.
    pub p99_us: Option<f64>,
}

impl Recent {
    pub(super) fn add(&mut self, point: &SeriesPoint, latency: &CoarseLatencies) {
        // Intervals are missing if the machine was suspended: no stretch may span the gap.
        if point.at_s > self.until_s + NEAR_S {
            self.parts.clear();
            self.seconds = 0.0;
        }
        self.until_s = point.at_s + point.seconds;
        self.seconds += point.seconds;
        match self.parts.back_mut().filter(|part| part.seconds + NEAR_S < PART_S) {
            Some(part) => {
                part.seconds += point.seconds;
                part.ops += point.ops;
                part.latency.add(latency);
            }
            None => self.parts.push_back(Part {
                seconds: point.seconds,
                ops: point.ops,
                latency: latency.clone(),
            }),
        }
        while let Some(first) = self.parts.front()
            && self.seconds - first.seconds >= KEPT_S - NEAR_S
        {
            self.seconds -= first.seconds;
            self.parts.pop_front();
        }
    }

    /// Figures of the last `seconds`; `None` if less was measured.
    pub fn over(&self, seconds: f64) -> Option<RecentFigures> {
        let (mut sum_s, mut ops, mut latency) = (0.0, 0, CoarseLatencies::default());
        for part in self.parts.iter().rev() {
            sum_s += part.seconds;
            ops += part.ops;
            latency.add(&part.latency);
            if sum_s >= seconds - NEAR_S {
                let [p50_us, p99_us] = latency.quantiles_us([0.5, 0.99]);
                return Some(RecentFigures { ops_per_s: ops as f64 / sum_s, p50_us, p99_us });
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(at_s: f64, seconds: f64, ops: u64) -> SeriesPoint {
        SeriesPoint { at_s, seconds, ops, ..SeriesPoint::default() }
    }

    #[test]
    fn recent_period_has_operations_and_latencies_of_its_intervals() {
        let mut recent = Recent::default();
        for second in 0..700u32 {
            // One slow operation in a hundred, except in the last ten seconds.
            let slow = if second < 690 { 2 } else { 0 };
            let latency = CoarseLatencies::from_iter([(100_000, 98), (9_000_000, slow)]);
            recent.add(&point(f64::from(second), 1.0, 98 + slow), &latency);
        }
        let p99 = |seconds| recent.over(seconds).unwrap().p99_us.unwrap();
        assert!(p99(10.0) < 101.0);
        assert!(p99(60.0) > 8_900.0);
        assert!(p99(600.0) > 8_900.0);
        assert_eq!(recent.over(10.0).unwrap().ops_per_s, 98.0);
        assert_eq!(recent.parts.len(), 600);
        assert_eq!(recent.over(601.0), None);
    }

    #[test]
    fn recent_intervals_are_summed_but_never_across_a_gap() {
        let mut recent = Recent::default();
        for tenth in 0..300u32 {
            recent.add(&point(f64::from(tenth) / 10.0, 0.1, 5), &CoarseLatencies::default());
        }
        assert_eq!(recent.parts.len(), 30);
        assert!((recent.over(10.0).unwrap().ops_per_s - 50.0).abs() < 1e-6);
        assert_eq!((recent.over(60.0), recent.over(10.0).unwrap().p99_us), (None, None));
        recent.add(&point(95.0, 0.1, 5), &CoarseLatencies::default());
        assert_eq!(recent.over(10.0), None);
    }
}
