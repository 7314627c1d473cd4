//! Collects the audit warnings of several runs: each check once, with the number of runs that have
//! it.

use dyno_record::{CheckStatus, RunRecord, Status};
use serde::{Deserialize, Serialize};

/// A check that warned or failed in one or more runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditWarning {
    /// The check's name, for example `physical_reads`.
    pub check: String,
    /// Whether it failed in a run, rather than only warned.
    pub failed: bool,
    /// Number of runs in which it warned or failed.
    pub runs: usize,
    /// The finding in the first of these runs.
    pub detail: String,
}

impl AuditWarning {
    /// The check's name; with several runs, also how many of `run_count` have it:
    /// `physical reads (35 of 40 runs)`.
    pub fn words(&self, run_count: usize) -> String {
        match run_count {
            0 | 1 => self.name(),
            _ => format!("{} ({} of {run_count} runs)", self.name(), self.runs),
        }
    }

    /// The check's label.
    pub fn name(&self) -> String {
        crate::check_label(&self.check)
    }
}

/// Warnings collected from runs, one at a time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditWarnings {
    /// Number of runs that were added.
    pub runs: usize,
    /// Number of imported runs, which Dyno did not audit.
    pub imported: usize,
    /// Number of runs that were interrupted.
    pub interrupted: usize,
    checks: Vec<AuditWarning>,
}

impl AuditWarnings {
    /// Adds the warnings of one run.
    pub fn add(&mut self, record: &RunRecord) {
        self.runs += 1;
        self.imported += usize::from(record.status == Status::Imported);
        self.interrupted += usize::from(record.status == Status::Interrupted);
        let mut noted_checks: Vec<&str> = Vec::new();
        for check in &record.audit {
            let failed = check.status == CheckStatus::Fail;
            if !(failed || check.status == CheckStatus::Warn) || noted_checks.contains(&check.check.as_str())
            {
                continue;
            }
            noted_checks.push(&check.check);
            let (check, detail) = (check.check.clone(), check.detail.clone());
            self.add_warning(AuditWarning { check, failed, runs: 1, detail });
        }
    }

    /// Adds the warnings that others collected.
    pub fn merge(&mut self, other: &Self) {
        self.runs += other.runs;
        self.imported += other.imported;
        self.interrupted += other.interrupted;
        other.checks.iter().for_each(|doubt| self.add_warning(doubt.clone()));
    }

    fn add_warning(&mut self, doubt: AuditWarning) {
        match self.checks.iter_mut().find(|known| known.check == doubt.check) {
            Some(known) => {
                known.runs += doubt.runs;
                known.failed |= doubt.failed;
            }
            None => self.checks.push(doubt),
        }
    }

    /// Each check once: failed ones first, then the most frequent.
    pub fn by_severity(&self) -> Vec<AuditWarning> {
        let mut sorted = self.checks.clone();
        sorted.sort_by(|a, b| b.failed.cmp(&a.failed).then(b.runs.cmp(&a.runs)));
        sorted
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
    fn audit_finding_of_many_runs_is_reported_once() {
        use CheckStatus::{Fail, Pass, Warn};
        let mut doubts = AuditWarnings::default();
        (0..35).for_each(|_| doubts.add(&with(&[("physical_reads", Warn), ("commits", Pass)])));
        (0..5).for_each(|_| doubts.add(&with(&[("commits_whole", Fail)])));
        let warnings = doubts.by_severity();
        let words: Vec<String> = warnings.iter().map(|doubt| doubt.words(doubts.runs)).collect();
        assert_eq!(words, ["commits (whole run) (5 of 40 runs)", "physical reads (35 of 40 runs)"]);
        assert!(warnings[0].failed);
        assert!(!warnings[1].failed);
        assert!(warnings[1].detail == "physical_reads is odd");
        let mut all = AuditWarnings::default();
        all.merge(&doubts);
        assert_eq!(all, doubts);
    }
}
