//! What is told of a run while it goes on: its last complete interval as the record will have it, and sums up to that.
//!
//! All of it comes from what sessions hand in at the end of an interval and from snapshots that are read anyway, on the
//! coordinator's thread: nobody who watches costs a session anything.

use std::collections::BTreeMap;

use dyno_record::{Change, Counter, Fall, Reading, SeriesPoint, Snapshot, Waits};

use crate::packed::Packed;

/// How long operations took, with two significant digits. Distributions are added, never percentiles.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Latencies(pub(crate) Packed);

impl Latencies {
    /// Adds what others counted.
    pub fn add(&mut self, other: &Self) {
        self.0.add(&other.0);
    }

    /// Bucket by bucket, shortest first: the shortest time that it counts, in ns, and how many.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.0.values_ns()
    }

    /// How many were counted.
    pub fn count(&self) -> u64 {
        self.buckets().map(|(_, count)| count).sum()
    }

    /// All of them added up in seconds, each as the middle of its bucket: wrong by 0.4 % at most.
    pub fn sum_s(&self) -> f64 {
        self.0.middles_ns().map(|(ns, count)| ns * count as f64).sum::<f64>() / 1e9
    }

    /// The smallest time in µs that at least these shares of all do not exceed; nothing where nothing was counted.
    pub fn quantiles_us<const N: usize>(&self, quantiles: [f64; N]) -> [Option<f64>; N] {
        self.0.quantiles_us(quantiles)
    }
}

impl FromIterator<(u64, u64)> for Latencies {
    /// Of times in ns, each with how often it came.
    fn from_iter<T: IntoIterator<Item = (u64, u64)>>(times_ns: T) -> Self {
        let mut tally = crate::tally::Tally::coarse();
        times_ns.into_iter().for_each(|(ns, times)| (0..times).for_each(|_| tally.record(ns)));
        Self(Packed::of(&tally))
    }
}

/// Sums of the window so far: of its complete intervals, and of what sessions in long operations reported late.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SoFar {
    /// The end of the last interval that is in it, s since the window began.
    pub until_s: f64,
    /// Operations.
    pub ops: u64,
    /// Failed operations.
    pub errors: u64,
    /// Operations of each class that has any, by its name.
    pub classes: Vec<(String, u64)>,
    /// Response times of operations that have one of their own.
    pub latency: Latencies,
}

/// The last interval of which all sessions have reported that are not in a long operation, and what is known up to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Complete {
    /// Its point of the series.
    pub point: SeriesPoint,
    /// Response times in it.
    pub latency: Latencies,
    /// Everything up to its end.
    pub so_far: SoFar,
    /// What sessions waited for since the window began; where it ended now, the record would say this.
    pub waits: Waits,
    /// What was found changed on the targets so far, and what counter fell.
    pub changes: Vec<Change>,
    /// Counters that went backwards.
    pub falls: Vec<Fall>,
    /// Snapshots that were held against the one before, of all targets together.
    pub looks: u64,
    /// The cumulative counters of each target, in their order, as they were read last.
    pub counters: Vec<Cumulative>,
}

/// Cumulative counters of one target.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cumulative {
    /// Its URL.
    pub url: String,
    /// The portable ones that it tells, in their units.
    pub portable: BTreeMap<Counter, u64>,
    /// Its own, under their own names.
    pub native: BTreeMap<String, f64>,
}

impl Cumulative {
    pub(crate) fn of(url: String, snapshot: &Snapshot) -> Self {
        let value = |(counter, reading): (&Counter, &Reading)| match reading {
            Reading::Value(value) => Some((*counter, *value)),
            Reading::Absent(_) => None,
        };
        Self {
            url,
            portable: snapshot.portable.iter().filter_map(value).collect(),
            native: snapshot.native.clone(),
        }
    }
}
