//! The words for repeats that differ.

use super::{Cause, CauseCorrelation, RepeatVariation};
use crate::number::{figure, fixed, percent, time_us};
use crate::points::Measure;

impl Cause {
    /// The name of the cause in sentences.
    pub fn words(self) -> &'static str {
        match self {
            Self::Checkpoints => "checkpoints",
            Self::WrittenBehind => "pages written behind the sessions",
            Self::Cleaning => "autovacuum or purge",
            Self::CacheShare => "share of the database's cache",
            Self::PageCache => "share of the page cache",
            Self::BlocksVisited => "blocks visited by an operation (growth of tables and indexes)",
            Self::Steal => "processors taken by the hypervisor",
            Self::OthersProcessor => "processors used by others",
            Self::OthersOnServer => "activity of others on the server",
            Self::DeviceWrites => "latency of the device's writes",
            Self::ProcessorSpeed => "processor time of Dyno for an operation (a slower processor)",
        }
    }

    fn value(self, value: f64) -> String {
        match self {
            Self::Checkpoints => fixed(value, 1),
            Self::WrittenBehind | Self::Cleaning => format!("{}/s", figure(value)),
            Self::BlocksVisited => figure(value),
            Self::DeviceWrites | Self::ProcessorSpeed => time_us(value),
            Self::CacheShare
            | Self::PageCache
            | Self::Steal
            | Self::OthersProcessor
            | Self::OthersOnServer => {
                format!("{} %", percent(value))
            }
        }
    }
}

impl CauseCorrelation {
    /// The change in words: `checkpoints: 1.0 in the slower runs, 0.0 in the faster ones`.
    pub fn words(&self) -> String {
        let Self { cause, slower, faster, .. } = *self;
        let value = |value| cause.value(value);
        format!(
            "{}: {} in the slower runs, {} in the faster ones",
            cause.words(),
            value(slower),
            value(faster)
        )
    }
}

impl RepeatVariation {
    /// The whole result in one sentence.
    pub fn words(&self) -> String {
        let Self { side, at, measure, runs, spread_pct, moved, unknown, .. } = self;
        let label = Measure::find(measure).map_or(measure.as_str(), |measure| measure.label);
        let at = if at.is_empty() { String::new() } else { format!(" at {}", at.join(", ")) };
        let head = format!("{side}{at}: {label} of {runs} repeats are {} % apart", fixed(*spread_pct, 0));
        let list = |causes: &[Cause]| causes.iter().map(|cause| cause.words()).collect::<Vec<_>>().join(", ");
        if *runs < super::RUNS_MIN {
            return format!("{head}; too few runs to explain the spread (fewer than {})", super::RUNS_MIN);
        }
        let untold = if unknown.is_empty() { String::new() } else { format!("; unknown: {}", list(unknown)) };
        match moved.as_slice() {
            [] => format!("{head}; the cause is unknown: no recorded figure changed with it{untold}"),
            moved => {
                let all: Vec<String> = moved.iter().map(CauseCorrelation::words).collect();
                format!("{head}; changed with it: {} (a correlation, not a proof){untold}", all.join("; "))
            }
        }
    }
}
