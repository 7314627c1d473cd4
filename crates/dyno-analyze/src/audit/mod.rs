//! The audit: whether a run's numbers agree with each other.
//!
//! A benchmark's figures come from three witnesses: the client that did the operations, the database that counted them,
//! and the host beneath. Each check lets two of them speak about the same thing, says what both said, and what follows.
//! A check that fails makes the run invalid; one that cannot be made says why. One file per family of checks, thresholds
//! as named constants with their justification.

mod changes;
mod checks;
mod churn;
mod client;
mod commits;
mod compare;
mod counters;
mod draws;
mod each_target;
mod expected;
mod facts;
mod finding;
mod fleet;
mod hosts;
mod loaded;
mod others;
mod others_share;
mod physical;
mod processor;
mod reads;
mod rows;
mod scans;
mod system;
mod time;
mod updates;
mod whose;
mod window;
mod work;

#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use physical::FROM_PAGE_CACHE;
pub(crate) use physical::{device_excess, page_cache_pct, unverified_reads};

use dyno_record::{AuditCheck, CheckStatus, Metric, RunRecord, Status};

pub use changes::changed_words;
use checks::CHECKS;
use facts::Facts;
pub use fleet::bound_by as driver_bound_by;
pub(crate) use others_share::Company;
pub use time::{SEEN_LITTLE, seen_little};

/// The stable names of all checks, in the order of the audit.
pub fn check_names() -> impl Iterator<Item = &'static str> {
    CHECKS.iter().map(|&(name, _)| name)
}

/// Holds a record's numbers against each other: one finding for each check, always all of them; that of driver hosts
/// only where there are several.
///
/// Of several targets, each has its own findings; here they are summed up in one check for each, beside
/// those of the run as a whole. Looks at what was measured only, never at the record's status, reasons or former audit.
pub fn audit(record: &RunRecord) -> Vec<AuditCheck> {
    if record.is_total() {
        return each_target::audit(record);
    }
    let facts = Facts::of(record);
    checks::of(record).map(|&(name, check)| finding::named(name, check(&facts))).collect()
}

/// Fills each target's own audit and whose its figures are, where a record has several.
fn judge_parts(record: &mut RunRecord) {
    let audits = each_target::audits(record);
    let whose = each_target::of_each(record, |facts| whose::of(facts.record, &Company::of(facts)));
    let parts = record.targets.iter_mut().filter_map(|target| target.own.as_deref_mut());
    for ((own, audit), whose) in parts.zip(audits).zip(whose) {
        own.audit = audit;
        own.whose = whose;
    }
}

/// Takes the rate of commits out of the figures where the database's count contradicts the sessions': it is nobody's rate.
fn withhold_impossible(record: &mut RunRecord) {
    let contradicted = |check: &&AuditCheck| check.check == "commits" && check.status == CheckStatus::Fail;
    let Some(check) = record.audit.iter().find(contradicted) else { return };
    if let Some(metric @ Metric::Value { .. }) = record.metrics.get_mut("commits_per_s") {
        *metric = Metric::Absent { absent: format!("the audit contradicts it: {}", check.detail) };
        record.whose.remove("commits_per_s");
    }
}

/// Fills the record's audit and whose its figures are, and makes a valid run with a failed check `invalid`, with the reasons.
///
/// A run that has already failed or was interrupted keeps its status: its audit is there to read, not to excuse it.
pub fn judge(record: &mut RunRecord) {
    judge_parts(record);
    record.audit = audit(record);
    record.whose = {
        let facts = Facts::of(record);
        let facts =
            Facts { server_shared: record.is_total() && each_target::share_a_server(record), ..facts };
        whose::of(record, &Company::of(&facts))
    };
    withhold_impossible(record);
    if record.status != Status::Valid {
        return;
    }
    let failed = record.audit.iter().filter(|check| check.status == CheckStatus::Fail);
    // A target's check has the target and what failed there in its detail.
    let reason = |check: &AuditCheck| match each_target::is_summary(&check.check) {
        true => format!("{}, {}", check.check.replace('_', " "), check.detail),
        false => format!("{}: {}", check.check, check.detail),
    };
    let reasons: Vec<String> = failed.map(reason).collect();
    if !reasons.is_empty() {
        record.status = Status::Invalid;
        record.reasons.extend(reasons);
    }
}
