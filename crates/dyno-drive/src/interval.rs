//! Collects what the sessions of one thread do in the current interval of the series, and sends it to the
//! collector.

use std::sync::mpsc::{Receiver, Sender};

use dyno_workload::ClassId;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::count_max::COUNT_MAX;
use crate::packed::Packed;
use crate::results::ResultShape;
use crate::tally::LatencyTally;

/// What the sessions of one thread did on one target in one interval of the series, or in part of it. It
/// serializes to little more than its latencies, so it may come from another host.
#[derive(Debug, Serialize, Deserialize)]
pub struct IntervalCounts {
    /// Index of the target within the run.
    pub(crate) target: usize,
    pub(crate) index: u64,
    pub(crate) ops: u64,
    pub(crate) errors: u64,
    /// Number of operations by class number.
    #[serde(default)]
    pub(crate) classes: Vec<u64>,
    #[serde(serialize_with = "pack", deserialize_with = "unpack")]
    pub(crate) latency: LatencyTally,
}

fn pack<S: Serializer>(latency: &LatencyTally, serializer: S) -> Result<S::Ok, S::Error> {
    Packed::of(latency).serialize(serializer)
}

fn unpack<'de, D: Deserializer<'de>>(deserializer: D) -> Result<LatencyTally, D::Error> {
    let packed = Packed::deserialize(deserializer)?;
    packed.to_coarse().ok_or_else(|| serde::de::Error::custom("invalid encoding of an interval's latencies"))
}

impl IntervalCounts {
    /// An empty interval for sessions on `target` with operations of this many classes.
    pub(crate) fn new(target: usize, classes: usize) -> Self {
        Self {
            target,
            index: 0,
            ops: 0,
            errors: 0,
            classes: vec![0; classes],
            latency: LatencyTally::coarse(),
        }
    }

    /// Counts `ops` operations of a class.
    #[inline]
    pub(crate) fn count(&mut self, class: ClassId, ops: u64) {
        self.ops += ops;
        self.classes[class.index()] += ops;
    }

    /// Whether it is plausible for a run of this shape and a window of this age; it may come from another
    /// host.
    pub fn is_of(&self, shape: &ResultShape, age_ns: u64) -> bool {
        self.target < shape.targets
            && self.index <= age_ns / shape.interval_ns + 1
            && self.classes.len() == shape.classes.count()
            && self.ops <= COUNT_MAX
            && self.errors <= COUNT_MAX
            && self.classes.iter().all(|ops| *ops <= COUNT_MAX)
    }

    /// Adds another thread's part of this interval on this target.
    pub(crate) fn add(&mut self, other: &Self) {
        self.ops += other.ops;
        self.errors += other.errors;
        for (sum, ops) in self.classes.iter_mut().zip(&other.classes) {
            *sum += ops;
        }
        self.latency.add(&other.latency);
    }

    fn is_empty(&self) -> bool {
        self.ops == 0 && self.errors == 0
    }

    pub(crate) fn clear(&mut self) {
        self.ops = 0;
        self.errors = 0;
        self.classes.fill(0);
        self.latency.clear();
    }
}

/// The current interval, target by target.
#[derive(Debug)]
pub(crate) struct CurrentIntervals {
    length_ns: u64,
    origin_ns: u64,
    index: u64,
    begin_ns: u64,
    classes: usize,
    #[expect(clippy::vec_box, reason = "each changes places with one that comes back")]
    by_target: Vec<Box<IntervalCounts>>,
    full: Sender<Box<IntervalCounts>>,
    empty: Receiver<Box<IntervalCounts>>,
}

impl CurrentIntervals {
    /// For intervals of this length in ns, and this many targets and classes. Full ones go to `full` and may
    /// come back empty.
    pub(crate) fn new(
        (targets, classes): (usize, usize),
        length_ns: u64,
        full: Sender<Box<IntervalCounts>>,
        empty: Receiver<Box<IntervalCounts>>,
    ) -> Self {
        let by_target = (0..targets).map(|target| Box::new(IntervalCounts::new(target, classes))).collect();
        Self { length_ns, origin_ns: 0, index: 0, begin_ns: 0, classes, by_target, full, empty }
    }

    /// Begins the series: the window began at `origin_ns`. Each session notices this on its own.
    pub(crate) fn open(&mut self, origin_ns: u64) {
        if self.origin_ns != origin_ns {
            self.origin_ns = origin_ns;
            self.aim(origin_ns);
        }
    }

    /// The end of the interval that contains `at_ns`.
    pub(crate) fn end_ns(&self, at_ns: u64) -> u64 {
        self.origin_ns + (self.number(at_ns) + 1) * self.length_ns
    }

    fn number(&self, at_ns: u64) -> u64 {
        at_ns.saturating_sub(self.origin_ns) / self.length_ns
    }

    fn aim(&mut self, at_ns: u64) {
        self.index = self.number(at_ns);
        self.begin_ns = self.origin_ns + self.index * self.length_ns;
        self.by_target.iter_mut().for_each(|interval| interval.index = self.index);
    }

    /// Lets `note` count work that ended at `ended_ns` in the interval of `target`.
    #[inline]
    pub(crate) fn note(&mut self, target: usize, ended_ns: u64, note: impl FnOnce(&mut IntervalCounts)) {
        if ended_ns.wrapping_sub(self.begin_ns) >= self.length_ns {
            if ended_ns < self.begin_ns {
                let mut late = self.empty(target);
                late.index = self.number(ended_ns);
                note(&mut late);
                return self.send(late);
            }
            self.move_on(ended_ns);
        }
        note(&mut self.by_target[target]);
    }

    #[cold]
    fn move_on(&mut self, ended_ns: u64) {
        self.flush();
        self.aim(ended_ns);
    }

    /// Sends the current interval to the collector.
    pub(crate) fn flush(&mut self) {
        for target in 0..self.by_target.len() {
            if !self.by_target[target].is_empty() {
                let mut next = self.empty(target);
                next.index = self.index;
                let full = std::mem::replace(&mut self.by_target[target], next);
                self.send(full);
            }
        }
    }

    /// An empty interval, reused if possible; it may have belonged to another target.
    fn empty(&self, target: usize) -> Box<IntervalCounts> {
        let new = || Box::new(IntervalCounts::new(target, self.classes));
        let mut next = self.empty.try_recv().unwrap_or_else(|_| new());
        next.target = target;
        next
    }

    fn send(&self, full: Box<IntervalCounts>) {
        // The collector is dropped only after the run, when the series is no longer read.
        let _ = self.full.send(full);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn late_operation_is_counted_in_the_interval_it_ended_in() {
        let ((full, filled), (back, empty)) = (channel(), channel());
        back.send(Box::new(IntervalCounts::new(0, 1))).unwrap();
        let mut under_way = CurrentIntervals::new((2, 1), 100, full, empty);
        under_way.open(1_000);
        let op = |interval: &mut IntervalCounts| interval.ops += 1;
        for (target, ended_ns) in [(0, 1_001), (1, 1_099), (0, 1_100), (0, 1_350), (1, 1_099), (1, 1_399)] {
            under_way.note(target, ended_ns, op);
        }
        assert_eq!((under_way.end_ns(1_099), under_way.end_ns(1_100)), (1_100, 1_200));
        // Another session notices the begin of the window only now.
        under_way.open(1_000);
        under_way.flush();
        let sent: Vec<_> = filled.try_iter().map(|one| (one.target, one.index, one.ops)).collect();
        assert_eq!(sent, [(0, 0, 1), (1, 0, 1), (0, 1, 1), (1, 0, 1), (0, 3, 1), (1, 3, 1)]);
    }
}
