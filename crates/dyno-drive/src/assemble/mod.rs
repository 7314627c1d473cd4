//! Builds a run record from the measurements.
//!
//! Each step uses only what the steps before it have finished, and nothing is changed afterwards:
//!
//! 1. `fold` adds up the results of each target's sessions ([`ResultSum`]), and of all.
//! 2. `target` builds a part for each target: its `window`, its `operations`, what was `counted` for them, and
//!    its `figures`.
//! 3. `total` adds up the parts of several targets. The part of a single one is the total.
//! 4. `figures` completes the total with what only the whole run has.
//! 5. `phases`, `outages`, `instances` and `facts` add the rest, and [`record`] joins all of it.
//!
//! This module judges nothing: the audit works on the finished record alone.

mod counted;
mod cover;
mod facts;
mod figures;
mod inputs;
mod instances;
mod loaded;
mod operations;
mod outages;
mod phases;
mod target;
mod total;
mod window;

use dyno_plan::Plan;
use dyno_record::{ALL, Fleet, Outage, Profile, RunRecord, Series, Status, TargetFigures};

use crate::collector::IntervalCollector;
use crate::fold::ResultSum;
use crate::job::{DriveJob, DriveOutcome};
use crate::measured::{MeasuredTarget, RunMeasurement};
use crate::results::Results;
use inputs::TargetInputs;
use operations::WorkStats;
use target::RecordPart;

/// The record of a run, without an audit; its `series` are that of all targets, then one per target if there
/// are several.
pub(crate) fn record(
    job: &DriveJob<'_>,
    measured: &RunMeasurement,
    results: &Results,
    series: Vec<Series>,
    outcome: DriveOutcome,
) -> RunRecord {
    let (status, reasons) = status(outcome, measured);
    let classes = job.classes();
    let all = results.all(classes.count());
    let sums = (0..job.targets.len()).map(|at| results.of_target(at, classes.count()));
    let sums: Vec<ResultSum> = sums.collect();
    let mut target_series = series.into_iter();
    let series = target_series.next().unwrap_or_default();
    let parts = sums.iter().enumerate().map(|(at, results)| {
        let (context, target) = (&job.targets[at], &measured.targets[at]);
        let inputs = TargetInputs { job, classes: &classes, context, measured, target, results };
        target::part(&inputs, at, target_series.next().unwrap_or_default())
    });
    let mut parts: Vec<RecordPart> = parts.collect();
    let outages = sums.iter().zip(&parts).enumerate().flat_map(|(at, (results, part))| {
        let (target, series) = match job.has_several_targets() {
            true => (Some(at + 1), &part.figures.series),
            false => (None, &series),
        };
        let outages =
            outages::outages(results.sessions.answers.as_deref(), &classes, series, measured.origin_ns);
        outages.into_iter().map(move |outage| Outage { target, ..outage })
    });
    let outages = outages.collect();
    let (driver_host, remote_hosts) = (facts::driver_host(job), facts::remote_hosts(job, measured));
    let host = target::host_delta(&measured.targets[0]);
    let (total, own_parts) = match job.has_several_targets() {
        true => {
            let parts: Vec<TargetFigures> = parts.into_iter().map(|part| part.figures).collect();
            let hosts = (host.as_ref(), (&driver_host, &remote_hosts[..]));
            (
                total::total((job, &classes), measured, &all, &parts, hosts),
                parts.into_iter().map(Some).collect(),
            )
        }
        false => (parts.remove(0), vec![None]),
    };
    let RecordPart { figures: total, workloads } = total;
    let phases = phases::phases((job, &classes), measured, &all, &series);
    let workloads = facts::custom_workloads(job, &all, workloads, &phases);
    let loads = workloads.iter().filter_map(|workload| workload.loaded.as_deref());
    let shares = measured.processors.shares().filter(|_| !total.metrics.is_empty());
    let machine = (host.as_ref(), shares.as_ref());
    let metrics =
        figures::of_run(total.metrics, measured, total.ops.get(ALL), machine, (&total.counters, loads));
    let targets = job.targets.iter().zip(own_parts).enumerate().map(|(at, (context, own))| {
        facts::target(context, instances::instance_loads(results, at, &classes), own)
    });
    let mut workloads = workloads.into_iter();
    RunRecord {
        id: job.run_id.clone(),
        started_at: job.started_at.clone(),
        ended_at: dyno_record::now_rfc3339(),
        dyno_version: job.dyno_version.clone(),
        reasons,
        targets: targets.collect(),
        profile: profile(measured, &driver_host),
        hosts: std::iter::once(facts::with_counters(driver_host, host.as_ref(), shares.as_ref()))
            .chain(remote_hosts)
            .collect(),
        fleet: measured.fleet.clone(),
        gate: total.gate,
        window: total.window,
        workload: workloads.next(),
        beside: workloads.collect(),
        classes: classes.of_operations().to_vec(),
        ops: total.ops,
        metrics,
        counters: total.counters,
        whole: total.whole,
        waits: total.waits,
        statements: total.statements,
        tables: total.tables,
        series,
        phases,
        errors: total.errors,
        outages,
        ..RunRecord::blank(status, Plan::clone(job.plan))
    }
}

/// The record of a run that lost its leader, from its sessions' measurements. The database's counters were
/// not read, so there is no window of theirs.
pub(crate) fn without_leader(
    job: &DriveJob<'_>,
    results: &Results,
    fleet: Fleet,
    reason: String,
) -> RunRecord {
    let targets = job.targets.iter().map(|_| MeasuredTarget::default()).collect();
    let classes = job.classes();
    let all = results.all(classes.count());
    // Without the results of a host, it is unknown whether its sessions were there.
    let sessions = results.sessions.len() as u32;
    let threads = fleet.hosts.iter().map(|host| host.threads).sum();
    let measured =
        RunMeasurement { sessions, threads, targets, fleet: Some(fleet), ..RunMeasurement::default() };
    let record = record(job, &measured, results, Vec::new(), DriveOutcome::Failed(reason));
    let ops = |work_s| WorkStats::of_window(job, &classes, &all.threads, work_s).classes;
    RunRecord { ops: all.sessions.many().mean_work_s().map(ops).unwrap_or_default(), ..record }
}

/// The profile of the window, which was taken on `host`.
fn profile(measured: &RunMeasurement, host: &dyno_record::Host) -> Option<Profile> {
    let mut profile = measured.profile.clone()?;
    if let Profile::Taken(profile) = &mut profile {
        profile.host.clone_from(&host.name);
    }
    Some(profile)
}

fn status(outcome: DriveOutcome, measured: &RunMeasurement) -> (Status, Vec<String>) {
    let no_end = || measured.targets.iter().filter_map(|target| target.no_end.as_ref());
    let mut reasons: Vec<String> = measured.stuck.iter().map(|stuck| stuck.words.clone()).collect();
    let status = match outcome {
        // The server could not continue, not the client.
        DriveOutcome::Done if measured.stuck.iter().any(|stuck| stuck.full) => Status::Failed,
        // Without an end snapshot, the client's counts were not compared with the database's.
        DriveOutcome::Done if !measured.broken_off.is_empty() || no_end().next().is_some() => Status::Invalid,
        DriveOutcome::Done => Status::Valid,
        DriveOutcome::Interrupted => {
            reasons.push("stopped by the user before its end".to_owned());
            Status::Interrupted
        }
        DriveOutcome::Failed(reason) => {
            reasons.push(reason);
            Status::Failed
        }
    };
    if !measured.broken_off.is_empty() {
        let numbers: Vec<_> = measured.broken_off.iter().take(10).map(u32::to_string).collect();
        reasons.push(format!(
            "{} sessions did not end within run.drain and were aborted: {}",
            measured.broken_off.len(),
            numbers.join(", ")
        ));
    }
    for reason in no_end() {
        if !reasons.iter().any(|known| known.contains(reason.as_str())) {
            reasons.push(format!("the end snapshot is missing: {reason}"));
        }
    }
    (status, reasons)
}

/// Closes the series of a window in which sessions worked.
pub(crate) fn end_series(measured: &RunMeasurement, results: &Results, collector: &mut IntervalCollector) {
    let last_ns = results.sessions.iter().filter_map(|session| session.moments.edge_ns[1]).max();
    let ends_ns = measured.origin_ns.zip(last_ns);
    if let Some((origin_ns, last_ns)) = ends_ns.filter(|(origin_ns, last_ns)| last_ns > origin_ns) {
        collector.end((last_ns - origin_ns) as f64 / 1e9);
    }
}
