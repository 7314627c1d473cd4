//! States what a run was about: its targets, its machines, and its custom workloads.

use std::collections::BTreeSet;

use dyno_host::{HostDelta, ProcessorShares};
use dyno_observe::machine;
use dyno_record::{
    Host, InstanceLoad, OpStats, PhaseStats, Role, TargetFacts, TargetFigures, WorkloadFacts,
    WorkloadShareFacts, place_of_target,
};
use dyno_workload::custom::CustomWorkload;

use super::loaded;
use crate::fold::ResultSum;
use crate::job::{DriveJob, TargetContext};
use crate::measured::RunMeasurement;
use crate::prepared::pipelines;

/// One target, with its own figures if there are several.
pub(super) fn target(
    context: &TargetContext,
    instances: Vec<InstanceLoad>,
    own: Option<TargetFigures>,
) -> TargetFacts {
    TargetFacts {
        url: context.target.url(),
        engine: context.target.engine().to_owned(),
        identity: context.identity.clone(),
        data: (!context.spec.is_none()).then(|| context.spec.clone()),
        instances,
        own: own.map(Box::new),
        ..TargetFacts::default()
    }
}

/// This machine, without counters; if there are several targets, place names include the target.
pub(super) fn driver_host(job: &DriveJob<'_>) -> Host {
    let named = job.targets.iter().enumerate().flat_map(|(at, context)| {
        let name = move |place: &String| match job.has_several_targets() {
            true => place_of_target(at + 1, place),
            false => place.clone(),
        };
        context.host_paths.iter().map(move |(place, path)| (name(place), path.as_path()))
    });
    let named: Vec<_> = named.collect();
    let paths: Vec<_> = named.iter().map(|(name, path)| (name.as_str(), *path)).collect();
    let mut roles = BTreeSet::from([Role::Driver]);
    let is_here = |context: &TargetContext| context.identity.same_host && context.remote_host.is_none();
    if job.targets.iter().any(is_here) {
        roles.insert(Role::Database);
    }
    Host { roles, ..dyno_host::facts(&paths) }
}

/// The machines besides the driver host, each with its targets, facts and counters of the window.
pub(super) fn remote_hosts(job: &DriveJob<'_>, measured: &RunMeasurement) -> Vec<Host> {
    let mut all: Vec<Host> = Vec::new();
    for (at, (context, target)) in job.targets.iter().zip(&measured.targets).enumerate() {
        let Some(remote) = &context.remote_host else { continue };
        let is_known = |known: &Host| known.observed.as_ref().is_some_and(|seen| seen.url == remote.url);
        let place = all.iter().position(is_known).unwrap_or_else(|| {
            all.push(machine::host_of(remote, target.begin.as_ref(), target.end.as_ref()));
            all.len() - 1
        });
        machine::named_for(&mut all[place], remote, at + 1, job.has_several_targets());
    }
    all
}

/// The custom workloads, each with what its sessions loaded, and with its part of the run if there are several:
/// `window_ops` are then the operations of each in the window.
pub(super) fn custom_workloads(
    job: &DriveJob<'_>,
    results: &ResultSum,
    window_ops: Vec<OpStats>,
    phases: &[PhaseStats],
) -> Vec<WorkloadFacts> {
    let key_first = job.targets.first().is_some_and(|context| context.target.table_words().key_first);
    let mut ops = window_ops.into_iter();
    let mean = PhaseStats::mean_asked_per_s(phases);
    let workloads = job.custom_workloads.iter().zip(job.plan.workload_shares()).map(|(workload, share)| {
        let ops = ops.next().map(Box::new);
        let rate_per_s = share.rate.map(|rate| rate.0).or(mean.filter(|_| share.phased));
        let share = || WorkloadShareFacts { sessions: share.sessions, rate_per_s, ops };
        WorkloadFacts {
            share: (job.custom_workloads.len() > 1).then(share),
            loaded: loaded::of(workload, &results.sessions, key_first).map(Box::new),
            ..custom_workload(job, workload)
        }
    });
    workloads.collect()
}

/// One custom workload; requests are pipelined if all targets support it.
fn custom_workload(job: &DriveJob<'_>, workload: &CustomWorkload) -> WorkloadFacts {
    let engine = job.targets.first().map_or("", |context| context.target.engine());
    let can = |context: &TargetContext| pipelines(context.target.as_ref(), job.plan.workload.protocol);
    let is_pipelined = !job.targets.is_empty() && job.targets.iter().all(can);
    WorkloadFacts {
        pipelined: if is_pipelined { workload.pipelined(engine) } else { Vec::new() },
        transactions: workload.transaction_facts(engine),
        ..workload.facts()
    }
}

/// The driver host with its counters of the window, and the `shares` of its processors.
pub(super) fn with_counters(host: Host, delta: Option<&HostDelta>, shares: Option<&ProcessorShares>) -> Host {
    let mut counters = delta.map(HostDelta::counters).unwrap_or_default();
    counters.extend(shares.map(ProcessorShares::counters).into_iter().flatten());
    Host { counters, ..host }
}
