//! A histogram that one thread writes and any thread can read, without a lock.
//!
//! The buckets are those of an HDR histogram with three significant digits, so a copy equals what
//! [`Histogram`] would have recorded. They are stored in chunks that are allocated when a latency of their
//! magnitude first occurs. A file that is only read takes some tens of KiB instead of the 300 KiB of the
//! whole range.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use dyno_record::Histogram;
use dyno_record::latency::LATENCY_NS_MAX;

/// log2 of the buckets in a chunk. 2,048 sub-buckets distinguish three significant digits, and each power of
/// two above the first two thousand adds half as many.
const CHUNK_BITS: u32 = 10;
const CHUNK: usize = 1 << CHUNK_BITS;

/// Chunks up to the largest latency: the first two cover 0..2048 ns, and each further one a power of two.
const CHUNKS: usize = index(LATENCY_NS_MAX).0 + 1;

/// The chunk of a latency, and its position in the chunk.
const fn index(latency_ns: u64) -> (usize, usize) {
    let magnitude = u64::BITS - (latency_ns | (CHUNK as u64 * 2 - 1)).leading_zeros() - CHUNK_BITS - 1;
    let sub = (latency_ns >> magnitude) as usize;
    let flat = magnitude as usize * CHUNK + sub;
    (flat >> CHUNK_BITS, flat & (CHUNK - 1))
}

/// The smallest latency of a bucket.
fn value(chunk: usize, place: usize) -> u64 {
    let magnitude = chunk.saturating_sub(1);
    (((chunk - magnitude) << CHUNK_BITS | place) as u64) << magnitude
}

/// Adds to a counter that only the calling thread writes, which is cheaper than an atomic addition.
pub(super) fn bump(counter: &AtomicU64, amount: u64) {
    counter.store(counter.load(Ordering::Relaxed) + amount, Ordering::Relaxed);
}

/// The histogram of one kind of request on one file handle.
#[derive(Debug)]
pub(super) struct SharedHistogram {
    chunks: [OnceLock<Box<[AtomicU64]>>; CHUNKS],
}

impl Default for SharedHistogram {
    fn default() -> Self {
        Self { chunks: std::array::from_fn(|_| OnceLock::new()) }
    }
}

impl SharedHistogram {
    /// Counts one latency; only one thread at a time may call this.
    pub(super) fn record_ns(&self, latency_ns: u64) {
        let (chunk, place) = index(latency_ns.clamp(1, LATENCY_NS_MAX));
        let buckets = self.chunks[chunk].get_or_init(|| (0..CHUNK).map(|_| AtomicU64::new(0)).collect());
        bump(&buckets[place], 1);
    }

    /// Adds everything counted so far to `total`.
    pub(super) fn add_to(&self, total: &mut Histogram) {
        for (chunk, buckets) in self.chunks.iter().enumerate() {
            for (place, bucket) in buckets.get().into_iter().flat_map(|buckets| buckets.iter().enumerate()) {
                let count = bucket.load(Ordering::Relaxed);
                if count > 0 {
                    total.record_n_ns(value(chunk, place), count);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn shared_histogram_equals_direct_hdr_recording(
            latencies in prop::collection::vec((0u64..64, any::<u64>()), 1..200)
        ) {
            let (shared, mut direct) = (SharedHistogram::default(), Histogram::new());
            for (shift, bits) in latencies {
                let latency_ns = (bits >> shift).min(LATENCY_NS_MAX);
                shared.record_ns(latency_ns);
                direct.record_ns(latency_ns);
            }
            let mut read = Histogram::new();
            shared.add_to(&mut read);
            prop_assert_eq!(read.count(), direct.count());
            for quantile in [0.0, 0.25, 0.5, 0.9, 0.99, 1.0] {
                prop_assert_eq!(
                    read.inner().value_at_quantile(quantile),
                    direct.inner().value_at_quantile(quantile)
                );
            }
        }
    }
}
