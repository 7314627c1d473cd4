//! Builds a run record from the measurements.
//!
//! Every target has a part of its own. Several parts are added up; a single one is the record itself. This
//! module judges nothing: the audit works on the finished record alone.

use std::collections::BTreeSet;

use dyno_plan::Plan;
use dyno_record::{
    Host, Outage, PhaseStats, Profile, Role, RunRecord, Series, Status, TargetFacts, TargetFigures, Window,
    WorkloadFacts, WorkloadShareFacts, place_of_target, window::WorkCounts,
};
use dyno_workload::custom::CustomWorkload;

use crate::collector::IntervalCollector;
use crate::job::{DriveJob, DriveOutcome, TargetContext};
use crate::loaded;
use crate::measured::RunMeasurement;
use crate::metrics::{self, MetricMap};
use crate::outages::outages;
use crate::phases::phases;
use crate::prepared::pipelines;
use crate::results::{Results, SelectedResults};
use crate::session::SessionResult;
use crate::summed::{of_workload, op_stats};
use crate::{hosts, served_by, target_part, totals};

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
    let mut series = series.into_iter();
    let whole_series = series.next().unwrap_or_default();
    let mut parts: Vec<TargetFigures> = (0..job.targets.len())
        .map(|at| {
            let target_results = results.of_target(at);
            target_part::own_part(job, at, measured, &target_results, series.next().unwrap_or_default())
        })
        .collect();
    let mut facts: Vec<TargetFacts> = job.targets.iter().map(target_facts).collect();
    for (at, facts) in facts.iter_mut().enumerate() {
        facts.instances = served_by::instance_loads(&results.of_target(at), &job.classes());
    }
    let mut host = host(job);
    let remote = hosts::of_record(job, measured);
    let (mut whole, mut host_counters) = match job.has_several_targets() {
        true => {
            let total = total(job, measured, &results.all(), &parts, (&host, &remote));
            for (facts, part) in facts.iter_mut().zip(parts) {
                facts.own = Some(Box::new(part));
            }
            total
        }
        false => {
            let mut only = parts.remove(0);
            let host_counters = std::mem::take(&mut only.host_counters);
            (only, host_counters)
        }
    };
    let outages = outages_of(job, measured, results, (&facts, &whole_series));
    let phases = phases(job, measured, &results.all(), &whole_series);
    measured.processors.note(&mut whole.metrics, &mut host_counters);
    host.counters = host_counters;
    if let (Some(fleet), Some(all), false) =
        (&measured.fleet, whole.ops.get(dyno_record::ALL), whole.metrics.is_empty())
    {
        let client_cpus = fleet.hosts.iter().map(|host| host.client_cpus).sum::<Option<f64>>();
        metrics::of_fleet(&mut whole.metrics, client_cpus, all.rate_per_s);
    }
    let mut profile = measured.profile.clone();
    if let Some(Profile::Taken(profile)) = &mut profile {
        profile.host.clone_from(&host.name);
    }
    let mut owns = custom_workload_facts(job, results, whole.window.as_ref(), &phases);
    let key_first = job.targets.first().is_some_and(|context| context.target.table_words().key_first);
    for (own, facts) in job.custom_workloads.iter().zip(&mut owns) {
        facts.loaded = loaded::of(own, &results.all(), key_first).map(Box::new);
        loaded::figures(&mut whole.metrics, &whole.counters, facts.loaded.as_deref());
    }
    let mut owns = owns.into_iter();
    RunRecord {
        id: job.run_id.clone(),
        started_at: job.started_at.clone(),
        ended_at: dyno_record::now_rfc3339(),
        dyno_version: job.dyno_version.clone(),
        reasons,
        targets: facts,
        hosts: std::iter::once(host).chain(remote).collect(),
        fleet: measured.fleet.clone(),
        gate: whole.gate,
        window: whole.window,
        workload: owns.next(),
        beside: owns.collect(),
        classes: job.classes().of_operations().to_vec(),
        ops: whole.ops,
        metrics: whole.metrics,
        counters: whole.counters,
        whole: whole.whole,
        waits: whole.waits,
        profile,
        series: whole_series,
        phases,
        errors: whole.errors,
        outages,
        ..RunRecord::blank(status, Plan::clone(job.plan))
    }
}

/// The outages of all targets; a single target's series is that of the run.
fn outages_of(
    job: &DriveJob<'_>,
    measured: &RunMeasurement,
    results: &Results,
    (facts, only): (&[TargetFacts], &Series),
) -> Vec<Outage> {
    let classes = job.classes();
    let outages_at = |(at, facts): (usize, &TargetFacts)| {
        let sessions = results.of_target(at).sessions;
        let series = facts.own.as_ref().map_or(only, |own| &own.series);
        let target = job.has_several_targets().then_some(at + 1);
        let outages = outages(&sessions, &classes, series, measured.origin_ns);
        outages.into_iter().map(move |outage| Outage { target, ..outage })
    };
    facts.iter().enumerate().flat_map(outages_at).collect()
}

/// The record of a run that lost its leader, from its sessions' measurements. The database's counters were
/// not read, so there is no window of theirs.
pub(crate) fn without_leader(
    job: &DriveJob<'_>,
    results: &Results,
    fleet: dyno_record::Fleet,
    reason: String,
) -> RunRecord {
    let targets = job.targets.iter().map(|_| crate::measured::MeasuredTarget::default()).collect();
    let handed = results.all();
    // Without the results of a host, it is unknown whether its sessions were there.
    let sessions = handed.sessions.len() as u32;
    let threads = fleet.hosts.iter().map(|host| host.threads).sum();
    let measured =
        RunMeasurement { sessions, threads, targets, fleet: Some(fleet), ..RunMeasurement::default() };
    let mut record = record(job, &measured, results, Vec::new(), DriveOutcome::Failed(reason));
    if let Some(work_s) = target_part::mean_work_s(&handed.sessions) {
        record.ops = op_stats(job, &handed, work_s);
    }
    record
}

/// The custom workloads, each with its part of the run if there are several.
fn custom_workload_facts(
    job: &DriveJob<'_>,
    results: &Results,
    window: Option<&Window>,
    phases: &[PhaseStats],
) -> Vec<WorkloadFacts> {
    let mut all: Vec<WorkloadFacts> = job.custom_workloads.iter().map(|own| own_workload(job, own)).collect();
    if all.len() < 2 {
        return all;
    }
    let results = results.all();
    let mean = PhaseStats::mean_asked_per_s(phases);
    for ((place, own), side) in all.iter_mut().enumerate().zip(job.plan.workload_shares()) {
        let ops = window.map(|window| of_workload(job, &results, place, window.work_seconds()));
        let rate_per_s = side.rate.map(|rate| rate.0).or(mean.filter(|_| side.phased));
        own.share = Some(WorkloadShareFacts { sessions: side.sessions, rate_per_s, ops: ops.map(Box::new) });
    }
    all
}

/// The facts about one custom workload; requests are pipelined if all targets support it.
fn own_workload(job: &DriveJob<'_>, custom_workload: &CustomWorkload) -> WorkloadFacts {
    let can = |context: &TargetContext| pipelines(context.target.as_ref(), job.plan.workload.protocol);
    let pipelined = match job.targets.iter().all(can) {
        true => job.targets.first().map_or_else(Vec::new, |target_context| {
            custom_workload.pipelined(target_context.target.engine())
        }),
        false => Vec::new(),
    };
    let engine = job.targets.first().map_or("", |first_context| first_context.target.engine());
    WorkloadFacts {
        pipelined,
        transactions: custom_workload.transaction_facts(engine),
        ..custom_workload.facts()
    }
}

fn target_facts(context: &TargetContext) -> TargetFacts {
    TargetFacts {
        url: context.target.url(),
        engine: context.target.engine().to_owned(),
        identity: context.identity.clone(),
        data: (!context.spec.is_none()).then(|| context.spec.clone()),
        ..TargetFacts::default()
    }
}

/// The totals of all targets, and the counters of the machine.
fn total(
    job: &DriveJob<'_>,
    measured: &RunMeasurement,
    all: &SelectedResults<'_>,
    parts: &[TargetFigures],
    of_targets: (&Host, &[Host]),
) -> (TargetFigures, std::collections::BTreeMap<String, f64>) {
    let window = total_window(all, parts);
    let work_s = window.as_ref().map_or(0.0, Window::work_seconds);
    let mut ops = if window.is_some() { op_stats(job, all, work_s) } else { Default::default() };
    for (name, stats) in &mut ops {
        // Each target's counts are divided by the time that they cover, so that the targets' rates add up.
        stats.rate_per_s = parts
            .iter()
            .filter_map(|part| part.ops.get(name))
            .map(|target_stats| target_stats.rate_per_s)
            .sum();
    }
    let part_counters = parts.iter().map(|part| &part.counters).collect::<Vec<_>>();
    let whole_window = measured.targets.iter().all(|target| target.end.is_some());
    let counters = if whole_window { totals::counters(job, &part_counters) } else { Default::default() };
    let waits = totals::waits(job, &parts.iter().map(|part| &part.waits).collect::<Vec<_>>());
    let seconds = parts.first().and_then(|part| part.window.as_ref()).map_or(0.0, |window| window.seconds);
    let delta = measured.targets.first().and_then(|target| target_part::host_delta(target, seconds));
    let mut figures = MetricMap::new();
    if whole_window && window.is_some() {
        figures = totals::metrics(&counters, &parts.iter().map(|part| &part.metrics).collect::<Vec<_>>());
        if let (Some(all), Some(delta)) = (ops.get("all"), &delta) {
            metrics::of_client(&mut figures, delta, all.rate_per_s);
            let edges =
                measured.targets.iter().filter_map(|target| target.begin.as_ref().zip(target.end.as_ref()));
            hosts::of_all(&mut figures, job, delta, edges);
            if !is_one_device(job, of_targets) {
                let why = "the targets' data is not on one block device of one host: see the figures of each \
                           target";
                metrics::device_names().for_each(|name| metrics::absent(&mut figures, name, why));
            }
        }
    }
    let whole = totals::whole(job, &parts.iter().map(|part| part.whole.as_ref()).collect::<Vec<_>>());
    let total = TargetFigures {
        sessions: job.plan.sessions(),
        reads_only: None,
        gate: target_part::gate(measured, &all.sessions),
        window,
        ops,
        metrics: figures,
        counters,
        whole,
        host_counters: Default::default(),
        waits,
        series: Series::default(),
        errors: target_part::errors(&all.sessions),
        whose: Default::default(),
        audit: Vec::new(),
    };
    (total, delta.map(|delta| delta.counters()).unwrap_or_default())
}

/// The window of all targets: sums where figures add up, else the worst value.
fn total_window(results: &SelectedResults<'_>, parts: &[TargetFigures]) -> Option<Window> {
    let windows: Vec<&Window> = parts.iter().map(|part| part.window.as_ref()).collect::<Option<_>>()?;
    let first = windows.first()?;
    let worst = |figure: fn(&Window) -> f64| windows.iter().map(|window| figure(window)).fold(0.0, f64::max);
    let sum = |figure: fn(&Window) -> f64| windows.iter().map(|window| figure(window)).sum::<f64>();
    let late = |figure: fn(&Window) -> u32| windows.iter().map(|window| figure(window)).sum();
    Some(Window {
        seconds: sum(|window| window.seconds) / windows.len() as f64,
        work_s: target_part::mean_work_s(&results.sessions),
        begin: first.begin.clone(),
        end: first.end.clone(),
        snapshot_us: (worst(|window| window.snapshot_us.0), worst(|window| window.snapshot_us.1)),
        edge_us_max: (worst(|window| window.edge_us_max.0), worst(|window| window.edge_us_max.1)),
        edge_late: (late(|window| window.edge_late.0), late(|window| window.edge_late.1)),
        counted: total_counted(&windows),
        unsure: total_unsure(&windows),
        before_s: sum(|window| window.before_s),
        busy_s: sum(|window| window.busy_s),
        closing_s: sum(|window| window.closing_s),
        polling_s: sum(|window| window.polling_s),
        unread: windows.iter().find_map(|window| window.unread.clone()),
        stall_us_max: first.stall_us_max,
        stall_s: first.stall_s,
        suspended_s: first.suspended_s,
        late_us_max: windows.iter().filter_map(|window| window.late_us_max).reduce(f64::max),
        overdue: first.overdue.map(|_| {
            let overdue_counts = || windows.iter().filter_map(|window| window.overdue);
            (overdue_counts().map(|overdue| overdue.0).sum(), overdue_counts().map(|overdue| overdue.1).sum())
        }),
        think: first.think.map(|_| target_part::think(&results.times())),
        hot: first.hot.map(|_| target_part::hot(results)),
    })
}

fn total_counted(windows: &[&Window]) -> Option<WorkCounts> {
    let mut total = WorkCounts::default();
    for window in windows {
        total.add(window.counted.as_ref()?);
    }
    Some(total)
}

fn total_unsure(windows: &[&Window]) -> Option<(WorkCounts, WorkCounts)> {
    let mut total = (WorkCounts::default(), WorkCounts::default());
    for (begin, end) in windows.iter().filter_map(|window| window.unsure.as_ref()) {
        total.0.add(begin);
        total.1.add(end);
    }
    (!total.0.is_empty() || !total.1.is_empty()).then_some(total)
}

/// Whether the data of all targets is on the same device.
fn is_one_device(job: &DriveJob<'_>, (here, far): (&Host, &[Host])) -> bool {
    let device = |at: usize| {
        let host = far.iter().find(|host| host.is_of_target(at + 1)).unwrap_or(here);
        let device = host.facts.get(&format!("place.{}.device", place_of_target(at + 1, "data")));
        device.map(|device| (&host.name, device))
    };
    let devices: BTreeSet<Option<(&String, &String)>> = (0..job.targets.len()).map(device).collect();
    devices.len() == 1 && !devices.contains(&None)
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
    let seconds = series_seconds(measured, &results.all().sessions);
    if seconds > 0.0 {
        collector.end(seconds);
    }
}

/// Seconds from the series' origin to the last counted moment.
fn series_seconds(measured: &RunMeasurement, results: &[&SessionResult]) -> f64 {
    match (measured.origin_ns, target_part::last_edge_ns(results)) {
        (Some(origin_ns), Some(last_ns)) => last_ns.saturating_sub(origin_ns) as f64 / 1e9,
        _ => 0.0,
    }
}

/// This machine; if there are several targets, place names include the target.
fn host(job: &DriveJob<'_>) -> Host {
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
    if job
        .targets
        .iter()
        .any(|target_context| target_context.identity.same_host && target_context.remote_host.is_none())
    {
        roles.insert(Role::Database);
    }
    Host { roles, ..dyno_host::facts(&paths) }
}
