//! Compares the background activity of two sides: whether others worked more during the runs of one
//! of them.
//!
//! Background activity takes processors and devices from a run, and no counter of the run's own
//! work shows it. It may differ between the sides as clearly as a measure must. Then the background
//! may cause the difference of the sides: the verdict is confounded.

use dyno_record::{ForeignActivity, Metric, RunRecord, Waits};
use serde::{Deserialize, Serialize};

use super::align::Pair;
use super::overall::stratified;
use super::rank::mann_whitney;
use super::ratio::median;
use super::verdict::SIGNIFICANCE;
use crate::audit::device_excess;
use crate::number::{figure, percent};

/// A kind of background activity that may disturb runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Background {
    /// Share of the host's processors that other programs used, %.
    Processors,
    /// Share of the host's processors that the hypervisor took, %.
    Hypervisor,
    /// Other sessions at work on the database server, on average.
    Sessions,
    /// Writes of the data's device that the database's own do not explain, per second.
    DeviceWrites,
    /// Bytes of those writes, MB/s.
    DeviceWriteBytes,
    /// Reads of the data's device that the database did not request, MB/s.
    DeviceReadBytes,
}

impl Background {
    const ALL: [Self; 6] = [
        Self::Processors,
        Self::Hypervisor,
        Self::Sessions,
        Self::DeviceWrites,
        Self::DeviceWriteBytes,
        Self::DeviceReadBytes,
    ];

    /// Its amount in a run; absent where the record does not report it.
    fn value(self, record: &RunRecord) -> Option<f64> {
        let metric = |name: &str| record.metrics.get(name).and_then(Metric::value);
        let value = match self {
            Self::Processors => metric("others_cpu_pct"),
            Self::Hypervisor => metric("cpu_steal_pct"),
            Self::Sessions => match &record.waits {
                Waits::Sampled {
                    company: ForeignActivity::Sampled { average_active_sessions, .. }, ..
                } => Some(*average_active_sessions),
                _ => None,
            },
            Self::DeviceWrites => Some(device_excess(record)?.writes_per_s),
            Self::DeviceWriteBytes => Some(device_excess(record)?.write_mb_per_s),
            Self::DeviceReadBytes => Some(device_excess(record)?.read_mb_per_s),
        };
        value.filter(|value| value.is_finite())
    }

    /// The smallest difference that can matter: a quiet system causes less.
    fn min_difference(self) -> f64 {
        match self {
            Self::Processors => 3.0,
            Self::Hypervisor => 1.0,
            Self::Sessions => 0.1,
            Self::DeviceWrites => 200.0,
            Self::DeviceWriteBytes | Self::DeviceReadBytes => 4.0,
        }
    }

    /// The name as used in sentences.
    pub fn words(self) -> &'static str {
        match self {
            Self::Processors => "processors used by other programs",
            Self::Hypervisor => "processors taken by the hypervisor",
            Self::Sessions => "other active sessions on the server",
            Self::DeviceWrites => "writes of other programs to the data's device",
            Self::DeviceWriteBytes => "bytes written by other programs to the data's device",
            Self::DeviceReadBytes => "bytes read by other programs from the data's device",
        }
    }

    fn amount(self, value: f64) -> String {
        match self {
            Self::Processors | Self::Hypervisor => format!("{} %", percent(value)),
            Self::Sessions => figure(value),
            Self::DeviceWrites => format!("{}/s", figure(value)),
            Self::DeviceWriteBytes | Self::DeviceReadBytes => format!("{} MB/s", figure(value)),
        }
    }
}

/// Background activity that differs between two sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BackgroundDifference {
    pub kind: Background,
    /// Median of the first side's runs, at the point where the sides differ most.
    pub a: f64,
    /// Median of the second side's runs, at the same point.
    pub b: f64,
    /// Probability of ranks at least as far apart when both sides are alike; absent with one run
    /// each.
    pub p: Option<f64>,
}

impl BackgroundDifference {
    /// The difference in words:
    /// `processors used by other programs: 0.4 % during a, 38.0 % during b`.
    pub fn words(&self, a: &str, b: &str) -> String {
        let amount = |value| self.kind.amount(value);
        format!("{}: {} during {a}, {} during {b}", self.kind.words(), amount(self.a), amount(self.b))
    }
}

/// All differences in one sentence for the headline; absent where nothing differs.
pub fn background_words(all: &[BackgroundDifference], a: &str, b: &str) -> Option<String> {
    let words: Vec<String> = all.iter().map(|difference| difference.words(a, b)).collect();
    (!words.is_empty())
        .then(|| format!("background activity differs between the sides ({})", words.join("; ")))
}

/// The background activity that differs between the sides of these pairs.
pub(super) fn of_pairs(pairs: &[Pair<'_>]) -> Vec<BackgroundDifference> {
    let points: Vec<(&[&RunRecord], &[&RunRecord])> =
        pairs.iter().map(|pair| (pair.a.as_slice(), pair.b.as_slice())).collect();
    background(&points)
}

/// The background activity that differs between the two sides of points, given as the runs of
/// either side at each.
pub fn background(points: &[(&[&RunRecord], &[&RunRecord])]) -> Vec<BackgroundDifference> {
    Background::ALL.into_iter().filter_map(|kind| difference(kind, points)).collect()
}

fn difference(kind: Background, points: &[(&[&RunRecord], &[&RunRecord])]) -> Option<BackgroundDifference> {
    let values = |records: &[&RunRecord]| {
        let values: Option<Vec<f64>> = records.iter().map(|record| kind.value(record)).collect();
        values.filter(|values| !values.is_empty())
    };
    let value_pairs: Vec<(Vec<f64>, Vec<f64>)> =
        points.iter().filter_map(|(a, b)| values(a).zip(values(b))).collect();
    let medians = value_pairs.iter().map(|(a, b)| (median(&mut a.clone()), median(&mut b.clone())));
    let (a, b) = medians.max_by(|x, y| (x.1 - x.0).abs().total_cmp(&(y.1 - y.0).abs()))?;
    let repeated = value_pairs.iter().any(|(a, b)| a.len().max(b.len()) > 1);
    let p = match value_pairs.as_slice() {
        _ if !repeated => None,
        [(a, b)] => mann_whitney(a, b).map(|test| test.p),
        many => stratified(many.iter().map(|(a, b)| (a.as_slice(), b.as_slice()))),
    };
    // One run each gives no verdict, so any difference is mentioned.
    let apart = !repeated || p.is_some_and(|p| p <= SIGNIFICANCE);
    ((b - a).abs() >= kind.min_difference() && apart).then_some(BackgroundDifference { kind, a, b, p })
}
