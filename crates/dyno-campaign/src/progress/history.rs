//! Throughput and p99 since the window began, in bounded memory.

/// Maximum parts; with more, two become one.
const PARTS_MAX: usize = 400;

/// One or more complete intervals that follow each other.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct HistoryPart {
    /// Operations that ended in it.
    pub ops: u64,
    /// Seconds that this part of the history covers.
    pub seconds: f64,
    /// The largest 99th percentile of its intervals, µs; 0 if none has one.
    pub p99_us: f64,
}

impl HistoryPart {
    fn and(self, next: Self) -> Self {
        Self {
            ops: self.ops + next.ops,
            seconds: self.seconds + next.seconds,
            p99_us: self.p99_us.max(next.p99_us),
        }
    }
}

/// Throughput and p99 of all complete intervals of a window.
#[derive(Debug, Clone)]
pub struct ThroughputHistory {
    parts: Vec<HistoryPart>,
    intervals_per_part: usize,
    intervals_in_last: usize,
}

impl Default for ThroughputHistory {
    fn default() -> Self {
        Self { parts: Vec::new(), intervals_per_part: 1, intervals_in_last: 0 }
    }
}

impl ThroughputHistory {
    /// The parts in order; each has as many intervals as the others, the last one perhaps fewer.
    pub fn parts(&self) -> &[HistoryPart] {
        &self.parts
    }

    pub(super) fn add(&mut self, interval: HistoryPart) {
        match self.parts.last_mut().filter(|_| self.intervals_in_last > 0) {
            Some(last) => *last = last.and(interval),
            None => self.parts.push(interval),
        }
        self.intervals_in_last = (self.intervals_in_last + 1) % self.intervals_per_part;
        if self.parts.len() >= PARTS_MAX && self.intervals_in_last == 0 {
            let pairs = self.parts.chunks(2);
            self.parts = pairs.filter_map(|pair| pair.iter().copied().reduce(HistoryPart::and)).collect();
            self.intervals_per_part *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn history_merges_intervals_and_loses_no_operation() {
        let mut history = ThroughputHistory::default();
        for interval in 0..1_000u32 {
            history.add(HistoryPart { ops: 3, seconds: 0.5, p99_us: f64::from(interval) });
        }
        let parts = history.parts();
        assert!(parts.len() < PARTS_MAX, "{}", parts.len());
        assert_eq!(parts.iter().map(|part| part.ops).sum::<u64>(), 3_000);
        assert_eq!(parts.iter().map(|part| part.seconds).sum::<f64>(), 500.0);
        assert_eq!(parts.last().map(|part| part.p99_us), Some(999.0));
    }
}
