//! What limits a run, with the evidence.
//!
//! A platform is limited by what it has used up. [`limited()`] looks for that in one record: first at what was asked for (a
//! rate, time to think), then at what is full (processors, a quota of them, the client), then at where the time of the
//! sessions goes (commits, the device, locks, latches, the way between client and database). What nothing tells is
//! [`Component::Unknown`], with the figures that were looked at.

mod choose;
mod clocks;
mod parts;
mod seen;
mod waits;
mod words;

#[cfg(test)]
mod tests;

use dyno_record::Unit;
use serde::{Deserialize, Serialize};

pub use choose::limited;
pub use waits::Kind as WaitClass;

/// What limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Component {
    /// The processors that the platform may use.
    Cpu,
    /// Processor time that a control group allows.
    CpuQuota,
    /// The device that holds the data, or what lies before it.
    Device,
    /// Commits: the log that makes them durable.
    Commits,
    /// Locks of rows and tables.
    Locks,
    /// What a database holds for a moment to keep its own memory in order.
    Latches,
    /// This program.
    Client,
    /// The way between client and database, waking up included.
    RoundTrips,
    /// The number of sessions: each is at work all the time, and nothing is used up.
    Sessions,
    /// The rate that was asked for, which was reached.
    Rate,
    /// The time that sessions were told to think.
    ThinkTime,
    /// It cannot be told.
    Unknown,
}

impl Component {
    /// The short word for it, where nothing more is known: `CPU`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Cpu => "CPU",
            Self::CpuQuota => "CPU quota",
            Self::Device => "device",
            Self::Commits => "commits",
            Self::Locks => "locks",
            Self::Latches => "latches",
            Self::Client => "the client",
            Self::RoundTrips => "round trips",
            Self::Sessions => "too few sessions",
            Self::Rate => "the rate asked for",
            Self::ThinkTime => "think time",
            Self::Unknown => "unknown",
        }
    }
}

/// How sure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// It cannot be told.
    Unknown,
    /// Figures point there, and others are missing or point elsewhere.
    Likely,
    /// What is used up was measured.
    Sure,
}

impl Confidence {
    /// The word: `likely`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Likely => "likely",
            Self::Sure => "sure",
        }
    }
}

/// A figure that was looked at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Its name: `cpu_busy_pct`.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// Its unit.
    pub unit: Unit,
}

/// What limits a run, and how that is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limited {
    /// What limits.
    pub by: Component,
    /// In a few words: `CPU`, `commits (WalSync)`, `row locks`.
    pub what: String,
    /// How sure that is.
    pub confidence: Confidence,
    /// One sentence with the figures: `limited by the processors: …`.
    pub sentence: String,
    /// How much of what limits is used, %; absent where that has no measure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_pct: Option<f64>,
    /// Every figure that was looked at.
    pub evidence: Vec<Evidence>,
    /// The rate that was asked for, operations/s, where that limits or a backlog of the warm-up was worked off: what the
    /// platform can do beyond it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_per_s: Option<f64>,
    /// What makes it less sure, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spoiled: Vec<String>,
}

impl Limited {
    /// The figure of this name.
    pub fn figure(&self, name: &str) -> Option<f64> {
        self.evidence.iter().find(|figure| figure.name == name).map(|figure| figure.value)
    }

    /// The fewest words, for tables: `row locks`, and `device?` where that is likely and not sure.
    pub fn short(&self) -> String {
        let what = self.what.split_once(" (").map_or(self.what.as_str(), |(what, _)| what);
        match self.confidence {
            Confidence::Likely => format!("{what}?"),
            Confidence::Sure | Confidence::Unknown => what.to_owned(),
        }
    }

    /// The sentence, and what makes it less sure.
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

/// What limited the runs of one point: each thing once, with how many of them it was.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Limits(Vec<(Limited, usize)>);

impl Limits {
    /// One more run.
    pub fn add(&mut self, limited: Limited) {
        match self.0.iter_mut().find(|(known, _)| known.by == limited.by) {
            Some((_, runs)) => *runs += 1,
            None => self.0.push((limited, 1)),
        }
    }

    /// What most of them say, as the first of those says it; less sure where others say otherwise.
    pub fn together(&self) -> Option<Limited> {
        // Of equally many the first.
        let (most, of) = self.0.iter().rev().max_by_key(|(_, runs)| runs)?;
        let mut told = most.clone();
        let others: Vec<&(Limited, usize)> = self.0.iter().filter(|(known, _)| known.by != most.by).collect();
        let otherwise: usize = others.iter().map(|(_, runs)| runs).sum();
        if let Some((other, _)) = others.first() {
            told.confidence = told.confidence.min(Confidence::Likely);
            told.spoiled.push(format!(
                "{otherwise} of {} runs say otherwise: {}",
                otherwise + of,
                other.what
            ));
        }
        Some(told)
    }
}
