//! Latencies of which no more come, in a few bytes for each bucket in use: of an interval that is over, of a session that has
//! ended.
//!
//! Percentiles of two intervals do not follow from theirs, so a series that is thinned merges the distributions. A tally takes
//! pages of memory; the points of hours and the results of thousands of sessions take this.

use dyno_record::{Histogram, band_of_us};
use serde::{Deserialize, Serialize};

use crate::tally::{BUCKET_MAX, Tally, coarse_value, precise_value};

/// What a tally has counted: for each bucket in use its distance from the one before and its count, each in base 128 with the
/// least digit first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<u8>")]
pub(crate) struct Packed(Box<[u8]>);

impl Packed {
    /// What a tally has counted.
    pub(crate) fn of(tally: &Tally) -> Self {
        Self::pack(tally.buckets())
    }

    /// What a coarse tally has counted that packs to this; nothing where none does.
    pub(crate) fn to_coarse(&self) -> Option<Tally> {
        Tally::of_coarse(self.buckets())
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

    /// Bucket by bucket: its number and its count.
    fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let (mut rest, mut last) = (&*self.0, 0);
        std::iter::from_fn(move || {
            last = take(&mut rest)?.checked_add(last)?;
            Some((last, take(&mut rest)?))
        })
    }

    /// Of a coarse tally: bucket by bucket the lowest value and the count.
    pub(crate) fn values_ns(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.buckets().map(|(bucket, count)| (coarse_value(bucket), count))
    }

    /// The same with the middle of each bucket.
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
        let (mut own, mut others) = (self.buckets().peekable(), other.buckets().peekable());
        let both = std::iter::from_fn(|| match (own.peek().copied(), others.peek().copied()) {
            (Some((bucket, count)), Some((same, more))) if bucket == same => {
                own.next();
                others.next();
                Some((bucket, count.saturating_add(more)))
            }
            (Some(first), Some(second)) if first.0 < second.0 => own.next(),
            (Some(_), None) => own.next(),
            _ => others.next(),
        });
        Self::pack(both)
    }

    /// Adds all counts of a precise tally to a record's histogram.
    pub(crate) fn add_to(&self, histogram: &mut Histogram) {
        for (bucket, count) in self.buckets() {
            histogram.record_n_ns(precise_value(bucket), count);
        }
    }

    /// Of a coarse tally: the smallest latencies in µs that at least these shares of all counts do not exceed; nothing where nothing was counted.
    pub(crate) fn quantiles_us<const N: usize>(&self, quantiles: [f64; N]) -> [Option<f64>; N] {
        let all: u64 = self.buckets().map(|(_, count)| count).sum();
        quantiles.map(|quantile| {
            let rank = ((all as f64 * quantile).ceil() as u64).max(1);
            let mut seen = 0u64;
            let found = self.buckets().find(|(_, count)| {
                seen = seen.saturating_add(*count);
                seen >= rank
            });
            found.map(|(bucket, _)| coarse_value(bucket) as f64 / 1_000.0)
        })
    }
}

impl Packed {
    /// Of a coarse tally: how many lie in each band of response time that has any, rising.
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
        let known = packed.buckets().all(|(bucket, _)| bucket <= BUCKET_MAX);
        // Reading stops at what is no bucket, so what is cut or no number does not come out as it went in.
        let whole = known && Self::pack(packed.buckets()) == packed;
        if whole { Ok(packed) } else { Err("these bytes are no distribution of latencies") }
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

    fn tally(values: &[u64]) -> Tally {
        let mut tally = Tally::coarse();
        values.iter().for_each(|&value| tally.record(value));
        tally
    }

    proptest! {
        #[test]
        fn a_record_histogram_says_what_the_tally_says(values in prop::collection::vec(1u64..1_000_000_000_000, 1..200)) {
            let mut tally = Tally::precise();
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
        fn two_packed_say_what_the_tally_of_both_says(
            a in prop::collection::vec(1u64..1_000_000, 0..80),
            b in prop::collection::vec(1u64..1_000_000_000_000, 0..80),
        ) {
            let (first, second) = (tally(&a), tally(&b));
            let mut both = first.clone();
            both.add(&second);
            let mut packed = Packed::of(&first);
            packed.add(&Packed::of(&second));
            prop_assert_eq!(&packed, &Packed::of(&both));
            let unpacked = packed.to_coarse().unwrap();
            prop_assert_eq!(unpacked.iter().collect::<Vec<_>>(), both.iter().collect::<Vec<_>>());
            prop_assert_eq!((unpacked.len(), Packed::of(&unpacked)), (both.len(), packed.clone()));
            let us = |quantile| both.quantile(quantile).map(|ns| ns as f64 / 1_000.0);
            let bands = packed.bands();
            prop_assert!(bands.windows(2).all(|pair| pair[0].0 < pair[1].0), "{:?}", bands);
            prop_assert_eq!(bands.iter().map(|(_, count)| count).sum::<u64>(), both.len());
            prop_assert_eq!(packed.quantiles_us([0.5, 0.99, 1.0]), [us(0.5), us(0.99), us(1.0)]);
        }
    }

    #[test]
    fn bytes_are_read_as_written_or_refused() {
        let packed = Packed::of(&tally(&[3, 5_000, 5_000, 7_000_000_000]));
        let bytes = serde_json::to_string(&packed).unwrap();
        assert_eq!(serde_json::from_str::<Packed>(&bytes).unwrap(), packed);
        for broken in [&packed.0[..packed.0.len() - 1], &[0xFF; 11], &[0xFF, 0xFF, 0xFF, 0x7F, 1]] {
            assert!(Packed::try_from(broken.to_vec()).is_err(), "{broken:?}");
        }
        let mut precise = Tally::precise();
        precise.record(LATENCY_NS_MAX);
        assert!(Packed::of(&precise).to_coarse().is_none(), "a coarse tally has no such bucket");
    }

    #[test]
    fn a_bucket_takes_about_two_bytes() {
        let packed = Packed::of(&tally(&(1..2_000).map(|value| value * 1_000).collect::<Vec<_>>()));
        assert!(packed.0.len() < 3 * packed.buckets().count(), "{} bytes", packed.0.len());
    }
}
