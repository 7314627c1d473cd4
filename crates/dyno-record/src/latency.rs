//! Latency distributions: recorded in nanoseconds, stored completely, summarized in microseconds.
//!
//! A record stores the HDR histogram itself (V2 deflate, base64; any HdrHistogram library reads it). Percentiles over several
//! runs come from merged histograms, never from averaged percentiles.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The longest latency that a histogram records, in nanoseconds: 24 hours. Longer ones count as this.
pub const LATENCY_NS_MAX: u64 = 24 * 3_600 * 1_000_000_000;

/// Number of significant decimal digits of a histogram.
pub const SIGNIFICANT_DIGITS: u8 = 3;

/// A distribution of latencies in nanoseconds, three significant digits, 1 ns to 24 h.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram(hdrhistogram::Histogram<u64>);

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Histogram {
    /// A new histogram without latencies.
    pub fn new() -> Self {
        let inner = hdrhistogram::Histogram::new_with_bounds(1, LATENCY_NS_MAX, SIGNIFICANT_DIGITS)
            .expect("the bounds are constants within the crate's limits");
        Self(inner)
    }

    /// Records one latency, in nanoseconds.
    pub fn record_ns(&mut self, latency_ns: u64) {
        self.0.saturating_record(latency_ns.max(1));
    }

    /// Records `count` latencies of the same length, in nanoseconds.
    pub fn record_n_ns(&mut self, latency_ns: u64, count: u64) {
        self.0.saturating_record_n(latency_ns.max(1), count);
    }

    /// Adds a histogram of any counter width, such as the narrow ones of the hot path.
    pub fn add<C: hdrhistogram::Counter>(&mut self, other: &hdrhistogram::Histogram<C>) {
        for bucket in other.iter_recorded() {
            self.0.saturating_record_n(bucket.value_iterated_to(), bucket.count_at_value().as_u64());
        }
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Self) {
        self.0.add(&other.0).expect("all histograms of this type have the same bounds");
    }

    /// The latencies recorded after `earlier`, a former state of this histogram.
    pub fn since(&self, earlier: &Self) -> Self {
        let mut difference = self.0.clone();
        match difference.subtract(&earlier.0) {
            Ok(()) => Self(difference),
            // Not a former state, because counters were reset: all latencies came after it.
            Err(_) => self.clone(),
        }
    }

    /// Number of recorded latencies.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The histogram underneath, for quantiles and iteration.
    pub fn inner(&self) -> &hdrhistogram::Histogram<u64> {
        &self.0
    }

    /// The summary that records keep, with the histogram itself.
    pub fn summary(&self) -> Latency {
        Latency { histogram: (self.count() > 0).then(|| self.encode()), ..self.figures() }
    }

    /// The figures of [`summary`](Self::summary) without the encoded histogram, which takes longer to produce than all of them.
    pub fn figures(&self) -> Latency {
        let us = |ns: u64| ns as f64 / 1_000.0;
        let at = |quantile: f64| (self.count() > 0).then(|| us(self.0.value_at_quantile(quantile)));
        Latency {
            mean: (self.count() > 0).then(|| self.0.mean() / 1_000.0),
            p50: at(0.50),
            p90: at(0.90),
            p95: at(0.95),
            p99: at(0.99),
            p999: at(0.999),
            max: (self.count() > 0).then(|| us(self.0.max())),
            count: self.count(),
            histogram: None,
        }
    }

    fn encode(&self) -> String {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&self.0, &mut bytes)
            .expect("a histogram within its bounds serializes into memory");
        BASE64.encode(bytes)
    }

    /// Reads a histogram from the text that [`Latency::histogram`] holds.
    ///
    /// # Errors
    /// The text is not base64, or not an HDR histogram in V2 or V2 deflate form.
    pub fn decode(text: &str) -> Result<Self, HistogramError> {
        let mut histogram = Self::new();
        histogram.add_encoded(text)?;
        Ok(histogram)
    }

    /// Adds the histogram encoded in the text of [`Latency::histogram`].
    ///
    /// # Errors
    /// The same as for [`decode`](Self::decode).
    pub fn add_encoded(&mut self, text: &str) -> Result<(), HistogramError> {
        let bytes = BASE64.decode(text).map_err(|e| HistogramError(e.to_string()))?;
        let read: hdrhistogram::Histogram<u64> = Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .map_err(|e| HistogramError(e.to_string()))?;
        self.0.add(&read).map_err(|e| HistogramError(e.to_string()))
    }
}

/// The error for a histogram in a record that cannot be decoded.
#[derive(Debug, thiserror::Error)]
#[error("the histogram cannot be read: {0}")]
pub struct HistogramError(String);

/// A latency distribution as records store it. Times are in microseconds, and absent if nothing was timed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// Arithmetic mean of the latencies, in µs.
    pub mean: Option<f64>,
    /// Median of the latencies, in µs.
    pub p50: Option<f64>,
    /// 90th percentile of the latencies, in µs.
    pub p90: Option<f64>,
    /// 95th percentile of the latencies, in µs.
    pub p95: Option<f64>,
    /// 99th percentile of the latencies, in µs.
    pub p99: Option<f64>,
    /// 99.9th percentile of the latencies, in µs.
    pub p999: Option<f64>,
    /// Largest of the latencies, in µs.
    pub max: Option<f64>,
    /// Number of timed operations or events.
    pub count: u64,
    /// The complete HDR histogram in nanoseconds: V2 deflate, encoded in base64.
    pub histogram: Option<String>,
}
