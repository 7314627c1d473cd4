//! The audit: whether a run's numbers agree with each other.
//!
//! A benchmark's figures come from three witnesses: the client that did the operations, the database that counted them,
//! and the host beneath. Each check lets two of them speak about the same thing, says what both said, and what follows.
//! A check that fails makes the run invalid; one that cannot be made says why. One file per family of checks, thresholds
//! as named constants with their justification.

mod changes;
mod churn;
mod client;
mod commits;
mod compare;
mod counters;
mod draws;
mod facts;
mod finding;
mod others;
mod physical;
mod processor;
mod reads;
mod rows;
mod scans;
mod system;
mod targets;
mod time;
mod updates;
mod whose;
mod window;
mod work;

#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use physical::FROM_PAGE_CACHE;
pub(crate) use physical::page_cache_pct;

use dyno_record::{AuditCheck, CheckStatus, RunRecord, Status};

use facts::Facts;
use finding::Verdict;
pub(crate) use others::Company;
pub use time::{SEEN_LITTLE, seen_little};

/// One check: its stable name and its function.
type Check = (&'static str, fn(&Facts<'_>) -> Verdict);

/// Every check, in the order of the record: first whether there is anything to judge, then the counts, then the times.
const CHECKS: &[Check] = &[
    ("operations", work::operations),
    ("sessions", window::sessions),
    ("counters_epoch", counters::epoch),
    ("counters_monotone", counters::monotone),
    ("counters_known", counters::known),
    ("data", changes::data),
    ("settings", changes::settings),
    ("shape", changes::shape),
    ("errors", client::errors),
    ("work_unit", work::work_unit),
    ("mix", work::mix),
    ("hot", draws::hot),
    ("series_sum", work::series_sum),
    ("untimed", work::untimed),
    ("logical_reads", reads::window),
    ("logical_reads_whole", reads::whole),
    ("heap_reads", reads::heap_window),
    ("heap_reads_whole", reads::heap_whole),
    ("others", others::here),
    ("others_test_tables", others::test_tables),
    ("others_server", others::on_the_server),
    ("others_sessions", others::sessions),
    ("commits", commits::window),
    ("commits_whole", commits::whole),
    ("durable_commits", commits::durable),
    ("rows_updated", updates::window),
    ("rows_updated_whole", updates::whole),
    ("rows_churned", churn::window),
    ("rows_churned_whole", churn::whole),
    ("rows_left", churn::left),
    ("update_values", updates::values),
    ("redo_grew", updates::redo_grew),
    ("physical_reads", physical::reads),
    ("read_requests", physical::requests),
    ("scan_path", scans::path),
    ("littles_law", time::littles_law),
    ("think_time", draws::think_time),
    ("service_time", time::service_time),
    ("db_time", time::db_time),
    ("active_sessions", time::active_sessions),
    ("window_length", window::length),
    ("edges", window::edges),
    ("gate_skew", window::gate_skew),
    ("stalls", window::stalls),
    ("wall_clock", window::wall_clock),
    ("open_loop", client::open_loop),
    ("client_cost", client::cost),
    ("processor", processor::others),
];

/// The stable names of all checks, in the order of the audit.
pub fn check_names() -> impl Iterator<Item = &'static str> {
    CHECKS.iter().map(|&(name, _)| name)
}

/// Checks of the client, the machine and the whole run: of several targets they are made of the total alone.
const OF_THE_RUN: [&str; 7] =
    ["window_length", "gate_skew", "stalls", "wall_clock", "open_loop", "client_cost", "processor"];

/// Checks that hold for the total of several targets as for each of them; all others let one database speak.
const OF_BOTH: [&str; 9] = [
    "operations",
    "sessions",
    "errors",
    "work_unit",
    "series_sum",
    "untimed",
    "littles_law",
    "service_time",
    "physical_reads",
];

/// Holds a record's numbers against each other: one finding for each check, always all of them.
///
/// Of several targets, each has its own findings; here they are summed up in one check for each, beside
/// those of the run as a whole. Looks at what was measured only, never at the record's status, reasons or former audit.
pub fn audit(record: &RunRecord) -> Vec<AuditCheck> {
    if record.is_total() {
        return targets::audit(record);
    }
    let facts = Facts::of(record);
    CHECKS.iter().map(|&(name, check)| finding::named(name, check(&facts))).collect()
}

/// Fills each target's own audit and whose its figures are, where a record has several.
fn judge_parts(record: &mut RunRecord) {
    let audits = targets::audits(record);
    let whose = targets::of_each(record, |facts| whose::of(facts.record, &Company::of(facts)));
    let parts = record.targets.iter_mut().filter_map(|target| target.own.as_deref_mut());
    for ((own, audit), whose) in parts.zip(audits).zip(whose) {
        own.audit = audit;
        own.whose = whose;
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
        let facts = Facts { server_shared: record.is_total() && targets::share_a_server(record), ..facts };
        whose::of(record, &Company::of(&facts))
    };
    if record.status != Status::Valid {
        return;
    }
    let failed = record.audit.iter().filter(|check| check.status == CheckStatus::Fail);
    // A target's check has the target and what failed there in its detail.
    let reason = |check: &AuditCheck| match targets::is_summary(&check.check) {
        true => format!("{}, {}", check.check.replace('_', " "), check.detail),
        false => format!("{}: {}", check.check, check.detail),
    };
    let reasons: Vec<String> = failed.map(reason).collect();
    if !reasons.is_empty() {
        record.status = Status::Invalid;
        record.reasons.extend(reasons);
    }
}
