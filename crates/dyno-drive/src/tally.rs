//! Counts latencies on the hot path.
//!
//! The buckets are those of an HDR histogram with two or three significant digits, so the conversion to one
//! loses nothing. The difference is the cost. Counters have 32 bits and their pages are unmapped until used.
//! A session's tallies take a few pages instead of 300 KiB each, and a reset clears only used pages.

use dyno_record::latency::LATENCY_NS_MAX;

/// Bits for three significant digits, and for two.
const PRECISE_BITS: u32 = 10;
const COARSE_BITS: u32 = 7;

/// The highest bucket number of a precise tally; coarse tallies have fewer buckets.
pub(crate) const BUCKET_MAX: u64 = index(PRECISE_BITS, LATENCY_NS_MAX);

/// The lowest value in the bucket with this number of a precise tally.
pub(crate) fn precise_value(bucket: u64) -> u64 {
    value(PRECISE_BITS, bucket)
}

/// The lowest value in the bucket with this number of a coarse tally.
pub(crate) fn coarse_value(bucket: u64) -> u64 {
    value(COARSE_BITS, bucket)
}

fn value(bits: u32, index: u64) -> u64 {
    match index >> bits {
        0 | 1 => index,
        group => ((index & ((1 << bits) - 1)) | (1 << bits)) << (group - 1),
    }
}

#[inline]
const fn index(bits: u32, value: u64) -> u64 {
    let shift = (63 - (value | (1 << bits)).leading_zeros()) - bits;
    ((shift as u64) << bits) + (value >> shift)
}

/// A distribution of latencies in nanoseconds with bounded relative error.
#[derive(Debug, Clone)]
pub(crate) struct LatencyTally {
    /// Number of bits kept below a value's leading bit.
    precision_bits: u32,
    counts: Vec<u32>,
    used: std::ops::Range<usize>,
    len: u64,
}

impl LatencyTally {
    /// A tally with three significant digits, as in records.
    pub(crate) fn precise() -> Self {
        Self::with_bits(PRECISE_BITS)
    }

    /// A tally with two significant digits, for the points of a series.
    pub(crate) fn coarse() -> Self {
        Self::with_bits(COARSE_BITS)
    }

    fn with_bits(precision_bits: u32) -> Self {
        let mut tally = Self { precision_bits, counts: Vec::new(), used: 0..0, len: 0 };
        // `vec![0; n]` asks for zeroed pages, which stay unmapped until the first write.
        tally.counts = vec![0; tally.index(LATENCY_NS_MAX) + 1];
        tally
    }

    #[inline]
    fn index(&self, value: u64) -> usize {
        index(self.precision_bits, value) as usize
    }

    /// The lowest value in the bucket at `index`.
    fn value(&self, index: usize) -> u64 {
        value(self.precision_bits, index as u64)
    }

    /// Every used bucket: its number and its count.
    pub(crate) fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.used.clone().filter(|&i| self.counts[i] > 0).map(|i| (i as u64, u64::from(self.counts[i])))
    }

    /// A coarse tally with these counts by bucket number; `None` if a bucket does not exist.
    pub(crate) fn of_coarse(buckets: impl Iterator<Item = (u64, u64)>) -> Option<Self> {
        let mut tally = Self::coarse();
        for (bucket, count) in buckets {
            let at = usize::try_from(bucket).ok()?;
            *tally.counts.get_mut(at)? = u32::try_from(count).ok()?;
            tally.len += count;
            tally.used = if tally.used.is_empty() { at..at + 1 } else { tally.used.start..at + 1 };
        }
        Some(tally)
    }

    /// Counts one latency in ns; values above 24 h count as 24 h.
    #[inline]
    pub(crate) fn record(&mut self, latency_ns: u64) {
        let index = self.index(latency_ns.clamp(1, LATENCY_NS_MAX));
        let count = &mut self.counts[index];
        *count = count.saturating_add(1);
        self.len += 1;
        if self.used.is_empty() {
            self.used = index..index + 1;
        } else if index < self.used.start {
            self.used.start = index;
        } else if index >= self.used.end {
            self.used.end = index + 1;
        }
    }

    /// Number of latencies counted.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Every used bucket: its lowest value and its count.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.used.clone().filter(|&i| self.counts[i] > 0).map(|i| (self.value(i), u64::from(self.counts[i])))
    }

    /// Adds all counts of `other`, which has the same precision.
    pub(crate) fn add(&mut self, other: &Self) {
        debug_assert_eq!(self.precision_bits, other.precision_bits);
        if other.used.is_empty() {
            return;
        }
        for index in other.used.clone() {
            self.counts[index] = self.counts[index].saturating_add(other.counts[index]);
        }
        self.len += other.len;
        self.used = match self.used.is_empty() {
            true => other.used.clone(),
            false => self.used.start.min(other.used.start)..self.used.end.max(other.used.end),
        };
    }

    pub(crate) fn clear(&mut self) {
        self.counts[self.used.clone()].fill(0);
        self.used = 0..0;
        self.len = 0;
    }

    /// The smallest value that at least `quantile` of all counts do not exceed; `None` if there are none.
    pub(crate) fn quantile(&self, quantile: f64) -> Option<u64> {
        let rank = ((self.len as f64 * quantile).ceil() as u64).max(1);
        let mut running_count = 0;
        self.iter().find_map(|(value, count)| {
            running_count += count;
            (running_count >= rank).then_some(value)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn tally_bucket_width_stays_within_its_precision(value in 1u64..LATENCY_NS_MAX) {
            for (tally, error) in [(LatencyTally::precise(), 1.0 / 1024.0), (LatencyTally::coarse(), 1.0 / 128.0)] {
                let lowest = tally.value(tally.index(value));
                prop_assert!(lowest <= value);
                prop_assert!((value - lowest) as f64 <= value as f64 * error);
            }
        }

        #[test]
        fn merged_tallies_equal_a_combined_recording(a in prop::collection::vec(1u64..1_000_000, 0..50), b in prop::collection::vec(1u64..1_000_000_000, 0..50)) {
            let (mut left, mut right, mut both) = (LatencyTally::coarse(), LatencyTally::coarse(), LatencyTally::coarse());
            for &v in &a { left.record(v); both.record(v); }
            for &v in &b { right.record(v); both.record(v); }
            left.add(&right);
            prop_assert_eq!(left.iter().collect::<Vec<_>>(), both.iter().collect::<Vec<_>>());
            prop_assert_eq!(left.len(), both.len());
        }
    }

    #[test]
    fn cleared_tally_is_empty() {
        let mut tally = LatencyTally::coarse();
        tally.record(5);
        tally.record(1_000_000);
        tally.clear();
        assert_eq!((tally.len(), tally.iter().count(), tally.quantile(0.5)), (0, 0, None));
    }

    #[test]
    fn tally_quantiles_follow_ranks() {
        let mut tally = LatencyTally::precise();
        for value in 1..=100 {
            tally.record(value);
        }
        assert_eq!(tally.quantile(0.5), Some(50));
        assert_eq!(tally.quantile(0.99), Some(99));
        assert_eq!(tally.quantile(1.0), Some(100));
    }
}
