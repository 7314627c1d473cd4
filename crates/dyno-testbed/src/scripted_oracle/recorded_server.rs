//! A server as the acceptance of a user has recorded it.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Version and settings of a real server, from the file that `dyno check --accept --record FILE` writes. A
/// model that has one reports them as its own, so that what Dyno concludes from them can be tested.
#[derive(Debug, Clone, Deserialize)]
pub struct RecordedServer {
    version: String,
    settings: BTreeMap<String, String>,
    #[serde(default)]
    steps: Vec<RecordedStep>,
}

#[derive(Debug, Clone, Deserialize)]
struct RecordedStep {
    findings: Vec<RecordedFinding>,
}

#[derive(Debug, Clone, Deserialize)]
struct RecordedFinding {
    name: String,
    #[serde(default)]
    figures: BTreeMap<String, i64>,
}

/// The text in place of a value that could identify a user's systems.
const MASKED: &str = "<masked>";

impl RecordedServer {
    /// Reads the file's text; of several targets the first.
    ///
    /// # Errors
    /// It is no record of an acceptance.
    pub fn parse(json: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Record {
            targets: Vec<RecordedServer>,
        }
        let record: Record =
            serde_json::from_str(json).map_err(|error| format!("no record of an acceptance: {error}"))?;
        record.targets.into_iter().next().ok_or_else(|| "the record has no target".to_owned())
    }

    /// The value of a setting; absent if it was not recorded, or masked.
    pub(super) fn setting(&self, name: &str) -> Option<&str> {
        self.settings.get(name).map(String::as_str).filter(|value| *value != MASKED)
    }

    /// The banner of a database of this version and edition.
    pub(super) fn banner(&self) -> String {
        let (number, edition) = self.version.split_once(' ').unwrap_or((&self.version, ""));
        format!("Oracle Database {edition} - Test double of a recorded server\nVersion {number}")
    }

    /// Whether it counted a commit that changed nothing.
    pub(super) fn counts_empty_commits(&self) -> bool {
        let mut findings = self.steps.iter().flat_map(|step| &step.findings);
        let finding = findings.find(|finding| finding.name == "empty commits");
        finding.and_then(|finding| finding.figures.get("counted")).is_some_and(|counted| *counted > 0)
    }
}
