//! Rules about the capabilities of an engine, its host and a pooler in front of it.

use crate::engine::{EngineSpec, Engines, or};
use crate::plan::{AwrObserveMode, Commit, Connect, DriveMode, ObservedHost, Plan, StatementProtocol};

/// The first engine of the plan's targets for which `lacks` is true.
fn engine_that(
    plan: &Plan,
    engines: Engines,
    lacks: impl Fn(&EngineSpec) -> bool,
) -> Option<&'static EngineSpec> {
    plan.target.all().iter().filter_map(|url| engines.spec_of(url)).find(|engine| lacks(engine))
}

pub(super) fn commit_of_engine(plan: &Plan, engines: Engines) -> Option<(String, &'static str)> {
    let commit = plan.workload.commit;
    let cannot = |engine: &EngineSpec| commit != Commit::Wait && !engine.commits.contains(&commit);
    let engine = engine_that(plan, engines, cannot)?;
    let problem = format!("{} sessions do not support commit = {:?}", engine.name, commit.name());
    Some((problem, engine.other_commits))
}

pub(super) fn protocol_of_engine(plan: &Plan, engines: Engines) -> Option<(String, &'static str)> {
    let protocol = plan.workload.protocol;
    let cannot = |engine: &EngineSpec| {
        protocol != StatementProtocol::Prepared && !engine.protocols.contains(&protocol)
    };
    let engine = engine_that(plan, engines, cannot)?;
    let problem = format!("{} does not support the {} protocol", engine.name, protocol.name());
    let hint = match engine.protocols.contains(&StatementProtocol::Simple) {
        true => "write protocol = \"simple\" or \"prepared\", or omit it",
        false => "write protocol = \"prepared\", or omit it",
    };
    Some((problem, hint))
}

pub(super) fn simple_through_pooler(plan: &Plan) -> Option<(String, &'static str)> {
    let is_simple = plan.workload.protocol == StatementProtocol::Simple && plan.target.observe_url.is_some();
    let problem = "behind a pooler each operation applies its own settings, which the simple protocol cannot \
                   send";
    is_simple.then(|| (problem.to_owned(), "write protocol = \"extended\", or connect without a pooler"))
}

pub(super) fn connects_of_method(plan: &Plan) -> Option<(String, &'static str)> {
    let is_method = plan.workload.connect == Connect::Transaction && plan.workload.folder.is_none();
    let problem = "the block workload measures operations on connections that stay open";
    is_method.then(|| (problem.to_owned(), "omit workload.connect, or give a workload.folder"))
}

pub(super) fn connects_through_pooler(plan: &Plan) -> Option<(String, &'static str)> {
    let is_pooled = plan.workload.connect == Connect::Transaction && plan.target.observe_url.is_some();
    let problem = "behind a pooler the server connections stay open, so it is unknown when they have \
                   recorded the work of a transaction";
    is_pooled.then(|| (problem.to_owned(), "write connect = \"session\", or connect without a pooler"))
}

pub(super) fn awr_of_engine(plan: &Plan, engines: Engines) -> Option<(String, &'static str)> {
    let engine = engine_that(plan, engines, |engine| plan.observe.awr != AwrObserveMode::Off && !engine.awr)?;
    Some((format!("{} has neither AWR nor STATSPACK", engine.name), "write awr = \"off\", or omit it"))
}

pub(super) fn copied_schemas_of_engine(plan: &Plan, engines: Engines) -> Option<(String, &'static str)> {
    let is_copied = plan.data.copy_schemas && plan.data.schemas > 1;
    let engine = engine_that(plan, engines, |engine| is_copied && !engine.copies_schemas)?;
    let able: Vec<&str> = engines.0.iter().filter(|one| one.copies_schemas).map(|one| one.product).collect();
    let problem = format!("{} cannot copy schemas inside the database; {} can", engine.name, or(&able));
    Some((problem, "write copy_schemas = false, or omit it: Dyno then sends the rows of every schema"))
}

pub(super) fn host_of_embedded(plan: &Plan, engines: Engines) -> Option<(String, &'static str)> {
    let engine = engine_that(plan, engines, |engine| {
        plan.observe.host == ObservedHost::Driver && !engine.is_server()
    })?;
    Some((format!("{} runs inside this program, so its host is this one", engine.product), "omit it"))
}

/// Rule: hosts need a server engine and an existing target, and each target has at most one host.
pub(super) fn hosts(plan: &Plan, engines: Engines) -> Option<(String, &'static str)> {
    let hosts = &plan.observe.hosts;
    let targets = plan.target.all().len();
    if let Some(engine) = engine_that(plan, engines, |engine| !hosts.is_empty() && !engine.is_server()) {
        return Some((
            format!("{} runs inside this program, so its host is this one", engine.product),
            "omit it",
        ));
    }
    let beyond = hosts.iter().filter_map(|host| host.target).find(|target| *target as usize > targets);
    if let Some(target) = beyond {
        return Some((
            format!("a host is assigned to target {target}, but there are {targets} targets"),
            "number the targets from 1, in the order of target.urls",
        ));
    }
    let twice = (0..targets).find(|place| hosts.iter().filter(|host| host.is_of(*place)).count() > 1)?;
    Some((
        format!("target {} has several hosts, so its host figures would be ambiguous", twice + 1),
        "give each host its target = NUMBER; for a cluster behind one URL, list its nodes as targets",
    ))
}

/// Rule: a pooler serves one database of an engine that supports pooling.
pub(super) fn observed_elsewhere(plan: &Plan, engines: Engines) -> Option<(String, &'static str)> {
    let engine = engines.spec_of(plan.target.observe_url.as_ref()?)?;
    if plan.target.is_several() {
        return Some((
            "one server cannot be observed for several targets".into(),
            "use one target, or omit target.observe_url and give the URLs of the servers themselves",
        ));
    }
    let driven = engines.spec_of(&plan.target.url)?;
    if driven.name != engine.name {
        let problem = format!(
            "it has the database {}, and target.url has {}: sessions and observer must use the same database",
            engine.name, driven.name
        );
        return Some((problem, "write the same database in both"));
    }
    (!engine.pooled).then(|| {
        let pooled: Vec<&str> = engines.0.iter().filter(|one| one.pooled).map(|one| one.product).collect();
        let problem = format!(
            "sessions and observer of {} must connect the same way: only {} supports a pooler",
            engine.name,
            or(&pooled)
        );
        (problem, "omit it")
    })
}

pub(super) fn slices_through_pooler(plan: &Plan) -> Option<(String, &'static str)> {
    let is_wrong = plan.target.observe_url.is_some() && plan.workload.drive == DriveMode::Server;
    is_wrong.then(|| {
        (
            "slices that run inside the server put no load on a pooler".into(),
            "write drive = \"client\", or write the server's own address as target.url and omit \
             target.observe_url",
        )
    })
}
