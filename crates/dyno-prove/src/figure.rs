//! One figure of a proof: its scripted value, its recorded value, and whether they are equal.

use std::collections::BTreeMap;

use dyno_record::{Histogram, Latency};

use crate::distribution::Distribution;

/// Sums of the same numbers in another order may differ by a few units in the last place of a double.
const ROUNDING: f64 = 1e-12;

/// One figure, scripted and recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct ProofFigure {
    /// The scene that it belongs to.
    pub scene: String,
    /// The figure's name: `select response p99`.
    pub name: String,
    /// Its unit; empty for counts.
    pub unit: &'static str,
    /// The value by the script; absent if the script gives none.
    pub scripted: Option<f64>,
    /// The recorded value; absent if the record has none.
    pub recorded: Option<f64>,
}

impl ProofFigure {
    /// Whether both values exist and are equal.
    pub fn proved(&self) -> bool {
        match (self.scripted, self.recorded) {
            (Some(scripted), Some(recorded)) => {
                (scripted - recorded).abs() <= ROUNDING * scripted.abs().max(recorded.abs())
            }
            _ => false,
        }
    }
}

/// Collects the figures of one scene.
pub(crate) struct ProofFigures {
    scene: String,
    pub(crate) all: Vec<ProofFigure>,
}

impl ProofFigures {
    pub(crate) fn new(scene: impl Into<String>) -> Self {
        Self { scene: scene.into(), all: Vec::new() }
    }

    pub(crate) fn count(&mut self, name: impl Into<String>, scripted: u64, recorded: Option<u64>) {
        self.number(name, "", Some(scripted as f64), recorded.map(|count| count as f64));
    }

    /// Adds a number with its unit.
    pub(crate) fn number(
        &mut self,
        name: impl Into<String>,
        unit: &'static str,
        scripted: Option<f64>,
        recorded: Option<f64>,
    ) {
        self.all.push(ProofFigure { scene: self.scene.clone(), name: name.into(), unit, scripted, recorded });
    }

    /// Adds every summary of a distribution, and each bucket of its histogram.
    pub(crate) fn latency(&mut self, name: &str, scripted: &Distribution, recorded: Option<&Latency>) {
        let empty = Latency::default();
        let recorded = recorded.unwrap_or(&empty);
        self.count(format!("{name}, timed"), scripted.count(), Some(recorded.count));
        self.number(format!("{name}, mean"), "µs", scripted.mean_us(), recorded.mean);
        let quantiles = [
            ("p50", 0.5, recorded.p50),
            ("p90", 0.9, recorded.p90),
            ("p95", 0.95, recorded.p95),
            ("p99", 0.99, recorded.p99),
            ("p99.9", 0.999, recorded.p999),
            ("max", 1.0, recorded.max),
        ];
        for (word, quantile, recorded) in quantiles {
            self.number(format!("{name}, {word}"), "µs", scripted.quantile_us(quantile), recorded);
        }
        let expected = scripted.buckets();
        self.count(
            format!("{name}, histogram buckets"),
            expected.len() as u64,
            agreeing(&expected, recorded.histogram.as_deref()),
        );
    }
}

/// Number of buckets of a record's histogram with the expected count; one more if there are unexpected
/// buckets.
fn agreeing(expected: &BTreeMap<u64, u64>, histogram: Option<&str>) -> Option<u64> {
    let histogram = Histogram::decode(histogram?).ok()?;
    let (mut agree, mut others) = (0, 0);
    for bucket in histogram.inner().iter_recorded() {
        match expected.get(&bucket.value_iterated_to()) {
            Some(&count) if count == bucket.count_at_value() => agree += 1,
            _ => others += 1,
        }
    }
    Some(if others == 0 { agree } else { expected.len() as u64 + others })
}
