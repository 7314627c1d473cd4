//! Determines what limits a run, with the evidence.
//!
//! A platform is limited by what it has exhausted. [`limited()`] looks for that in one record, in
//! three steps. First comes what the plan requests: a rate, think time. Then comes what the platform
//! itself fills: a CPU quota, the client, processors. Last comes where the sessions' time goes:
//! commits, the device, locks, latches, other waits, the round trip between client and database.
//! The sessions' time decides before processors that others keep busy. If nothing decides, the
//! result is [`Component::Unknown`], with the figures that were examined.

mod clocks;
mod evidence;
mod finding;
mod parts;
mod rules;
mod waits;
mod words;

#[cfg(test)]
mod scripted;
#[cfg(test)]
mod situations;
#[cfg(test)]
mod tests;

use dyno_record::Unit;
use serde::{Deserialize, Serialize};

pub use rules::limited;
pub use waits::WaitKind as WaitClass;

/// The component or setting that limits a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Component {
    /// The processors that the platform may use.
    Cpu,
    /// Processor time that a control group allows.
    CpuQuota,
    /// The device that holds the data, or a layer in front of it.
    Device,
    /// Commits: the log that makes them durable.
    Commits,
    /// Locks of rows and tables.
    Locks,
    /// Short locks with which a database protects its own memory.
    Latches,
    /// Waits of a kind that no rule knows; the limit names the event.
    Waits,
    /// Connections that sessions open for their operations.
    Connections,
    /// The client, which is this program.
    Client,
    /// The way between client and database, wake-ups included.
    RoundTrips,
    /// The number of sessions: each works all the time, and nothing is exhausted.
    Sessions,
    /// The requested rate, which was reached.
    Rate,
    /// The think time that the plan requests.
    ThinkTime,
    /// The figures do not show what limits.
    Unknown,
}

impl Component {
    /// The short word where nothing more is known: `CPU`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Cpu => "CPU",
            Self::CpuQuota => "CPU quota",
            Self::Device => "device",
            Self::Commits => "commits",
            Self::Locks => "locks",
            Self::Latches => "latches",
            Self::Waits => "waits",
            Self::Connections => "connections",
            Self::Client => "the client",
            Self::RoundTrips => "round trips",
            Self::Sessions => "too few sessions",
            Self::Rate => "the requested rate",
            Self::ThinkTime => "think time",
            Self::Unknown => "unknown",
        }
    }
}

/// How certain the limit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// The figures do not show what limits.
    Unknown,
    /// Figures indicate it, but others are missing or contradict it.
    Likely,
    /// The exhausted component was measured.
    Sure,
}

impl Confidence {
    /// The word in output: `likely`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Likely => "likely",
            Self::Sure => "certain",
        }
    }
}

/// A figure that was examined.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BottleneckEvidence {
    /// The figure's name, for example `cpu_busy_pct`.
    pub name: String,
    pub value: f64,
    pub unit: Unit,
}

/// What limits a run, and the evidence for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bottleneck {
    pub by: Component,
    /// The limit in a few words: `CPU`, `commits (WalSync)`, `row locks`.
    pub what: String,
    pub confidence: Confidence,
    /// One sentence with the figures: `limited by the processors: …`.
    pub sentence: String,
    /// Utilization of the limiting component, %; absent where it has no measure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_pct: Option<f64>,
    /// Every figure that was examined.
    pub evidence: Vec<BottleneckEvidence>,
    /// The requested rate, operations/s, where it limits, or where a backlog of the warm-up was
    /// worked off. The capacity of the platform beyond it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_per_s: Option<f64>,
    /// What lowers the confidence, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spoiled: Vec<String>,
}

impl Bottleneck {
    /// The figure of this name.
    pub fn figure(&self, name: &str) -> Option<f64> {
        self.evidence.iter().find(|figure| figure.name == name).map(|figure| figure.value)
    }

    /// The shortest form, for tables: `row locks`, or `device?` where that is only likely.
    pub fn short(&self) -> String {
        let label = self.what.split_once(" (").map_or(self.what.as_str(), |(what, _)| what);
        match self.confidence {
            Confidence::Likely => format!("{label}?"),
            Confidence::Sure | Confidence::Unknown => label.to_owned(),
        }
    }

    /// The sentence, and what lowers the confidence.
    pub fn full(&self) -> String {
        let doubts = self.spoiled.join("; ");
        match (self.confidence, doubts.is_empty()) {
            (Confidence::Likely, true) => format!("{} (likely)", self.sentence),
            (Confidence::Likely, false) => format!("{} (likely: {doubts})", self.sentence),
            (_, true) => self.sentence.clone(),
            (_, false) => format!("{} ({doubts})", self.sentence),
        }
    }
}

/// The limits of one point's runs: each limit once, with its number of runs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BottleneckTally(Vec<(Bottleneck, usize)>);

impl BottleneckTally {
    /// Adds the limit of one more run.
    pub fn add(&mut self, limited: Bottleneck) {
        match self.0.iter_mut().find(|(known, _)| known.by == limited.by) {
            Some((_, runs)) => *runs += 1,
            None => self.0.push((limited, 1)),
        }
    }

    /// The limit of most runs, in the words of the first of them; less certain where other runs
    /// differ.
    pub fn combine(&self) -> Option<Bottleneck> {
        // With equal numbers, the first one.
        let (most, of) = self.0.iter().rev().max_by_key(|(_, runs)| runs)?;
        let mut combined = most.clone();
        let disagreeing: Vec<&(Bottleneck, usize)> =
            self.0.iter().filter(|(known, _)| known.by != most.by).collect();
        let otherwise: usize = disagreeing.iter().map(|(_, runs)| runs).sum();
        if let Some((other, _)) = disagreeing.first() {
            combined.confidence = combined.confidence.min(Confidence::Likely);
            combined.spoiled.push(format!(
                "{otherwise} of {} runs say otherwise: {}",
                otherwise + of,
                other.what
            ));
        }
        Some(combined)
    }
}
