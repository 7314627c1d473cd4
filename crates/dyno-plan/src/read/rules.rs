//! What keys must be to each other: checks that need more than one value.

use crate::data::TOTAL_ROWS_MAX;
use crate::engine::{EngineSpec, Engines, or};
use crate::keys::{BLOCK_SIZE, seconds, thousands};
use crate::phases;
use crate::plan::{Awr, Commit, Connect, Drive, ObservedHost, Order, Plan, Protocol, Until, Workload};
use crate::sweep::is_sessions;
use crate::units::Bytes;

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
pub(super) static RULES: [Rule; 36] = [
    Rule { paths: &["target.weights", "target.urls"], broken: |plan, _| weights(plan) },
    Rule { paths: &["target.count", "target.urls"], broken: |plan, _| too_many_targets(plan) },
    Rule {
        paths: &["run.sessions_per_schema", "data.schemas", "target.urls", "target.count", "target.weights"],
        broken: |plan, _| idle_target(plan),
    },
    Rule { paths: OF_THE_METHOD, broken: |plan, _| own_transactions(plan) },
    Rule {
        paths: &["workload.lookup_pct", "workload.scan_pct", "workload.secondary_pct"],
        broken: |plan, _| shares_of_reads(plan),
    },
    Rule { paths: &["workload.insert_pct", "workload.delete_pct"], broken: |plan, _| growing(plan) },
    Rule {
        paths: &["workload.update_pct", "workload.insert_pct", "workload.delete_pct"],
        broken: |plan, _| shares_of_writes(plan),
    },
    Rule { paths: &["workload.think_min", "workload.think_max"], broken: |plan, _| think_backwards(plan) },
    Rule {
        paths: &[
            "workload.beside",
            "workload.beside_mix",
            "workload.beside_sessions",
            "workload.beside_rate",
        ],
        broken: |plan, _| beside(plan),
    },
    Rule { paths: &["workload.think_every", "workload.rate"], broken: |plan, _| think_in_open_loop(plan) },
    Rule {
        paths: &[
            "workload.hot_spot_every",
            "workload.hot_spot_offset",
            "workload.hot_spot_size",
            "data.scale",
            "data.block_size",
        ],
        broken: |plan, _| hot_spot(plan),
    },
    Rule { paths: &["workload.scan_pct", "data.scan_scale"], broken: |plan, _| nothing_to_scan(plan) },
    Rule { paths: &["data.scale", "data.block_size"], broken: |plan, _| no_row(plan) },
    Rule {
        paths: &["workload.work_unit", "data.scale", "data.block_size"],
        broken: |plan, _| work_unit(plan),
    },
    Rule {
        paths: &["data.scale", "data.scan_scale", "data.schemas", "data.block_size"],
        broken: |plan, _| total_rows(plan),
    },
    Rule { paths: &["workload.phases", "workload.rate"], broken: |plan, _| rate_and_phases(plan) },
    Rule { paths: &["workload.phases", "run.ops_per_session"], broken: |plan, _| ops_and_phases(plan) },
    Rule { paths: &["workload.phases"], broken: |plan, _| phases_unread(plan) },
    Rule { paths: &["workload.phases", "run.time"], broken: |plan, _| time_of_phases(plan) },
    Rule { paths: &["workload.phases"], broken: |plan, _| phases_out_of_range(plan) },
    Rule { paths: &["workload.think_every", "workload.phases"], broken: |plan, _| think_in_phases(plan) },
    Rule { paths: &["run.sessions_per_schema", "data.schemas"], broken: |plan, _| sessions(plan) },
    Rule { paths: &["observe.interval", "run.time"], broken: |plan, _| interval_too_long(plan) },
    Rule { paths: &["observe.interval", "run.time"], broken: |plan, _| interval_too_short(plan) },
    Rule { paths: &["workload.commit", "target.url"], broken: commit_of_engine },
    Rule { paths: &["workload.protocol", "target.url"], broken: protocol_of_engine },
    Rule {
        paths: &["workload.protocol", "target.observe_url"],
        broken: |plan, _| simple_through_pooler(plan),
    },
    Rule { paths: &["workload.connect", "workload.folder"], broken: |plan, _| connects_of_method(plan) },
    Rule {
        paths: &["workload.connect", "target.observe_url"],
        broken: |plan, _| connects_through_pooler(plan),
    },
    Rule { paths: &["observe.awr", "target.url"], broken: awr_of_engine },
    Rule { paths: &["observe.host", "target.url"], broken: host_of_embedded },
    Rule { paths: &["observe.hosts", "target.urls", "target.count", "target.url"], broken: hosts },
    Rule { paths: &["target.observe_url", "target.urls", "target.url"], broken: observed_elsewhere },
    Rule { paths: &["target.observe_url", "workload.drive"], broken: |plan, _| slices_through_pooler(plan) },
    Rule { paths: &["sweep.until"], broken: |plan, _| nothing_saturates(plan) },
    Rule { paths: &["sweep.order", "sweep.repeats"], broken: |plan, _| never_down(plan) },
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

/// The block size as far as it is known; where it is not, `unknown` is the one that cannot refuse a good plan.
fn block_size(plan: &Plan, unknown: u64) -> Bytes {
    plan.data.block_size.unwrap_or(Bytes(unknown))
}

fn weights(plan: &Plan) -> Option<(String, &'static str)> {
    let (weights, urls) = (plan.target.weights.len(), plan.target.urls.len());
    (weights > 0 && weights != urls).then(|| {
        let problem = format!("{weights} weights for {urls} URLs of target.urls");
        (problem, "write as many numbers as URLs, or leave target.weights out")
    })
}

fn too_many_targets(plan: &Plan) -> Option<(String, &'static str)> {
    let (count, urls) = (plan.target.count? as usize, plan.target.urls.len().max(1));
    (count > urls).then(|| {
        (
            format!("{count} targets of a list of {urls}"),
            "write more URLs into target.urls, or lower target.count",
        )
    })
}

fn idle_target(plan: &Plan) -> Option<(String, &'static str)> {
    let (targets, sessions) = (plan.target.all().len(), plan.sessions());
    let assigned = plan.target.assign(sessions.min(SESSIONS_MAX));
    let idle = (0..targets).find(|at| !assigned.contains(at))?;
    let number = idle + 1;
    let problem = format!("of {sessions} sessions, target {number} of {targets} would get none");
    Some((problem, "raise run.sessions_per_schema or data.schemas, or change target.weights"))
}

/// Whether the key `path` is of the classic method's operations or data.
pub fn is_of_method(path: &str) -> bool {
    path.starts_with("data.") || (path != OF_THE_METHOD[0] && OF_THE_METHOD.contains(&path))
}

/// Keys of the classic method, which a workload of the user's own does not have.
const OF_THE_METHOD: &[&str] = &[
    "workload.folder",
    "workload.update_pct",
    "workload.scan_pct",
    "workload.lookup_pct",
    "workload.secondary_pct",
    "workload.insert_pct",
    "workload.delete_pct",
    "workload.work_unit",
    "workload.keys",
    "workload.hot_spot_every",
    "workload.hot_schema_every",
    "workload.redo",
    "workload.drive",
    "data.schemas",
];

fn own_transactions(plan: &Plan) -> Option<(String, &'static str)> {
    let (method, workload) = (Workload::default(), &plan.workload);
    let folder = workload.folder.as_ref()?;
    // What both kinds of load have.
    let common = Workload {
        folder: Some(folder.clone()),
        scale: workload.scale,
        mix: workload.mix.clone(),
        options: workload.options.clone(),
        beside: workload.beside.clone(),
        beside_mix: workload.beside_mix.clone(),
        beside_sessions: workload.beside_sessions.clone(),
        beside_rate: workload.beside_rate.clone(),
        own_rates: workload.own_rates.clone(),
        rate: workload.rate,
        phases: workload.phases.clone(),
        arrivals: workload.arrivals,
        seed: workload.seed,
        commit: workload.commit,
        protocol: workload.protocol,
        connect: workload.connect,
        think_every: workload.think_every,
        think_min: workload.think_min,
        think_max: workload.think_max,
        think_compensated: workload.think_compensated,
        zipf_exponent: workload.zipf_exponent,
        hot_spot_offset: workload.hot_spot_offset,
        hot_spot_size: workload.hot_spot_size,
        ..method
    };
    if *workload != common {
        let problem = format!("operations of the classic method beside the transactions of {folder}");
        return Some((problem, "take out workload.folder, or the other keys of [workload]"));
    }
    let schemas = plan.data.schemas;
    (schemas > 1).then(|| {
        let problem = format!("{schemas} schemas of test data, and the transactions of {folder} use none");
        (problem, "data.schemas = 1; run.sessions_per_schema is the number of sessions")
    })
}

fn beside(plan: &Plan) -> Option<(String, &'static str)> {
    let workload = &plan.workload;
    let besides = workload.beside.len();
    if besides == 0 {
        return None;
    }
    let lengths = [workload.beside_mix.len(), workload.beside_sessions.len(), workload.beside_rate.len()];
    let wrong = lengths.into_iter().find(|&length| length > 0 && length != besides)?;
    let problem = format!("{wrong} values for {besides} workloads of workload.beside");
    Some((problem, "write a value for each of workload.beside, or leave the key out"))
}

fn shares_of_reads(plan: &Plan) -> Option<(String, &'static str)> {
    let work = &plan.workload;
    let sum = work.lookup_pct + work.scan_pct + work.secondary_pct;
    let problem =
        format!("lookup_pct, scan_pct and secondary_pct are shares of the reads, and add up to {sum} %");
    (sum > 100).then_some((problem, "lower one of them, so that they add up to 100 or less"))
}

fn growing(plan: &Plan) -> Option<(String, &'static str)> {
    let (insert, delete) = (plan.workload.insert_pct?, plan.workload.delete_pct?);
    (insert != delete).then(|| {
        let problem =
            format!("{insert} % of inserts and {delete} % of deletes would not keep the tables' size");
        (problem, "give both the same value, or leave one out")
    })
}

fn shares_of_writes(plan: &Plan) -> Option<(String, &'static str)> {
    let sum = plan.workload.update_pct + 2 * plan.workload.churn_pct();
    let problem =
        || format!("update_pct, insert_pct and delete_pct are shares of operations, and add up to {sum} %");
    (sum > 100).then(|| (problem(), "lower one of them, so that they add up to 100 or less"))
}

fn think_backwards(plan: &Plan) -> Option<(String, &'static str)> {
    let (least, most) = (plan.workload.think_min, plan.workload.think_max);
    (least > most).then(|| {
        (format!("the shortest sleep, {least}, is longer than the longest, {most}"), "exchange the two")
    })
}

fn think_in_open_loop(plan: &Plan) -> Option<(String, &'static str)> {
    let rate = plan.workload.rate.filter(|_| plan.workload.think_every > 0)?;
    let problem = format!("operations are due at {rate}, so there is nothing to think about between them");
    Some((problem, "take out workload.rate, or set workload.think_every to 0"))
}

fn rate_and_phases(plan: &Plan) -> Option<(String, &'static str)> {
    let rate = plan.workload.rate.filter(|_| !plan.workload.phases.is_empty())?;
    let problem = format!("the phases say which rate holds when, and workload.rate is {rate} besides");
    Some((problem, "take out workload.rate, or workload.phases"))
}

fn ops_and_phases(plan: &Plan) -> Option<(String, &'static str)> {
    plan.run.ops_per_session.filter(|_| !plan.workload.phases.is_empty())?;
    let problem = "the phases say how long the window is, and run.ops_per_session does besides";
    Some((problem.into(), "take out run.ops_per_session, or workload.phases"))
}

/// A file is read where a plan is, and not at a point of a sweep.
fn phases_unread(plan: &Plan) -> Option<(String, &'static str)> {
    let unread = plan.workload.phases.iter().find(|phase| phase.time().is_none())?;
    let problem = format!("{unread} cannot be a value of a sweep");
    Some((problem, "write ramp, hold, steps or sine there, or a sweep for each file"))
}

fn time_of_phases(plan: &Plan) -> Option<(String, &'static str)> {
    let phases = &plan.workload.phases;
    let (total, time) = (phases::total(phases)?, plan.run.time?);
    (!phases.is_empty() && total != time).then(|| {
        let problem = format!("the phases are {total} long, and run.time is {time}");
        (problem, "leave run.time out: the window is as long as all phases together")
    })
}

fn phases_out_of_range(plan: &Plan) -> Option<(String, &'static str)> {
    let total = phases::total(&plan.workload.phases)?;
    let curve = plan.workload.curve(0.0)?;
    if !(seconds(1)..=seconds(30 * 86_400)).contains(&total) {
        let problem = format!("the phases are {total} long together");
        return Some((problem, "make them 1s to 720h long"));
    }
    let none = curve.arrivals(total.0.as_secs_f64()) <= 0.0;
    none.then(|| ("all of its rates are 0/s, so nothing is ever due".into(), "raise one"))
}

fn think_in_phases(plan: &Plan) -> Option<(String, &'static str)> {
    let think = plan.workload.think_every > 0 && !plan.workload.phases.is_empty();
    let problem =
        "operations are due by the schedule of phases, so there is nothing to think about between them";
    think.then(|| (problem.into(), "take out workload.phases, or set workload.think_every to 0"))
}

fn hot_spot(plan: &Plan) -> Option<(String, &'static str)> {
    let (before, size) = plan.workload.hot_spot(block_size(plan, BLOCK_SIZE.1))?;
    let rows = plan.data.scale.blocks(block_size(plan, BLOCK_SIZE.0)).0;
    (before.saturating_add(size) > rows && rows > 0).then(|| {
        let (end, rows) = (thousands(before.saturating_add(size)), thousands(rows));
        let problem = format!("the hot spot ends at key {end}, but a schema has at most {rows}");
        (problem, "lower workload.hot_spot_offset or hot_spot_size, or raise data.scale")
    })
}

fn nothing_to_scan(plan: &Plan) -> Option<(String, &'static str)> {
    let scan_blocks = plan.data.scan_scale.blocks(block_size(plan, BLOCK_SIZE.0)).0;
    (plan.workload.scan_pct > 0 && scan_blocks == 0)
        .then(|| ("there is no table to scan".into(), "raise data.scan_scale, or set workload.scan_pct to 0"))
}

fn no_row(plan: &Plan) -> Option<(String, &'static str)> {
    let rows = plan.data.scale.blocks(block_size(plan, BLOCK_SIZE.0)).0;
    (rows == 0).then(|| ("less than one block".into(), "write more, or a number of blocks"))
}

fn work_unit(plan: &Plan) -> Option<(String, &'static str)> {
    let rows = plan.data.scale.blocks(block_size(plan, BLOCK_SIZE.0)).0;
    let work_unit = plan.workload.work_unit;
    (0 < rows && rows < u64::from(work_unit)).then(|| {
        let rows = thousands(rows);
        let problem = format!("one operation touches {work_unit} rows, but a schema has at most {rows}");
        (problem, "lower workload.work_unit, or raise data.scale")
    })
}

fn total_rows(plan: &Plan) -> Option<(String, &'static str)> {
    let block_size = block_size(plan, BLOCK_SIZE.1);
    let per_schema = plan.data.scale.blocks(block_size).0 + plan.data.scan_scale.blocks(block_size).0;
    let total = u64::from(plan.data.schemas).saturating_mul(per_schema);
    let problem = || {
        let (total, most) = (thousands(total), thousands(TOTAL_ROWS_MAX));
        format!("the tables of all schemas have {total} rows, more than {most}")
    };
    (total > TOTAL_ROWS_MAX).then(|| (problem(), "lower data.schemas, data.scale or data.scan_scale"))
}

fn sessions(plan: &Plan) -> Option<(String, &'static str)> {
    let first = u64::from(plan.data.schemas) * u64::from(plan.run.sessions_per_schema);
    let sessions = plan.workload.beside_sessions.iter().fold(first, |sum, &more| sum + u64::from(more));
    let problem = || {
        let (sessions, most) = (thousands(sessions), thousands(SESSIONS_MAX.into()));
        format!("all schemas together have {sessions} sessions, more than {most}")
    };
    (sessions > u64::from(SESSIONS_MAX)).then(|| (problem(), "lower run.sessions_per_schema or data.schemas"))
}

fn interval_too_long(plan: &Plan) -> Option<(String, &'static str)> {
    let time = plan.run.time.filter(|time| plan.observe.interval > *time)?;
    Some((
        format!("the interval is longer than run.time, {time}"),
        "shorten observe.interval, or lengthen run.time",
    ))
}

fn interval_too_short(plan: &Plan) -> Option<(String, &'static str)> {
    let intervals = plan.run.time?.0.as_nanos() / plan.observe.interval.0.as_nanos();
    (intervals > INTERVALS_MAX).then(|| {
        let (intervals, most) = (thousands(intervals as u64), thousands(INTERVALS_MAX as u64));
        (format!("run.time has {intervals} intervals, more than {most}"), "lengthen observe.interval")
    })
}

/// The first engine of a plan's targets that `lacks` something.
fn engine_that(
    plan: &Plan,
    engines: Engines,
    lacks: impl Fn(&EngineSpec) -> bool,
) -> Option<&'static EngineSpec> {
    plan.target.all().iter().filter_map(|url| engines.of(url)).find(|engine| lacks(engine))
}

fn commit_of_engine(plan: &Plan, engines: Engines) -> Option<(String, &'static str)> {
    let commit = plan.workload.commit;
    let cannot = |engine: &EngineSpec| commit != Commit::Wait && !engine.commits.contains(&commit);
    let engine = engine_that(plan, engines, cannot)?;
    let problem = format!("a session of {} cannot choose {:?} for its commits", engine.name, commit.name());
    Some((problem, engine.other_commits))
}

fn protocol_of_engine(plan: &Plan, engines: Engines) -> Option<(String, &'static str)> {
    let protocol = plan.workload.protocol;
    let cannot =
        |engine: &EngineSpec| protocol != Protocol::Prepared && !engine.protocols.contains(&protocol);
    let engine = engine_that(plan, engines, cannot)?;
    let problem = format!("statements do not come to {} by the {} protocol", engine.name, protocol.name());
    let hint = match engine.protocols.contains(&Protocol::Simple) {
        true => "protocol = \"simple\" or \"prepared\", or leave it out",
        false => "protocol = \"prepared\", or leave it out",
    };
    Some((problem, hint))
}

fn simple_through_pooler(plan: &Plan) -> Option<(String, &'static str)> {
    let is_simple = plan.workload.protocol == Protocol::Simple && plan.target.observe_url.is_some();
    let problem = "behind a pooler each operation makes settings of its own, which texts cannot carry";
    is_simple.then(|| (problem.to_owned(), "protocol = \"extended\", or sessions without a pooler"))
}

fn connects_of_method(plan: &Plan) -> Option<(String, &'static str)> {
    let is_method = plan.workload.connect == Connect::Transaction && plan.workload.folder.is_none();
    let problem = "the classic method measures operations on connections that stay open";
    is_method.then(|| (problem.to_owned(), "leave workload.connect out, or name a workload.folder"))
}

fn connects_through_pooler(plan: &Plan) -> Option<(String, &'static str)> {
    let is_pooled = plan.workload.connect == Connect::Transaction && plan.target.observe_url.is_some();
    let problem = "behind a pooler the server's own connections stay open, so that nobody can tell when they have booked what a \
                   transaction did";
    is_pooled.then(|| (problem.to_owned(), "connect = \"session\", or sessions without a pooler"))
}

fn awr_of_engine(plan: &Plan, engines: Engines) -> Option<(String, &'static str)> {
    let engine = engine_that(plan, engines, |engine| plan.observe.awr != Awr::Off && !engine.awr)?;
    Some((format!("{} has neither AWR nor STATSPACK", engine.name), "awr = \"off\", or leave it out"))
}

fn host_of_embedded(plan: &Plan, engines: Engines) -> Option<(String, &'static str)> {
    let engine = engine_that(plan, engines, |engine| {
        plan.observe.host == ObservedHost::Driver && !engine.is_server()
    })?;
    Some((format!("{} runs inside this program, so its host is this one", engine.product), "leave it out"))
}

/// A database has one machine here, and is there.
fn hosts(plan: &Plan, engines: Engines) -> Option<(String, &'static str)> {
    let hosts = &plan.observe.hosts;
    let targets = plan.target.all().len();
    if let Some(engine) = engine_that(plan, engines, |engine| !hosts.is_empty() && !engine.is_server()) {
        return Some((
            format!("{} runs inside this program, so its host is this one", engine.product),
            "leave it out",
        ));
    }
    let beyond = hosts.iter().filter_map(|host| host.target).find(|target| *target as usize > targets);
    if let Some(target) = beyond {
        return Some((
            format!("one of the machines is of target {target}, and there are {targets} targets"),
            "number the targets from 1, in the order of target.urls",
        ));
    }
    let twice = (0..targets).find(|place| hosts.iter().filter(|host| host.is_of(*place)).count() > 1)?;
    Some((
        format!(
            "target {} has several machines, whose figures would be several answers to one question",
            twice + 1
        ),
        "give each machine its target = NUMBER; of a cluster behind one URL, name its nodes as targets",
    ))
}

/// A pooler stands in front of one database.
fn observed_elsewhere(plan: &Plan, engines: Engines) -> Option<(String, &'static str)> {
    let engine = engines.of(plan.target.observe_url.as_ref()?)?;
    if plan.target.is_several() {
        return Some((
            "one server cannot be observed for several targets".into(),
            "drive one target, or leave target.observe_url out and name the servers themselves",
        ));
    }
    let driven = engines.of(&plan.target.url)?;
    if driven.name != engine.name {
        let problem = format!(
            "it names {}, and target.url names {}: sessions and observer go to one database",
            engine.name, driven.name
        );
        return Some((problem, "name the same database in both"));
    }
    (!engine.pooled).then(|| {
        let pooled: Vec<&str> = engines.0.iter().filter(|one| one.pooled).map(|one| one.product).collect();
        let problem = format!(
            "of {}, sessions and observer have to go the same way: only {} is driven through a pooler",
            engine.name,
            or(&pooled)
        );
        (problem, "leave it out")
    })
}

fn slices_through_pooler(plan: &Plan) -> Option<(String, &'static str)> {
    let is_wrong = plan.target.observe_url.is_some() && plan.workload.drive == Drive::Server;
    is_wrong.then(|| {
        (
            "slices that run inside the server are no application's load on a pooler".into(),
            "drive = \"client\", or give target.url the server's own address and leave target.observe_url out",
        )
    })
}

fn nothing_saturates(plan: &Plan) -> Option<(String, &'static str)> {
    let axes = &plan.sweep.axes;
    let is_wrong = plan.sweep.until == Until::Saturation
        && !axes.is_empty()
        && !axes.iter().any(|axis| is_sessions(&axis.key));
    is_wrong
        .then(|| ("no axis of sessions that could saturate".into(), "add sessions = [1, 2, 4, 8, 16, 32]"))
}

fn never_down(plan: &Plan) -> Option<(String, &'static str)> {
    let is_wrong = plan.sweep.order == Order::UpDown && plan.sweep.repeats < 2 && !plan.sweep.axes.is_empty();
    is_wrong.then(|| ("one repeat only goes up".into(), "sweep.repeats = 2 or more, or order = \"up\""))
}
