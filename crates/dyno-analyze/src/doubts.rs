//! Audit warnings of several runs together: each check once, with the number of runs that it warned in.

use dyno_record::{CheckStatus, RunRecord, Status};
use serde::{Deserialize, Serialize};

/// Checks of one name that warned or failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doubt {
    /// The check: `physical_reads`.
    pub check: String,
    /// Whether it failed in one of them, rather than warned.
    pub failed: bool,
    /// Runs that it is of.
    pub runs: usize,
    /// What it found in the first of them.
    pub detail: String,
}

impl Doubt {
    /// Its name, and where there are several runs how many of `run_count` it warned in: `physical reads (35 of 40 runs)`.
    pub fn words(&self, run_count: usize) -> String {
        match run_count {
            0 | 1 => self.name(),
            _ => format!("{} ({} of {run_count} runs)", self.name(), self.runs),
        }
    }

    /// The check's name as people say it.
    pub fn name(&self) -> String {
        match self.check.strip_suffix("_whole") {
            Some(name) => format!("{} (whole run)", name.replace('_', " ")),
            None => self.check.replace('_', " "),
        }
    }
}

/// Doubts gathered from run to run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Doubts {
    /// How many runs there are.
    pub runs: usize,
    /// How many of them are imported, which nobody here audited.
    pub imported: usize,
    /// How many were ended before their time.
    pub interrupted: usize,
    found: Vec<Doubt>,
}

impl Doubts {
    /// The next run.
    pub fn add(&mut self, record: &RunRecord) {
        self.runs += 1;
        self.imported += usize::from(record.status == Status::Imported);
        self.interrupted += usize::from(record.status == Status::Interrupted);
        let mut told: Vec<&str> = Vec::new();
        for check in &record.audit {
            let failed = check.status == CheckStatus::Fail;
            if !(failed || check.status == CheckStatus::Warn) || told.contains(&check.check.as_str()) {
                continue;
            }
            told.push(&check.check);
            let (check, detail) = (check.check.clone(), check.detail.clone());
            self.note(Doubt { check, failed, runs: 1, detail });
        }
    }

    /// The same of others.
    pub fn join(&mut self, others: &Self) {
        self.runs += others.runs;
        self.imported += others.imported;
        self.interrupted += others.interrupted;
        others.found.iter().for_each(|doubt| self.note(doubt.clone()));
    }

    fn note(&mut self, doubt: Doubt) {
        match self.found.iter_mut().find(|known| known.check == doubt.check) {
            Some(known) => {
                known.runs += doubt.runs;
                known.failed |= doubt.failed;
            }
            None => self.found.push(doubt),
        }
    }

    /// Each check once: what failed first, then what most runs have.
    pub fn found(&self) -> Vec<Doubt> {
        let mut found = self.found.clone();
        found.sort_by(|a, b| b.failed.cmp(&a.failed).then(b.runs.cmp(&a.runs)));
        found
    }
}

#[cfg(test)]
mod tests {
    use dyno_record::AuditCheck;

    use super::*;
    use crate::fixture;

    fn with(checks: &[(&str, CheckStatus)]) -> RunRecord {
        let check = |(name, status): &(&str, CheckStatus)| AuditCheck {
            check: (*name).into(),
            status: *status,
            expected: String::new(),
            observed: String::new(),
            detail: format!("{name} is odd"),
        };
        RunRecord { audit: checks.iter().map(check).collect(), ..fixture::postgres() }
    }

    #[test]
    fn a_finding_of_many_runs_is_told_once() {
        use CheckStatus::{Fail, Pass, Warn};
        let mut doubts = Doubts::default();
        (0..35).for_each(|_| doubts.add(&with(&[("physical_reads", Warn), ("commits", Pass)])));
        (0..5).for_each(|_| doubts.add(&with(&[("commits_whole", Fail)])));
        let found = doubts.found();
        let words: Vec<String> = found.iter().map(|doubt| doubt.words(doubts.runs)).collect();
        assert_eq!(words, ["commits (whole run) (5 of 40 runs)", "physical reads (35 of 40 runs)"]);
        assert!(found[0].failed && !found[1].failed && found[1].detail == "physical_reads is odd");
        let mut all = Doubts::default();
        all.join(&doubts);
        assert_eq!(all, doubts);
    }
}
