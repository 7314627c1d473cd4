//! What keys must be to each other: checks that need more than one value.

mod engines;
mod load;
mod own;
mod sizes;
mod sweep;
mod targets;

pub use own::is_of_method;

use crate::engine::Engines;
use crate::plan::Plan;

/// The most sessions over all schemas.
const SESSIONS_MAX: u32 = 100_000;

/// The most intervals of a window: as many as the longest has seconds. Each is stored.
const INTERVALS_MAX: u128 = 30 * 86_400;

/// A check of several keys.
pub(super) struct Rule {
    /// The keys it is about; the first one that was written last is where the error is.
    pub(super) paths: &'static [&'static str],
    /// The problem and the way out, if there is one.
    pub(super) broken: fn(&Plan, Engines) -> Option<(String, &'static str)>,
}

/// Every rule.
pub(super) static RULES: [Rule; 37] = [
    Rule { paths: &["target.weights", "target.urls"], broken: |plan, _| targets::weights(plan) },
    Rule { paths: &["target.count", "target.urls"], broken: |plan, _| targets::too_many_targets(plan) },
    Rule {
        paths: &["run.sessions_per_schema", "data.schemas", "target.urls", "target.count", "target.weights"],
        broken: |plan, _| targets::idle_target(plan),
    },
    Rule { paths: own::OF_THE_METHOD, broken: |plan, _| own::own_transactions(plan) },
    Rule {
        paths: &["workload.lookup_pct", "workload.scan_pct", "workload.secondary_pct"],
        broken: |plan, _| load::shares_of_reads(plan),
    },
    Rule { paths: &["workload.insert_pct", "workload.delete_pct"], broken: |plan, _| load::growing(plan) },
    Rule {
        paths: &["workload.update_pct", "workload.insert_pct", "workload.delete_pct"],
        broken: |plan, _| load::shares_of_writes(plan),
    },
    Rule {
        paths: &["workload.think_min", "workload.think_max"],
        broken: |plan, _| load::think_backwards(plan),
    },
    Rule {
        paths: &[
            "workload.beside",
            "workload.beside_mix",
            "workload.beside_sessions",
            "workload.beside_rate",
        ],
        broken: |plan, _| own::beside(plan),
    },
    Rule {
        paths: &["workload.think_every", "workload.rate"],
        broken: |plan, _| load::think_in_open_loop(plan),
    },
    Rule {
        paths: &[
            "workload.hot_spot_every",
            "workload.hot_spot_offset",
            "workload.hot_spot_size",
            "data.scale",
            "data.block_size",
        ],
        broken: |plan, _| sizes::hot_spot(plan),
    },
    Rule { paths: &["workload.scan_pct", "data.scan_scale"], broken: |plan, _| sizes::nothing_to_scan(plan) },
    Rule { paths: &["data.scale", "data.block_size"], broken: |plan, _| sizes::no_row(plan) },
    Rule {
        paths: &["workload.work_unit", "data.scale", "data.block_size"],
        broken: |plan, _| sizes::work_unit(plan),
    },
    Rule {
        paths: &["data.scale", "data.scan_scale", "data.schemas", "data.block_size"],
        broken: |plan, _| sizes::total_rows(plan),
    },
    Rule { paths: &["workload.phases", "workload.rate"], broken: |plan, _| load::rate_and_phases(plan) },
    Rule { paths: &["workload.phases", "run.ops_per_session"], broken: |plan, _| load::ops_and_phases(plan) },
    Rule {
        paths: &["run.on_lost", "run.ops_per_session"],
        broken: |plan, _| load::reconnect_without_end(plan),
    },
    Rule { paths: &["workload.phases"], broken: |plan, _| load::phases_unread(plan) },
    Rule { paths: &["workload.phases", "run.time"], broken: |plan, _| load::time_of_phases(plan) },
    Rule { paths: &["workload.phases"], broken: |plan, _| load::phases_out_of_range(plan) },
    Rule {
        paths: &["workload.think_every", "workload.phases"],
        broken: |plan, _| load::think_in_phases(plan),
    },
    Rule { paths: &["run.sessions_per_schema", "data.schemas"], broken: |plan, _| sizes::sessions(plan) },
    Rule { paths: &["observe.interval", "run.time"], broken: |plan, _| sizes::interval_too_long(plan) },
    Rule { paths: &["observe.interval", "run.time"], broken: |plan, _| sizes::interval_too_short(plan) },
    Rule { paths: &["workload.commit", "target.url"], broken: engines::commit_of_engine },
    Rule { paths: &["workload.protocol", "target.url"], broken: engines::protocol_of_engine },
    Rule {
        paths: &["workload.protocol", "target.observe_url"],
        broken: |plan, _| engines::simple_through_pooler(plan),
    },
    Rule {
        paths: &["workload.connect", "workload.folder"],
        broken: |plan, _| engines::connects_of_method(plan),
    },
    Rule {
        paths: &["workload.connect", "target.observe_url"],
        broken: |plan, _| engines::connects_through_pooler(plan),
    },
    Rule { paths: &["observe.awr", "target.url"], broken: engines::awr_of_engine },
    Rule { paths: &["observe.host", "target.url"], broken: engines::host_of_embedded },
    Rule { paths: &["observe.hosts", "target.urls", "target.count", "target.url"], broken: engines::hosts },
    Rule { paths: &["target.observe_url", "target.urls", "target.url"], broken: engines::observed_elsewhere },
    Rule {
        paths: &["target.observe_url", "workload.drive"],
        broken: |plan, _| engines::slices_through_pooler(plan),
    },
    Rule { paths: &["sweep.until"], broken: |plan, _| sweep::nothing_saturates(plan) },
    Rule { paths: &["sweep.order", "sweep.repeats"], broken: |plan, _| sweep::never_down(plan) },
];

/// A rule that a plan breaks.
pub(crate) struct Broken {
    /// The keys it is about.
    pub(crate) paths: &'static [&'static str],
    /// What is wrong.
    pub(crate) problem: String,
    /// The way out.
    pub(crate) hint: &'static str,
}

/// The first rule that `plan` breaks.
pub(crate) fn broken(plan: &Plan, engines: Engines) -> Option<Broken> {
    RULES.iter().find_map(|rule| {
        (rule.broken)(plan, engines).map(|(problem, hint)| Broken { paths: rule.paths, problem, hint })
    })
}
