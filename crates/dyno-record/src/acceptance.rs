//! The result of an acceptance of an engine on one server: ten steps, each with what was observed.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The verdict of a step, or of one of its findings. The greatest of several is that of all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AcceptanceVerdict {
    /// The engine has no such thing, or the user did not opt in.
    NotApplicable,
    /// It was tried, and did what it must.
    Proved,
    /// It could not be tried, or others may have caused what was seen.
    NotProved,
    /// It was tried, and did something else.
    Wrong,
}

dyno_plan::names! {
    /// The verdict in words: `not proved`.
    AcceptanceVerdict {
        NotApplicable = "not applicable", Proved = "proved", NotProved = "not proved", Wrong = "wrong"
    }
}

/// One thing that a step tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AcceptanceFinding {
    /// Its stable name within the step: `client wait`.
    pub name: String,
    /// What the trial showed.
    pub verdict: AcceptanceVerdict,
    /// What was observed, in plain words.
    pub observed: String,
    /// What to do about it; empty where there is nothing to do.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub way_out: String,
    /// The figures behind the words, by name: `commits_expected`, `commits_counted`, `delay_ms`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub figures: BTreeMap<String, i64>,
}

impl AcceptanceFinding {
    /// A finding without a way out and without figures.
    pub fn new(name: &str, verdict: AcceptanceVerdict, observed: impl Into<String>) -> Self {
        let (name, way_out, figures) = (name.to_owned(), String::new(), BTreeMap::new());
        Self { name, verdict, observed: observed.into(), way_out, figures }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn way_out(mut self, way_out: impl Into<String>) -> Self {
        self.way_out = way_out.into();
        self
    }

    /// Adds a figure, in the unit that its name ends with.
    #[must_use]
    pub fn figure(mut self, name: &str, value: i64) -> Self {
        self.figures.insert(name.to_owned(), value);
        self
    }
}

/// One step of an acceptance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AcceptanceStep {
    /// The place of the step, from 1.
    pub number: u32,
    /// A name that stays the same between versions: `exactness`.
    pub name: String,
    /// What it tries, in plain words.
    pub title: String,
    /// The greatest verdict of its findings.
    pub verdict: AcceptanceVerdict,
    /// What it tried, in order.
    pub findings: Vec<AcceptanceFinding>,
}

impl AcceptanceStep {
    /// The step with these findings. Without any it is not proved.
    pub fn new(number: u32, name: &str, title: &str, findings: Vec<AcceptanceFinding>) -> Self {
        let verdict = findings.iter().map(|finding| finding.verdict).max();
        let verdict = verdict.unwrap_or(AcceptanceVerdict::NotProved);
        Self { number, name: name.to_owned(), title: title.to_owned(), verdict, findings }
    }
}

/// The acceptance of one engine on one server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Acceptance {
    /// The version of the program that made it.
    pub dyno_version: String,
    /// The engine, as in URLs: `postgres`.
    pub engine: String,
    /// The product, as it names itself.
    pub product: String,
    /// Its version, with its edition where it has several.
    pub version: String,
    /// The greatest verdict of its steps.
    pub verdict: AcceptanceVerdict,
    /// The steps, in their order.
    pub steps: Vec<AcceptanceStep>,
    /// Settings of the server that shape a run, as it prints them.
    pub settings: BTreeMap<String, String>,
    /// Statements that give the user the rights it lacks, one each line; empty where it lacks none. Never part of a masked record.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub grants: String,
}

impl Acceptance {
    /// The number of steps with this verdict.
    pub fn count(&self, verdict: AcceptanceVerdict) -> usize {
        self.steps.iter().filter(|step| step.verdict == verdict).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use AcceptanceVerdict::{NotApplicable, NotProved, Proved, Wrong};

    #[test]
    fn a_step_has_the_gravest_verdict_of_its_findings() {
        let step = |verdicts: &[AcceptanceVerdict]| {
            let finding = |verdict: &AcceptanceVerdict| AcceptanceFinding::new("one", *verdict, "seen");
            AcceptanceStep::new(1, "step", "a step", verdicts.iter().map(finding).collect()).verdict
        };
        assert_eq!(step(&[]), NotProved);
        assert_eq!(step(&[NotApplicable]), NotApplicable);
        assert_eq!(step(&[NotApplicable, Proved]), Proved);
        assert_eq!(step(&[Proved, NotProved, Proved]), NotProved);
        assert_eq!(step(&[Wrong, NotProved]), Wrong);
    }
}
