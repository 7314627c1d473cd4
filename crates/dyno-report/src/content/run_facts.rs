//! Facts about all runs of a report, collected run by run.

use std::collections::{BTreeMap, BTreeSet};

use dyno_analyze::attribution::{Legend, marked_metrics};
use dyno_record::{AuditCheck, CheckStatus, PartOf, RunRecord, Status};

use crate::content::facts::FactCounts;
use crate::content::reported::Overviews;
use crate::content::result::{has_result, machine_words};

/// Maximum runs named for one finding.
pub(crate) const LISTED_MAX: usize = 3;

/// Key for all runs; other keys are names of sweeps or suites.
const ALL: &str = "";

#[derive(Debug, Default)]
pub struct RunSetSummary {
    pub runs: usize,
    pub first: Option<RunRecord>,
    /// The sweeps, searches, soaks and A/B tests to which they belong.
    pub parts: Vec<String>,
    /// The one to which all of them belong.
    pub part_of: Option<PartOf>,
    /// The variants by sweep or suite name; an empty name stands for all runs.
    variants: BTreeMap<String, BTreeSet<String>>,
    pub imported: usize,
    /// Start of the first run and end of the last, of those that state it.
    pub measured: Option<(String, String)>,
    /// The legend of the mark, for runs with a result.
    pub legend: Legend,
    /// Hosts of processor and device figures that are not the driver host.
    pub(crate) machines: BTreeSet<String>,
    /// Overviews of imported database reports.
    pub reported: Overviews,
    /// Facts of plans and platforms of all runs.
    pub facts: FactCounts,
    /// Failed checks and warnings, each once.
    pub(crate) failed_checks: Vec<FailedCheck>,
}

/// A failed check or warning over all runs.
#[derive(Debug)]
pub(crate) struct FailedCheck {
    pub(crate) check: String,
    /// Number of runs in which it failed, and in which it warned.
    pub(crate) failed: usize,
    pub(crate) warned: usize,
    /// Names of the first affected runs.
    pub(crate) ids: Vec<String>,
    /// Its detail in the first affected run.
    pub(crate) detail: String,
}

/// Whether a check failed or warned.
pub(crate) fn is_grave(check: &AuditCheck) -> bool {
    matches!(check.status, CheckStatus::Fail | CheckStatus::Warn)
}

impl RunSetSummary {
    pub(crate) fn see(&mut self, record: &RunRecord) {
        let part = record.part_of.as_ref();
        if self.runs == 0 {
            self.first = Some(record.clone());
            self.part_of = part.cloned();
        } else if self.part_of.as_ref().is_some_and(|all| part.is_none_or(|part| part.id != all.id)) {
            self.part_of = None;
        }
        if let Some(part) = part.filter(|part| !self.parts.contains(&part.id)) {
            self.parts.push(part.id.clone());
        }
        let variant = record.variant.clone().unwrap_or_default();
        for of in part.map(|part| part.id.as_str()).into_iter().chain([ALL]) {
            self.variants.entry(of.to_owned()).or_default().insert(variant.clone());
        }
        self.runs += 1;
        self.imported += usize::from(record.status == Status::Imported);
        if record.is_dated() {
            let (first, last) =
                self.measured.get_or_insert_with(|| (record.started_at.clone(), String::new()));
            if record.started_at < *first {
                first.clone_from(&record.started_at);
            }
            if record.ended_at > *last {
                last.clone_from(&record.ended_at);
            }
        }
        if has_result(record) {
            self.legend.add(&marked_metrics(record));
            self.machines.extend(machine_words(record));
        }
        self.reported.see(record);
        self.facts.add_run(record);
        self.note_failed_checks(record);
    }

    /// The common variant of all runs, or of those of this sweep or suite; `None` if they have several or
    /// none.
    pub(crate) fn variant(&self, campaign: Option<&str>) -> Option<&str> {
        let variants = self.variants.get(campaign.unwrap_or(ALL))?;
        let first = variants.first().filter(|name| variants.len() == 1 && !name.is_empty());
        first.map(String::as_str)
    }

    fn note_failed_checks(&mut self, record: &RunRecord) {
        let mut noted_checks: Vec<&str> = Vec::new();
        for check in record.audit.iter().filter(|check| is_grave(check)) {
            if noted_checks.contains(&check.check.as_str()) {
                continue;
            }
            noted_checks.push(&check.check);
            let at =
                self.failed_checks.iter().position(|known| known.check == check.check).unwrap_or_else(|| {
                    let (check, detail) = (check.check.clone(), check.detail.clone());
                    self.failed_checks.push(FailedCheck {
                        check,
                        failed: 0,
                        warned: 0,
                        ids: Vec::new(),
                        detail,
                    });
                    self.failed_checks.len() - 1
                });
            let entry = &mut self.failed_checks[at];
            match check.status {
                CheckStatus::Fail => entry.failed += 1,
                _ => entry.warned += 1,
            }
            if entry.ids.len() < LISTED_MAX {
                entry.ids.push(record.id.clone());
            }
        }
    }
}
