//! What the rules of next steps ask about a suite.

use dyno_record::{AuditCheck, CheckStatus, RunRecord};

use super::SuiteTestResult;
use crate::next::SuiteEvidence;

/// Audit checks that warn of load that is not the suite's.
const LOAD_CHECKS: [&str; 4] = ["processor", "others", "others_server", "others_sessions"];

pub(super) fn evidence(tests: &[SuiteTestResult], records: &[RunRecord]) -> SuiteEvidence {
    let with_result = || records.iter().filter(|record| record.status.counts());
    let is_beside_load = |record: &&RunRecord| {
        let doubtful = |check: &AuditCheck| matches!(check.status, CheckStatus::Warn | CheckStatus::Fail);
        record.audit.iter().any(|check| doubtful(check) && LOAD_CHECKS.contains(&check.check.as_str()))
    };
    SuiteEvidence {
        runs: with_result().count(),
        beside_load: with_result().filter(is_beside_load).count(),
        unfit: tests.iter().filter_map(|test| Some((test.page.id.clone(), test.unfit.clone()?))).collect(),
    }
}
