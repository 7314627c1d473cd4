//! Reports a run's progress: its last complete interval as the record will have it, and sums up to that
//! interval.
//!
//! All figures come from what sessions report at the end of an interval, and from snapshots that are read
//! anyway. The coordinator's thread computes them, so progress reports cost sessions nothing.

use dyno_observe::CumulativeCounters;
use dyno_record::{CounterReset, MarkChange, SeriesPoint, Waits};

use crate::packed::Packed;

/// Distribution of response times with two significant digits. Distributions are added, never percentiles.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CoarseLatencies(pub(crate) Packed);

impl CoarseLatencies {
    /// Adds the latencies of another distribution.
    pub fn add(&mut self, other: &Self) {
        self.0.add(&other.0);
    }

    /// The buckets, shortest first: the shortest time of the bucket in ns, and its count.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.0.values_ns()
    }

    /// Number of latencies in the distribution.
    pub fn count(&self) -> u64 {
        self.buckets().map(|(_, count)| count).sum()
    }

    /// Sum of all latencies in seconds, each as the middle of its bucket: the error is at most 0.4 %.
    pub fn sum_s(&self) -> f64 {
        self.0.middles_ns().map(|(ns, count)| ns * count as f64).sum::<f64>() / 1e9
    }

    /// For each quantile, the smallest time in µs that this share of all latencies does not exceed; absent if
    /// there are none.
    pub fn quantiles_us<const N: usize>(&self, quantiles: [f64; N]) -> [Option<f64>; N] {
        self.0.quantiles_us(quantiles)
    }
}

impl FromIterator<(u64, u64)> for CoarseLatencies {
    /// From times in ns, each with its number of occurrences.
    fn from_iter<T: IntoIterator<Item = (u64, u64)>>(times_ns: T) -> Self {
        let mut tally = crate::tally::LatencyTally::coarse();
        times_ns.into_iter().for_each(|(ns, times)| (0..times).for_each(|_| tally.record(ns)));
        Self(Packed::of(&tally))
    }
}

/// Sums of the window so far: of its complete intervals, and of late reports of sessions in long operations.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunningTotals {
    /// The end of the last included interval, s since the window began.
    pub until_s: f64,
    /// Operations since the window began.
    pub ops: u64,
    /// Failed operations since the window began.
    pub errors: u64,
    /// Operations of each class that had any, by class name.
    pub classes: Vec<(String, u64)>,
    /// Response times of operations that are timed individually.
    pub latency: CoarseLatencies,
}

/// The last interval on which all sessions outside long operations have reported, and what is known up to it.
#[derive(Debug, Clone, PartialEq)]
pub struct CompletedInterval {
    /// The interval's point of the series.
    pub point: SeriesPoint,
    /// Response times in the interval.
    pub latency: CoarseLatencies,
    /// The sums up to the end of the interval.
    pub so_far: RunningTotals,
    /// What sessions waited for since the window began, as the record would say if it ended now.
    pub waits: Waits,
    /// Changes on the targets that were found so far, with counter resets.
    pub changes: Vec<MarkChange>,
    /// Counters that went backwards so far.
    pub resets: Vec<CounterReset>,
    /// Number of snapshots that were compared with the one before, over all targets.
    pub snapshot_count: u64,
    /// The cumulative counters of each target, in target order, as last read.
    pub counters: Vec<CumulativeCounters>,
}
