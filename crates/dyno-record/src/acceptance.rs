//! The result of an acceptance test of an engine on one server: ten steps, each with its observations.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The verdict of a step or finding; the verdict of several is the greatest of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AcceptanceVerdict {
    /// The engine does not have the feature, or the user did not enable the test.
    NotApplicable,
    /// Dyno tried it, and it worked as required.
    Proved,
    /// Dyno could not try it, or other activity may explain the result.
    NotProved,
    /// Dyno tried it, and the result was wrong.
    Wrong,
}

dyno_plan::names! {
    /// The verdict as text: `not proved`.
    AcceptanceVerdict {
        NotApplicable = "not applicable", Proved = "proved", NotProved = "not proved", Wrong = "wrong"
    }
}

/// One test within a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AcceptanceFinding {
    /// Its stable name within the step: `client wait`.
    pub name: String,
    /// The verdict of this test alone.
    pub verdict: AcceptanceVerdict,
    /// What Dyno observed, as a sentence.
    pub observed: String,
    /// What the user can do about it; empty if nothing is needed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub way_out: String,
    /// The figures behind the sentence, by name: `commits_expected`, `commits_counted`, `delay_ms`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub figures: BTreeMap<String, i64>,
}

impl AcceptanceFinding {
    /// A finding without a hint and without figures.
    pub fn new(name: &str, verdict: AcceptanceVerdict, observed: impl Into<String>) -> Self {
        let (name, way_out, figures) = (name.to_owned(), String::new(), BTreeMap::new());
        Self { name, verdict, observed: observed.into(), way_out, figures }
    }

    /// Adds what the user can do about it.
    #[must_use]
    pub fn way_out(mut self, way_out: impl Into<String>) -> Self {
        self.way_out = way_out.into();
        self
    }

    /// Adds a figure; its name ends with the unit.
    #[must_use]
    pub fn figure(mut self, name: &str, value: i64) -> Self {
        self.figures.insert(name.to_owned(), value);
        self
    }
}

/// One step of an acceptance test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AcceptanceStep {
    /// The number of the step, from 1.
    pub number: u32,
    /// Its name, stable across versions: `exactness`.
    pub name: String,
    /// What it tests, as a sentence.
    pub title: String,
    /// The greatest verdict of its findings.
    pub verdict: AcceptanceVerdict,
    /// Its tests, in order of execution.
    pub findings: Vec<AcceptanceFinding>,
}

impl AcceptanceStep {
    /// A step with these findings; without findings its verdict is `NotProved`.
    pub fn new(number: u32, name: &str, title: &str, findings: Vec<AcceptanceFinding>) -> Self {
        let verdict = findings.iter().map(|finding| finding.verdict).max();
        let verdict = verdict.unwrap_or(AcceptanceVerdict::NotProved);
        Self { number, name: name.to_owned(), title: title.to_owned(), verdict, findings }
    }
}

/// The acceptance test of one engine on one server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Acceptance {
    /// The version of Dyno that ran the test.
    pub dyno_version: String,
    /// The engine's name, as in URLs: `postgres`.
    pub engine: String,
    /// The product name that the server reports.
    pub product: String,
    /// Its version, with the edition if there are several.
    pub version: String,
    /// The greatest verdict of all steps.
    pub verdict: AcceptanceVerdict,
    /// The steps, in order of execution.
    pub steps: Vec<AcceptanceStep>,
    /// Server settings that affect a run, as the server prints them.
    pub settings: BTreeMap<String, String>,
    /// Statements that grant the user its missing rights, one per line; empty if none are missing. Masked records omit them.
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
    fn acceptance_step_has_the_most_severe_verdict_of_its_findings() {
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
