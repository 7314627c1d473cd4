//! The audit: whether a run's figures agree with each other.
//!
//! A benchmark has three sources of figures: the client that executes the operations, the database
//! that counts them, and the host below. Each check compares two of them on the same subject, and
//! reports both figures and the conclusion. A failed check makes the run invalid; a check that
//! cannot be made says why. There is one file per family of checks. Thresholds are named constants
//! with their justification.

mod attribution;
mod changes;
mod checks;
mod churn;
mod client;
mod commits;
mod compare;
mod counters;
mod database_report;
mod draws;
mod each_target;
mod expected;
mod facts;
mod finding;
mod fleet;
mod hosts;
mod instances;
mod labels;
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
use facts::AuditFacts;
pub use fleet::bound_by as driver_bound_by;
pub use labels::check_label;
pub(crate) use others_share::AuditForeignActivity;
pub use time::{SEEN_LITTLE, cpu_beyond_db_time, samples_miss_most};

/// The stable names of all checks, in the order of the audit.
pub fn check_names() -> impl Iterator<Item = &'static str> {
    CHECKS.iter().map(|&(name, _)| name)
}

/// Compares a record's figures with each other and returns one finding per check. All checks are
/// always included; that of driver hosts appears only where there are several.
///
/// With several targets, each target has its own findings. The result has one check that summarizes each
/// target, besides those of the run as a whole. The audit reads only what was measured, never the record's
/// status, reasons or former audit.
pub fn audit(record: &RunRecord) -> Vec<AuditCheck> {
    if record.is_total() {
        return each_target::audit(record);
    }
    let facts = AuditFacts::of(record);
    checks::of(record).map(|&(name, check)| finding::named_check(name, check(&facts))).collect()
}

/// Fills each target's own audit and the attribution of its figures, where a record has several.
fn judge_parts(record: &mut RunRecord) {
    let audits = each_target::audits(record);
    let attributions = each_target::of_each(record, |facts| {
        attribution::attributions(facts.record, &AuditForeignActivity::of(facts))
    });
    let parts = record.targets.iter_mut().filter_map(|target| target.own.as_deref_mut());
    for ((own, audit), whose) in parts.zip(audits).zip(attributions) {
        own.audit = audit;
        own.whose = whose;
    }
}

/// Removes the commit rate from the figures where the database's count contradicts the sessions':
/// such a rate describes nothing.
fn withhold_impossible(record: &mut RunRecord) {
    let contradicted = |check: &&AuditCheck| check.check == "commits" && check.status == CheckStatus::Fail;
    let Some(check) = record.audit.iter().find(contradicted) else { return };
    if let Some(metric @ Metric::Value { .. }) = record.metrics.get_mut("commits_per_s") {
        *metric = Metric::Absent { absent: format!("the audit contradicts it: {}", check.detail) };
        record.whose.remove("commits_per_s");
    }
}

/// Fills the record's audit and the attribution of its figures. A failed check makes a valid run
/// `invalid`, with the reasons.
///
/// A failed or interrupted run keeps its status; its audit is informative only.
pub fn judge(record: &mut RunRecord) {
    judge_parts(record);
    record.audit = audit(record);
    record.whose = {
        let facts = AuditFacts::of(record);
        let facts =
            AuditFacts { server_shared: record.is_total() && each_target::share_a_server(record), ..facts };
        attribution::attributions(record, &AuditForeignActivity::of(&facts))
    };
    withhold_impossible(record);
    if record.status != Status::Valid {
        return;
    }
    let failed = record.audit.iter().filter(|check| check.status == CheckStatus::Fail);
    // The detail of a target's check names the target and its failed checks.
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
