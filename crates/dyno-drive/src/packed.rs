//! Stores finished latencies in a few bytes per used bucket: those of a closed interval, or of a session that
//! ended.
//!
//! Percentiles of two intervals cannot be computed from theirs, so thinning a series merges the
//! distributions. A tally takes pages of memory; this form is used for the points of hours and the results of
//! thousands of sessions.

use dyno_record::{Histogram, band_of_us};
use serde::{Deserialize, Serialize};

use crate::tally::{BUCKET_MAX, LatencyTally, coarse_value, precise_value};

/// The counts of a tally: for each used bucket its distance from the one before and its count, each in base
/// 128, least significant digit first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<u8>")]
pub(crate) struct Packed(Box<[u8]>);

impl Packed {
    /// Packs the counts of a tally.
    pub(crate) fn of(tally: &LatencyTally) -> Self {
        Self::pack(tally.buckets())
    }

    /// The coarse tally that packs to this; `None` if no tally does.
    pub(crate) fn to_coarse(&self) -> Option<LatencyTally> {
        LatencyTally::of_coarse(self.buckets())
    }

    fn pack(buckets: impl Iterator<Item = (u64, u64)>) -> Self {
        let mut bytes = Vec::new();
        let mut last = 0;
        for (bucket, count) in buckets {
            put(&mut bytes, bucket - last);
            put(&mut bytes, count);
            last = bucket;
        }
        Self(bytes.into_boxed_slice())
    }

    /// The buckets in order: number and count.
    fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let (mut rest, mut last) = (&*self.0, 0);
        std::iter::from_fn(move || {
            last = take(&mut rest)?.checked_add(last)?;
            Some((last, take(&mut rest)?))
        })
    }

    /// For a coarse tally: the lowest value and the count of each bucket.
    pub(crate) fn values_ns(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.buckets().map(|(bucket, count)| (coarse_value(bucket), count))
    }

    /// For a coarse tally: the middle and the count of each bucket.
    pub(crate) fn middles_ns(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        let middle = |bucket| (coarse_value(bucket) + coarse_value(bucket + 1) - 1) as f64 / 2.0;
        self.buckets().map(move |(bucket, count)| (middle(bucket), count))
    }

    /// Adds all counts of `other`.
    pub(crate) fn add(&mut self, other: &Self) {
        if !other.0.is_empty() {
            *self = if self.0.is_empty() { other.clone() } else { self.with(other) };
        }
    }

    fn with(&self, other: &Self) -> Self {
        let (mut left, mut right) = (self.buckets().peekable(), other.buckets().peekable());
        let merged = std::iter::from_fn(|| match (left.peek().copied(), right.peek().copied()) {
            (Some((bucket, count)), Some((same, more))) if bucket == same => {
                left.next();
                right.next();
                Some((bucket, count.saturating_add(more)))
            }
            (Some(first), Some(second)) if first.0 < second.0 => left.next(),
            (Some(_), None) => left.next(),
            _ => right.next(),
        });
        Self::pack(merged)
    }

    /// Adds all counts, which are those of a precise tally, to a record's histogram.
    pub(crate) fn add_to(&self, histogram: &mut Histogram) {
        for (bucket, count) in self.buckets() {
            histogram.record_n_ns(precise_value(bucket), count);
        }
    }

    /// For a coarse tally and each quantile: the smallest latency in µs that this share of all counts does
    /// not exceed; absent if there are none.
    pub(crate) fn quantiles_us<const N: usize>(&self, quantiles: [f64; N]) -> [Option<f64>; N] {
        let all: u64 = self.buckets().map(|(_, count)| count).sum();
        quantiles.map(|quantile| {
            let rank = ((all as f64 * quantile).ceil() as u64).max(1);
            let mut running_count = 0u64;
            let quantile_bucket = self.buckets().find(|(_, count)| {
                running_count = running_count.saturating_add(*count);
                running_count >= rank
            });
            quantile_bucket.map(|(bucket, _)| coarse_value(bucket) as f64 / 1_000.0)
        })
    }
}

impl Packed {
    /// For a coarse tally: the count of each non-empty band of response time, ascending.
    pub(crate) fn bands(&self) -> Vec<(i16, u64)> {
        let mut bands: Vec<(i16, u64)> = Vec::new();
        for (bucket, count) in self.buckets() {
            let band = band_of_us(coarse_value(bucket) as f64 / 1_000.0);
            match bands.last_mut() {
                Some((last, counted)) if *last == band => *counted = counted.saturating_add(count),
                _ => bands.push((band, count)),
            }
        }
        bands
    }
}

impl TryFrom<Vec<u8>> for Packed {
    type Error = &'static str;

    fn try_from(bytes: Vec<u8>) -> Result<Self, Self::Error> {
        let packed = Self(bytes.into_boxed_slice());
        let has_valid_buckets = packed.buckets().all(|(bucket, _)| bucket <= BUCKET_MAX);
        // Reading stops at an invalid bucket, so truncated or invalid data does not pack to itself again.
        let whole = has_valid_buckets && Self::pack(packed.buckets()) == packed;
        if whole { Ok(packed) } else { Err("invalid histogram encoding") }
    }
}

fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push((number & 0x7F) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take(bytes: &mut &[u8]) -> Option<u64> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Some(number);
        }
        shift += 7;
        if shift >= u64::BITS {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use dyno_record::latency::LATENCY_NS_MAX;
    use proptest::prelude::*;

    use super::*;

    fn tally(values: &[u64]) -> LatencyTally {
        let mut tally = LatencyTally::coarse();
        values.iter().for_each(|&value| tally.record(value));
        tally
    }

    proptest! {
        #[test]
        fn histogram_from_packed_tally_equals_direct_recording(values in prop::collection::vec(1u64..1_000_000_000_000, 1..200)) {
            let mut tally = LatencyTally::precise();
            let mut exact = Histogram::new();
            for &value in &values {
                tally.record(value);
                exact.record_ns(value);
            }
            let mut copied = Histogram::new();
            Packed::of(&tally).add_to(&mut copied);
            prop_assert_eq!(copied.count(), values.len() as u64);
            for q in [0.5, 0.9, 0.99, 1.0] {
                prop_assert_eq!(copied.inner().value_at_quantile(q), exact.inner().value_at_quantile(q));
            }
        }

        #[test]
        fn sum_of_packed_tallies_equals_packed_sum(
            a in prop::collection::vec(1u64..1_000_000, 0..80),
            b in prop::collection::vec(1u64..1_000_000_000_000, 0..80),
        ) {
            let (first, second) = (tally(&a), tally(&b));
            let mut combined = first.clone();
            combined.add(&second);
            let mut packed = Packed::of(&first);
            packed.add(&Packed::of(&second));
            prop_assert_eq!(&packed, &Packed::of(&combined));
            let unpacked = packed.to_coarse().unwrap();
            prop_assert_eq!(unpacked.iter().collect::<Vec<_>>(), combined.iter().collect::<Vec<_>>());
            prop_assert_eq!((unpacked.len(), Packed::of(&unpacked)), (combined.len(), packed.clone()));
            let us = |quantile| combined.quantile(quantile).map(|ns| ns as f64 / 1_000.0);
            let bands = packed.bands();
            prop_assert!(bands.windows(2).all(|pair| pair[0].0 < pair[1].0), "{:?}", bands);
            prop_assert_eq!(bands.iter().map(|(_, count)| count).sum::<u64>(), combined.len());
            prop_assert_eq!(packed.quantiles_us([0.5, 0.99, 1.0]), [us(0.5), us(0.99), us(1.0)]);
        }
    }

    #[test]
    fn packed_tally_round_trips_and_broken_bytes_are_refused() {
        let packed = Packed::of(&tally(&[3, 5_000, 5_000, 7_000_000_000]));
        let bytes = serde_json::to_string(&packed).unwrap();
        assert_eq!(serde_json::from_str::<Packed>(&bytes).unwrap(), packed);
        for broken in [&packed.0[..packed.0.len() - 1], &[0xFF; 11], &[0xFF, 0xFF, 0xFF, 0x7F, 1]] {
            assert!(Packed::try_from(broken.to_vec()).is_err(), "{broken:?}");
        }
        let mut precise = LatencyTally::precise();
        precise.record(LATENCY_NS_MAX);
        assert!(Packed::of(&precise).to_coarse().is_none(), "a coarse tally has no such bucket");
    }

    #[test]
    fn packed_tally_bucket_takes_about_two_bytes() {
        let packed = Packed::of(&tally(&(1..2_000).map(|value| value * 1_000).collect::<Vec<_>>()));
        assert!(packed.0.len() < 3 * packed.buckets().count(), "{} bytes", packed.0.len());
    }
}
