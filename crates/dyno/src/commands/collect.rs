//! `dyno collect`: stores results that agents keep of runs whose controller was lost.

use std::path::Path;
use std::sync::Arc;

use dyno_campaign::{KnownTarget, describe};
use dyno_drive::{DriveJob, ResultShape};
use dyno_engine::{Cancel, MonotonicClock};
use dyno_fleet::{CollectedRun, Collection, FleetCollector, FleetTarget};
use dyno_record::{Fleet, Repository, RepositoryError, RunRecord, StartedRun};
use serde_json::json;

use crate::cli::{Collect, CommonArgs};
use crate::console::Console;
use crate::engines::ENGINES;
use crate::exit::{Exit, usage};
use crate::{context, fleet};

/// Reason stored in a record of a run that lost its controller.
const LEADERLESS: &str = "its controller was lost: the database's counters were not read, and these are \
    figures of its sessions only";

/// Note in a record that was completed with collected results.
const COLLECTED: &str = "the results of its driver hosts were collected after its end: operations are counted, but not compared with the database";

pub(super) fn run(common: &CommonArgs, args: &Collect, talk: &Console) -> anyhow::Result<Exit> {
    let group = &args.under.group;
    fleet::warn_open_secrets(&args.meeting, talk);
    let collector = match args.from.is_empty() {
        true => FleetCollector::of_group(&fleet::access(&args.meeting)?, group).map_err(fleet::as_error)?,
        false => FleetCollector::of_folders(group),
    };
    let folders: Vec<&Path> = args.from.iter().map(|folder| folder.as_path()).collect();
    let collection = collector.fetch(env!("CARGO_PKG_VERSION"), &folders).map_err(fleet::as_error)?;
    let Collection { mut runs, problems } = collection;
    if let Some(only) = &args.run {
        runs.retain(|run_id, _| run_id == only);
        if runs.is_empty() {
            return Err(usage(
                format!("no agent stores a run {only}"),
                "`dyno collect` without a name fetches all stored runs",
            ));
        }
    }
    let repository = context::repository(common)?;
    let mut summaries = Vec::new();
    let mut failures: Vec<anyhow::Error> = problems.into_iter().map(fleet::as_error).collect();
    for (run_id, run) in &runs {
        match collect_run(run_id, run, &collector, &repository, talk) {
            Ok(operations) => {
                let (there, of) = run.hosts();
                summaries.push(json!({ "run": run_id, "hosts": there, "of": of, "operations": operations }));
            }
            // A run that cannot be stored stays on its hosts, and the other runs are still collected.
            Err(error) => failures.push(error.context(format!("run {run_id} is not collected"))),
        }
    }
    if runs.is_empty() && failures.is_empty() {
        talk.say(&format!("no agent in group {group} stores a run"));
    }
    talk.json(&json!({ "collected": summaries }))?;
    let last = failures.pop();
    failures.iter().for_each(|error| talk.say(&format!("warning: {error:#}")));
    last.map_or(Ok(Exit::Done), Err)
}

/// Stores the results that hosts keep of one run, and deletes them there; returns its operations if a record
/// was written.
fn collect_run(
    run_id: &str,
    run: &CollectedRun,
    collector: &FleetCollector,
    repository: &Repository,
    talk: &Console,
) -> anyhow::Result<Option<u64>> {
    let (there, of) = run.hosts();
    let stored = match repository.load(run_id) {
        Ok(stored) => Some(stored),
        Err(RepositoryError::NoSuchRun { .. } | RepositoryError::NoRecord { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    let lacks = stored
        .as_ref()
        .is_some_and(|stored| stored.fleet.as_ref().is_some_and(|fleet| fleet.lost().next().is_some()));
    let record = match &stored {
        Some(_) if !lacks => None,
        Some(stored) => Some(completed(stored.clone(), record(run_id, run, collector)?)),
        None => Some(record(run_id, run, collector)?),
    };
    match &record {
        None => talk.say(&format!("{run_id} is already stored with all of its hosts; the agents delete it")),
        Some(record) => {
            match stored {
                Some(_) => repository.amend(record)?,
                None => store(repository, run, record)?,
            }
            let (operations, status) = (operations(record), record.status.name());
            let hosts = format!("{there} of {of} hosts");
            talk.show(&format!("{run_id}: {hosts}, {operations} operations; stored as {status}"))?;
        }
    }
    collector.forget(run);
    Ok(record.as_ref().map(operations))
}

fn record(run_id: &str, run: &CollectedRun, collector: &FleetCollector) -> anyhow::Result<RunRecord> {
    let known_targets: Vec<KnownTarget> = run.known().iter().cloned().map(known_target).collect();
    let (targets, owns) = describe(ENGINES, run.plan(), &known_targets, run.folders())?;
    let job = DriveJob {
        run_id: run_id.to_owned(),
        started_at: run.started_at().to_owned(),
        run_stamp: run.run_stamp(),
        plan: run.plan(),
        targets,
        custom_workloads: owns,
        clock: Arc::new(MonotonicClock::default()),
        cancel: Cancel::default(),
        dyno_version: env!("CARGO_PKG_VERSION").to_owned(),
        series_points_max: dyno_record::OVERVIEW_POINTS_MAX,
    };
    let (results, fleet, ended_at) = run.merged(collector, &ResultShape::of(&job));
    let reason = match fleet.short_of() {
        Some(short) => format!("{LEADERLESS}; {short}"),
        None => LEADERLESS.to_owned(),
    };
    let mut record = dyno_drive::without_leader(&job, &results, fleet, reason);
    // The run ended on its hosts, not when it was collected.
    record.ended_at = ended_at.unwrap_or(record.ended_at);
    dyno_analyze::judge(&mut record);
    Ok(record)
}

/// The stored record of a run without all of its hosts, completed with the results collected later.
fn completed(stored: RunRecord, collected: RunRecord) -> RunRecord {
    let reason = match collected.fleet.as_ref().and_then(Fleet::short_of) {
        Some(short) => format!("{COLLECTED}; {short}"),
        None => COLLECTED.to_owned(),
    };
    let mut reasons = stored.reasons.clone();
    if !reasons.contains(&reason) {
        reasons.push(reason);
    }
    let RunRecord { ops, errors, fleet, classes, .. } = collected;
    RunRecord { reasons, ops, errors, fleet, classes, ..stored }
}

pub(super) fn known_target(facts: FleetTarget) -> KnownTarget {
    let FleetTarget { identity, spec, reads_only } = facts;
    KnownTarget { identity, spec, reads_only }
}

/// Stores a record; if the run began in another repository, it is registered here first.
fn store(repository: &Repository, run: &CollectedRun, record: &RunRecord) -> anyhow::Result<()> {
    let is_known = match repository.started(&record.id) {
        Ok(started) => started.is_some(),
        Err(RepositoryError::NoSuchRun { .. }) => false,
        Err(error) => return Err(error.into()),
    };
    if !is_known {
        let engines: Vec<&str> = record.targets.iter().map(|target| target.engine.as_str()).collect();
        let urls: Vec<&str> = record.targets.iter().map(|target| target.url.as_str()).collect();
        repository.begin(&StartedRun::by_this_process(
            record.id.clone(),
            run.started_at().to_owned(),
            engines.join(" "),
            urls.join(" "),
            run.plan().clone(),
        ))?;
    }
    Ok(repository.finish(record)?)
}

fn operations(record: &RunRecord) -> u64 {
    record.ops.get(dyno_record::ALL).map_or(0, |all| all.count)
}
