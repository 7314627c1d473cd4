//! The list of checks.

use dyno_record::RunRecord;

use super::facts::AuditFacts;
use super::finding::AuditCheckResult;
use super::{
    changes, churn, client, commits, counters, database_report, draws, expected, fleet, hosts, instances,
    loaded, others, physical, processor, reads, scans, time, updates, window, work,
};

/// One check: its stable name and its function.
type Check = (&'static str, fn(&AuditFacts<'_>) -> AuditCheckResult);

/// Every check, in the record's order: whether there is anything to judge, then counts, then times.
pub(super) const CHECKS: &[Check] = &[
    ("operations", work::operations),
    ("sessions", window::sessions),
    ("hosts", fleet::hosts),
    ("instance_balance", instances::balance),
    ("counters_epoch", counters::epoch),
    ("counters_monotone", counters::monotone),
    ("counters_known", counters::check_reported),
    ("data", changes::data),
    ("settings", changes::settings),
    ("shape", changes::shape),
    ("errors", client::errors),
    ("invariants", work::invariants),
    ("empty_writes", work::empty_writes),
    ("work_unit", work::work_unit),
    ("expected", expected::check),
    ("rows_found", expected::rows_found),
    ("cached_results", commits::cached),
    ("loaded", loaded::check),
    ("mix", work::mix),
    ("hot", draws::hot),
    ("series_sum", work::series_sum),
    ("untimed", work::untimed),
    ("logical_reads", |facts| reads::check(facts, &facts.compared_window()?)),
    ("logical_reads_whole", |facts| reads::check(facts, &facts.whole_interval()?)),
    ("heap_reads", |facts| reads::heap(facts, &facts.compared_window()?)),
    ("heap_reads_whole", |facts| reads::heap(facts, &facts.whole_interval()?)),
    ("others", others::in_database),
    ("others_test_tables", others::test_tables),
    ("others_server", others::on_the_server),
    ("others_sessions", others::sessions),
    ("commits", |facts| commits::check(facts, &facts.compared_window()?)),
    ("commits_whole", |facts| commits::check(facts, &facts.whole_interval()?)),
    ("durable_commits", commits::durable),
    ("rows_updated", |facts| updates::check(facts, &facts.compared_window()?)),
    ("rows_updated_whole", |facts| updates::check(facts, &facts.whole_interval()?)),
    ("rows_churned", |facts| churn::check(facts, &facts.compared_window()?)),
    ("rows_churned_whole", |facts| churn::check(facts, &facts.whole_interval()?)),
    ("rows_left", churn::left),
    ("update_values", updates::values),
    ("redo_grew", updates::redo_grew),
    ("physical_reads", physical::reads),
    ("device_writes", physical::writes),
    ("read_requests", physical::requests),
    ("scan_path", scans::path),
    ("littles_law", time::littles_law),
    ("think_time", draws::think_time),
    ("service_time", time::service_time),
    ("db_time", time::db_time),
    ("active_sessions", time::active_sessions),
    ("window_length", window::length),
    ("edges", window::edges),
    ("host_readings", hosts::readings),
    ("gate_skew", window::gate_skew),
    ("stalls", window::stalls),
    ("wall_clock", window::wall_clock),
    ("open_loop", client::open_loop),
    ("client_cost", client::cost),
    ("processor", processor::others),
    ("database_report", database_report::check),
];

/// The check of driver hosts; made only for runs with several of them.
const OF_A_FLEET: &str = "hosts";

/// The check of remote hosts; made only where one was observed.
const OF_FAR_HOSTS: &str = "host_readings";

/// The check of a database's instances; made only where several served sessions.
const OF_INSTANCES: &str = "instance_balance";

/// The check of the database's own report; made only where one was read.
const OF_A_REPORT: &str = "database_report";

/// Every check that applies to a record.
pub(super) fn of(record: &RunRecord) -> impl Iterator<Item = &'static Check> {
    let is_fleet = record.fleet.is_some();
    let is_far = record.hosts.iter().any(|host| host.observed.is_some());
    CHECKS.iter().filter(move |(name, _)| match *name {
        OF_A_FLEET => is_fleet,
        OF_FAR_HOSTS => is_far,
        OF_INSTANCES => record.targets.iter().any(|target| !target.instances.is_empty()),
        OF_A_REPORT => record.database_report.is_some(),
        _ => true,
    })
}

/// Checks of the client, the host and the whole run. With several targets they apply to the total
/// only.
pub(super) const OF_THE_RUN: [&str; 8] =
    ["hosts", "window_length", "gate_skew", "stalls", "wall_clock", "open_loop", "client_cost", "processor"];

/// Checks that apply both to the total of several targets and to each target. All others concern
/// one database.
pub(super) const OF_BOTH: [&str; 9] = [
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
