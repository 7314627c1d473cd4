//! Rules that involve more than one key.

mod engines;
mod load;
mod sizes;
mod sweep;
mod targets;
mod workload_keys;

pub use workload_keys::is_of_method;

use crate::engine::Engines;
use crate::plan::Plan;

/// The largest number of sessions over all schemas.
const SESSIONS_MAX: u32 = 100_000;

/// The largest number of intervals in a window: one per second of the longest window. Each is stored.
const INTERVALS_MAX: u128 = 30 * 86_400;

/// A check of several keys together.
pub(super) struct Rule {
    /// The keys of the rule; the error is reported at the one from the strongest source.
    pub(super) paths: &'static [&'static str],
    /// Returns the problem and the hint if the plan breaks the rule.
    pub(super) check: fn(&Plan, Engines) -> Option<(String, &'static str)>,
}

/// Every rule, in the order of checking.
pub(super) static RULES: [Rule; 38] = [
    Rule { paths: &["target.weights", "target.urls"], check: |plan, _| targets::weights(plan) },
    Rule { paths: &["target.count", "target.urls"], check: |plan, _| targets::too_many_targets(plan) },
    Rule {
        paths: &["run.sessions_per_schema", "data.schemas", "target.urls", "target.count", "target.weights"],
        check: |plan, _| targets::idle_target(plan),
    },
    Rule { paths: workload_keys::OF_THE_METHOD, check: |plan, _| workload_keys::own_transactions(plan) },
    Rule {
        paths: &["workload.lookup_pct", "workload.scan_pct", "workload.secondary_pct"],
        check: |plan, _| load::shares_of_reads(plan),
    },
    Rule { paths: &["workload.insert_pct", "workload.delete_pct"], check: |plan, _| load::growing(plan) },
    Rule {
        paths: &["workload.update_pct", "workload.insert_pct", "workload.delete_pct"],
        check: |plan, _| load::shares_of_writes(plan),
    },
    Rule {
        paths: &["workload.think_min", "workload.think_max"],
        check: |plan, _| load::think_backwards(plan),
    },
    Rule {
        paths: &[
            "workload.beside",
            "workload.beside_mix",
            "workload.beside_sessions",
            "workload.beside_rate",
        ],
        check: |plan, _| workload_keys::beside(plan),
    },
    Rule {
        paths: &["workload.think_every", "workload.rate"],
        check: |plan, _| load::think_in_open_loop(plan),
    },
    Rule {
        paths: &[
            "workload.hot_spot_every",
            "workload.hot_spot_offset",
            "workload.hot_spot_size",
            "data.scale",
            "data.block_size",
        ],
        check: |plan, _| sizes::hot_spot(plan),
    },
    Rule { paths: &["workload.scan_pct", "data.scan_scale"], check: |plan, _| sizes::nothing_to_scan(plan) },
    Rule { paths: &["data.scale", "data.block_size"], check: |plan, _| sizes::no_row(plan) },
    Rule {
        paths: &["workload.work_unit", "data.scale", "data.block_size"],
        check: |plan, _| sizes::work_unit(plan),
    },
    Rule {
        paths: &["data.scale", "data.scan_scale", "data.schemas", "data.block_size"],
        check: |plan, _| sizes::total_rows(plan),
    },
    Rule { paths: &["workload.phases", "workload.rate"], check: |plan, _| load::rate_and_phases(plan) },
    Rule { paths: &["workload.phases", "run.ops_per_session"], check: |plan, _| load::ops_and_phases(plan) },
    Rule {
        paths: &["run.on_lost", "run.ops_per_session"],
        check: |plan, _| load::reconnect_without_end(plan),
    },
    Rule { paths: &["workload.phases"], check: |plan, _| load::phases_unread(plan) },
    Rule { paths: &["workload.phases", "run.time"], check: |plan, _| load::time_of_phases(plan) },
    Rule { paths: &["workload.phases"], check: |plan, _| load::phases_out_of_range(plan) },
    Rule {
        paths: &["workload.think_every", "workload.phases"],
        check: |plan, _| load::think_in_phases(plan),
    },
    Rule { paths: &["run.sessions_per_schema", "data.schemas"], check: |plan, _| sizes::sessions(plan) },
    Rule { paths: &["observe.interval", "run.time"], check: |plan, _| sizes::interval_too_long(plan) },
    Rule { paths: &["observe.interval", "run.time"], check: |plan, _| sizes::interval_too_short(plan) },
    Rule { paths: &["workload.commit", "target.url"], check: engines::commit_of_engine },
    Rule { paths: &["workload.protocol", "target.url"], check: engines::protocol_of_engine },
    Rule {
        paths: &["workload.protocol", "target.observe_url"],
        check: |plan, _| engines::simple_through_pooler(plan),
    },
    Rule {
        paths: &["workload.connect", "workload.folder"],
        check: |plan, _| engines::connects_of_method(plan),
    },
    Rule {
        paths: &["workload.connect", "target.observe_url"],
        check: |plan, _| engines::connects_through_pooler(plan),
    },
    Rule { paths: &["observe.awr", "target.url"], check: engines::awr_of_engine },
    Rule {
        paths: &["data.copy_schemas", "data.schemas", "target.url"],
        check: engines::copied_schemas_of_engine,
    },
    Rule { paths: &["observe.host", "target.url"], check: engines::host_of_embedded },
    Rule { paths: &["observe.hosts", "target.urls", "target.count", "target.url"], check: engines::hosts },
    Rule { paths: &["target.observe_url", "target.urls", "target.url"], check: engines::observed_elsewhere },
    Rule {
        paths: &["target.observe_url", "workload.drive"],
        check: |plan, _| engines::slices_through_pooler(plan),
    },
    Rule { paths: &["sweep.until"], check: |plan, _| sweep::nothing_saturates(plan) },
    Rule { paths: &["sweep.order", "sweep.repeats"], check: |plan, _| sweep::never_down(plan) },
];

/// A rule that a plan breaks.
pub(crate) struct RuleViolation {
    /// The keys of the rule.
    pub(crate) paths: &'static [&'static str],
    /// What is wrong with the plan.
    pub(crate) problem: String,
    /// What to change in the plan.
    pub(crate) hint: &'static str,
}

/// The first broken rule of `plan`.
pub(crate) fn first_violation(plan: &Plan, engines: Engines) -> Option<RuleViolation> {
    RULES.iter().find_map(|rule| {
        (rule.check)(plan, engines).map(|(problem, hint)| RuleViolation { paths: rule.paths, problem, hint })
    })
}
