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
    let problem = format!("a session of {} cannot choose {:?} for its commits", engine.name, commit.name());
    Some((problem, engine.other_commits))
}

pub(super) fn protocol_of_engine(plan: &Plan, engines: Engines) -> Option<(String, &'static str)> {
    let protocol = plan.workload.protocol;
    let cannot = |engine: &EngineSpec| {
        protocol != StatementProtocol::Prepared && !engine.protocols.contains(&protocol)
    };
    let engine = engine_that(plan, engines, cannot)?;
    let problem = format!("statements do not come to {} by the {} protocol", engine.name, protocol.name());
    let hint = match engine.protocols.contains(&StatementProtocol::Simple) {
        true => "protocol = \"simple\" or \"prepared\", or leave it out",
        false => "protocol = \"prepared\", or leave it out",
    };
    Some((problem, hint))
}

pub(super) fn simple_through_pooler(plan: &Plan) -> Option<(String, &'static str)> {
    let is_simple = plan.workload.protocol == StatementProtocol::Simple && plan.target.observe_url.is_some();
    let problem = "behind a pooler each operation makes settings of its own, which texts cannot carry";
    is_simple.then(|| (problem.to_owned(), "protocol = \"extended\", or sessions without a pooler"))
}

pub(super) fn connects_of_method(plan: &Plan) -> Option<(String, &'static str)> {
    let is_method = plan.workload.connect == Connect::Transaction && plan.workload.folder.is_none();
    let problem = "the classic method measures operations on connections that stay open";
    is_method.then(|| (problem.to_owned(), "leave workload.connect out, or name a workload.folder"))
}

pub(super) fn connects_through_pooler(plan: &Plan) -> Option<(String, &'static str)> {
    let is_pooled = plan.workload.connect == Connect::Transaction && plan.target.observe_url.is_some();
    let problem = "behind a pooler the server's own connections stay open, so that nobody can tell when they have booked what a \
                   transaction did";
    is_pooled.then(|| (problem.to_owned(), "connect = \"session\", or sessions without a pooler"))
}

pub(super) fn awr_of_engine(plan: &Plan, engines: Engines) -> Option<(String, &'static str)> {
    let engine = engine_that(plan, engines, |engine| plan.observe.awr != AwrObserveMode::Off && !engine.awr)?;
    Some((format!("{} has neither AWR nor STATSPACK", engine.name), "awr = \"off\", or leave it out"))
}

pub(super) fn host_of_embedded(plan: &Plan, engines: Engines) -> Option<(String, &'static str)> {
    let engine = engine_that(plan, engines, |engine| {
        plan.observe.host == ObservedHost::Driver && !engine.is_server()
    })?;
    Some((format!("{} runs inside this program, so its host is this one", engine.product), "leave it out"))
}

/// Rule: hosts need a server engine and an existing target, and each target has at most one host.
pub(super) fn hosts(plan: &Plan, engines: Engines) -> Option<(String, &'static str)> {
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

/// Rule: a pooler serves one database of an engine that supports pooling.
pub(super) fn observed_elsewhere(plan: &Plan, engines: Engines) -> Option<(String, &'static str)> {
    let engine = engines.spec_of(plan.target.observe_url.as_ref()?)?;
    if plan.target.is_several() {
        return Some((
            "one server cannot be observed for several targets".into(),
            "drive one target, or leave target.observe_url out and name the servers themselves",
        ));
    }
    let driven = engines.spec_of(&plan.target.url)?;
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

pub(super) fn slices_through_pooler(plan: &Plan) -> Option<(String, &'static str)> {
    let is_wrong = plan.target.observe_url.is_some() && plan.workload.drive == DriveMode::Server;
    is_wrong.then(|| {
        (
            "slices that run inside the server are no application's load on a pooler".into(),
            "drive = \"client\", or give target.url the server's own address and leave target.observe_url out",
        )
    })
}
