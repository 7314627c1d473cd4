//! One figure of a proof: what it is by the script, what was recorded, and whether they are equal.

use std::collections::BTreeMap;

use dyno_record::{Histogram, Latency};

use super::distribution::Distribution;

/// Sums of the same numbers in another order differ by a few units in the last place of a double.
const ROUNDING: f64 = 1e-12;

/// One figure, scripted and recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The scene that it is of.
    pub scene: String,
    /// What it is: `select response p99`.
    pub name: String,
    /// Its unit; empty for counts.
    pub unit: &'static str,
    /// What the script says.
    pub scripted: Option<f64>,
    /// What the record says; `None` where it says nothing.
    pub recorded: Option<f64>,
}

impl Figure {
    /// Whether both are there and equal.
    pub fn proved(&self) -> bool {
        match (self.scripted, self.recorded) {
            (Some(scripted), Some(recorded)) => {
                (scripted - recorded).abs() <= ROUNDING * scripted.abs().max(recorded.abs())
            }
            _ => false,
        }
    }
}

/// The figures of one scene, being gathered.
pub(super) struct Figures {
    scene: String,
    pub(super) all: Vec<Figure>,
}

impl Figures {
    pub(super) fn new(scene: impl Into<String>) -> Self {
        Self { scene: scene.into(), all: Vec::new() }
    }

    /// A count.
    pub(super) fn count(&mut self, name: impl Into<String>, scripted: u64, recorded: Option<u64>) {
        self.number(name, "", Some(scripted as f64), recorded.map(|count| count as f64));
    }

    /// A number with its unit.
    pub(super) fn number(
        &mut self,
        name: impl Into<String>,
        unit: &'static str,
        scripted: Option<f64>,
        recorded: Option<f64>,
    ) {
        self.all.push(Figure { scene: self.scene.clone(), name: name.into(), unit, scripted, recorded });
    }

    /// Every summary of a distribution, and each bucket of its histogram.
    pub(super) fn latency(&mut self, name: &str, scripted: &Distribution, recorded: Option<&Latency>) {
        let none = Latency::default();
        let recorded = recorded.unwrap_or(&none);
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

/// How many buckets of a record's histogram hold what they should; one too many if there are others.
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
