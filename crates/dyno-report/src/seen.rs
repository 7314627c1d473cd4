//! What a report says of all runs together, gathered from run to run.

use std::collections::{BTreeMap, BTreeSet};

use dyno_analyze::whose::{Legend, marked};
use dyno_record::{AuditCheck, CheckStatus, PartOf, RunRecord, Status};

use crate::facts::Facts;
use crate::reported::Overviews;
use crate::result::{has_result, machine_words};

/// Runs of one finding that are named.
pub(crate) const LISTED_MAX: usize = 3;

/// Stands for all runs, where others have the name of what they belong to.
const ALL: &str = "";

/// All runs together.
#[derive(Debug, Default)]
pub struct Seen {
    /// How many there are.
    pub runs: usize,
    /// The first of them.
    pub first: Option<RunRecord>,
    /// The sweeps, searches, soaks and A/B comparisons that they are of.
    pub parts: Vec<String>,
    /// The one that all of them are of.
    pub part_of: Option<PartOf>,
    /// The variants of the runs of each of these, and under an empty name those of all.
    variants: BTreeMap<String, BTreeSet<String>>,
    /// How many are imported.
    pub imported: usize,
    /// When the first was begun and the last ended, of those that tell.
    pub measured: Option<(String, String)>,
    /// The legend of the mark, for runs with a result.
    pub legend: Legend,
    /// Whose processors and devices the figures are of, where that is not the machine that drove.
    pub(crate) machines: BTreeSet<String>,
    /// What databases' own reports begin with.
    pub reported: Overviews,
    /// Facts of plan and platform.
    pub facts: Facts,
    /// Checks that failed or warned, each once.
    pub(crate) grave: Vec<Grave>,
}

/// A check that failed or warned, over all runs.
#[derive(Debug)]
pub(crate) struct Grave {
    pub(crate) check: String,
    /// Runs in which it failed, and in which it warned.
    pub(crate) failed: usize,
    pub(crate) warned: usize,
    /// The first runs that it is of.
    pub(crate) ids: Vec<String>,
    /// What it found in the first of them.
    pub(crate) detail: String,
}

/// Whether a check failed or warned.
pub(crate) fn is_grave(check: &AuditCheck) -> bool {
    matches!(check.status, CheckStatus::Fail | CheckStatus::Warn)
}

impl Seen {
    /// The next run.
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
            self.legend.add(&marked(record));
            self.machines.extend(machine_words(record));
        }
        self.reported.see(record);
        self.facts.see(record);
        self.note_grave(record);
    }

    /// The variant of all runs, or of those that belong to the sweep or suite of this name; nothing where they are of several or none.
    pub(crate) fn variant(&self, of: Option<&str>) -> Option<&str> {
        let variants = self.variants.get(of.unwrap_or(ALL))?;
        let first = variants.first().filter(|name| variants.len() == 1 && !name.is_empty());
        first.map(String::as_str)
    }

    fn note_grave(&mut self, record: &RunRecord) {
        let mut told: Vec<&str> = Vec::new();
        for check in record.audit.iter().filter(|check| is_grave(check)) {
            if told.contains(&check.check.as_str()) {
                continue;
            }
            told.push(&check.check);
            let at = self.grave.iter().position(|known| known.check == check.check).unwrap_or_else(|| {
                let (check, detail) = (check.check.clone(), check.detail.clone());
                self.grave.push(Grave { check, failed: 0, warned: 0, ids: Vec::new(), detail });
                self.grave.len() - 1
            });
            let known = &mut self.grave[at];
            match check.status {
                CheckStatus::Fail => known.failed += 1,
                _ => known.warned += 1,
            }
            if known.ids.len() < LISTED_MAX {
                known.ids.push(record.id.clone());
            }
        }
    }
}
