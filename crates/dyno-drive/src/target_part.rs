//! Builds one target's part of the record from the measurements.
//!
//! It adds up the results of the target's sessions and adds the target's counters.

use std::collections::BTreeMap;

use dyno_host::HostDelta;
use dyno_record::{
    ALL, Counter, CounterDelta, Counters, ErrorTally, RowEffect, Series, StartGate, TargetFigures, Waits,
    Window,
    window::{HotOps, LifetimeTotals, ThinkTime, WorkCounts},
};
use dyno_workload::Classes;

use crate::boundary_marks::{SessionMark, SessionMarkBounds};
use crate::cover::CoveredSeconds;
use crate::hosts::Machine;
use crate::job::{DriveJob, TargetContext};
use crate::lifetime_counts::LifetimeCounts;
use crate::measured::{MeasuredTarget, RunMeasurement};
use crate::metrics;
use crate::observe::{TargetSnapshot, add_overhead};
use crate::results::SelectedResults;
use crate::session::{FoldedSessions, SessionResult};
use crate::summed::{of_workload, op_stats};
use crate::thread_result::{HotCounts, SessionTimes};

/// Why a target's own part lacks the figures of the whole machine.
const OF_ALL: &str = "it is measured for all targets together: see the total";

/// What the sessions in `results` did on the target at `at`, and what its counters show.
pub(crate) fn own_part(
    job: &DriveJob<'_>,
    at: usize,
    measured: &RunMeasurement,
    results: &SelectedResults<'_>,
    series: Series,
) -> TargetFigures {
    let (aim, target) = (&job.targets[at], &measured.targets[at]);
    let window = window(job, measured, target, results);
    let seconds = window.as_ref().map_or(0.0, |window| window.seconds);
    let work_s = window.as_ref().map_or(0.0, Window::work_seconds);
    let ops = if window.is_some() { op_stats(job, results, work_s) } else { BTreeMap::new() };
    let classes = job.classes();
    let sessions = results.sessions.as_slice();
    let mut counters = window_counters(target, sessions);
    withhold_of_test_data(job, &mut counters);
    let host = host_delta(target, seconds);
    let waits =
        target.waits.clone().unwrap_or(Waits::Absent { absent: "the run ended before any sample".into() });
    let mut figures = BTreeMap::new();
    if let Some(all) = ops.get(ALL).filter(|_| target.end.is_some()) {
        let published = window.as_ref().filter(|_| aim.identity.counting.at_edges);
        let cover = published.map_or_else(
            || CoveredSeconds::all(seconds),
            |window| CoveredSeconds::of(window, &ops, classes.of_operations()),
        );
        figures = metrics::of_database(&counters, &cover);
        if let Some(window) = &window {
            metrics::withhold_unsure(&mut figures, window);
        }
        let leading = (job.custom_workloads.len() > 1).then(|| of_workload(job, results, 0, work_s));
        metrics::of_work(&mut figures, all, leading.as_ref().unwrap_or(all), work_s);
        let scanning = classes.of_operations().iter().filter(|class| class.scans);
        if let Some(scans) = scanning.filter_map(|class| ops.get(&class.name)).next() {
            metrics::of_scans(&mut figures, scans, aim.spec.block_size, work_s);
        }
        if let Some(think) = window.as_ref().and_then(|window| window.think) {
            metrics::of_think(&mut figures, think.seconds, FoldedSessions::of(sessions).sessions, work_s);
        }
        metrics::of_waits(&mut figures, &waits);
        if let Some(delta) = &host {
            let machine = target_machine(aim, target, delta);
            if let Some(machine) = &machine {
                machine.put_processors(&mut figures);
                machine.put_device(&mut figures, aim);
            }
            match job.has_several_targets() {
                true => remove_target_only_figures(&mut figures, aim.remote_host.is_some()),
                false => metrics::of_client(&mut figures, delta, all.rate_per_s),
            }
        }
    }
    let mut host_counters = host.map(|delta| delta.counters()).unwrap_or_default();
    if job.has_several_targets() {
        host_counters.retain(|name, _| aim.identity.same_host && name.starts_with("device."));
    }
    TargetFigures {
        sessions: job.plan.sessions_of(at),
        reads_only: aim.reads_only.clone(),
        gate: gate(measured, sessions),
        window,
        ops,
        metrics: figures,
        counters,
        whole: whole(job, target, sessions, &classes).map(|mut whole| {
            withhold_of_test_data(job, &mut whole.counters);
            whole
        }),
        host_counters,
        waits,
        series,
        errors: errors(sessions),
        whose: Default::default(),
        audit: Vec::new(),
    }
}

/// Removes the counters of Dyno's test data, if sessions worked on the user's own data.
fn withhold_of_test_data(job: &DriveJob<'_>, counters: &mut Counters) {
    if !job.is_custom() {
        return;
    }
    counters.own.clear();
    counters.elsewhere.remove(&Counter::RowsWritten);
}

/// What the machine did between a target's two snapshots.
pub(crate) fn host_delta(target: &MeasuredTarget, seconds: f64) -> Option<HostDelta> {
    let (begin, end) = (target.begin.as_ref()?, target.end.as_ref()?);
    Some(HostDelta::between(&begin.host, &end.host, seconds))
}

/// The machine of a target's database in the window; `local_delta` is what this machine did.
fn target_machine<'a>(
    context: &TargetContext,
    target: &MeasuredTarget,
    local_delta: &'a HostDelta,
) -> Option<Machine<'a>> {
    Some(Machine::of(context, target.begin.as_ref()?, target.end.as_ref()?, local_delta))
}

/// Removes figures that belong to all targets together: those of this program, and of its machine unless the
/// target is alone on it.
fn remove_target_only_figures(figures: &mut metrics::MetricMap, is_own: bool) {
    let of_all = metrics::cpu_names().filter(|name| !is_own || *name == metrics::CLIENT);
    of_all.for_each(|name| metrics::absent(figures, name, OF_ALL));
}

/// Number of sessions whose work in the snapshot of a boundary is unknown.
fn sessions_late(results: &[&SessionResult], edge: usize) -> u32 {
    FoldedSessions::of(results).late[edge]
}

/// Largest distance in µs between `at_ns` and the times up to which the snapshot includes sessions' work.
fn distance_us(results: &[&SessionResult], edge: usize, at_ns: u64) -> f64 {
    let ends = FoldedSessions::of(results).most_ns[edge].map(|(first_ns, last_ns)| [first_ns, last_ns]);
    ends.into_iter().flatten().map(|end_ns| end_ns.abs_diff(at_ns)).max().unwrap_or(0) as f64 / 1_000.0
}

/// The work between two marks of a session.
fn done_between(job: &DriveJob<'_>, from: &SessionMark, to: &SessionMark, classes: &Classes) -> WorkCounts {
    let (from, to) = (&from.life, &to.life);
    let ops = to.ops.iter().zip(&from.ops).map(|(to, from)| to.saturating_sub(*from)).collect::<Vec<_>>();
    let rows = |touch: RowEffect| to.rows[touch as usize].saturating_sub(from.rows[touch as usize]);
    WorkCounts {
        ops: by_name(classes, &ops),
        rows_read: rows(RowEffect::Read),
        rows_updated: rows(RowEffect::Updated),
        rows_inserted: rows(RowEffect::Inserted),
        rows_deleted: rows(RowEffect::Deleted),
        commits: to.commits.saturating_sub(from.commits),
        transactions: job.is_custom().then(|| to.transactions.saturating_sub(from.transactions)),
        unproven_commits: to.unproven_commits.saturating_sub(from.unproven_commits),
        empty_commits: to.empty_commits.saturating_sub(from.empty_commits),
        errors: to.errors.saturating_sub(from.errors),
        beside: (to.overhead_commits - from.overhead_commits).max(0).cast_unsigned(),
    }
}

/// The counts by class name, without classes that have none.
fn by_name(classes: &Classes, ops: &[u64]) -> BTreeMap<String, u64> {
    let named = classes.all().map(|class| (classes.name(class).to_owned(), ops[class.index()]));
    named.filter(|(_, ops)| *ops > 0).collect()
}

/// The sessions' work between the two snapshots, and how much of it may lie outside.
fn counted(
    job: &DriveJob<'_>,
    results: &[&SessionResult],
    classes: &Classes,
) -> (WorkCounts, Option<(WorkCounts, WorkCounts)>) {
    let (mut all, mut unsure) = (WorkCounts::default(), (WorkCounts::default(), WorkCounts::default()));
    for result in results {
        let [begin, end] = &result.marks;
        let (Some(first), Some(last)) = (&begin.low, &end.low) else { continue };
        all.add(&done_between(job, first, last, classes));
        for (sum, marks) in [(&mut unsure.0, begin), (&mut unsure.1, end)] {
            if let (Some(low), Some(high)) = (&marks.low, &marks.high) {
                sum.add(&done_between(job, low, high, classes));
            }
        }
    }
    let is_sure = unsure.0.is_empty() && unsure.1.is_empty();
    (all, (!is_sure).then_some(unsure))
}

/// Mean seconds from the window's begin to a session's last counted operation.
pub(crate) fn mean_work_s(results: &[&SessionResult]) -> Option<f64> {
    let (sum_s, sessions) = FoldedSessions::of(results).spans;
    (sessions > 0).then(|| sum_s / f64::from(sessions))
}

/// The last time at which any session counted.
pub(crate) fn last_edge_ns(results: &[&SessionResult]) -> Option<u64> {
    results.iter().filter_map(|r| r.moments.edge_ns[1]).max()
}

fn window(
    job: &DriveJob<'_>,
    measured: &RunMeasurement,
    target: &MeasuredTarget,
    results: &SelectedResults<'_>,
) -> Option<Window> {
    let begin = target.begin.as_ref()?;
    let (sessions, times) = (results.sessions.as_slice(), results.times());
    let end_ns = target.end.as_ref().map(TargetSnapshot::at_ns).or_else(|| last_edge_ns(sessions))?;
    let reading_us = |taken: &TargetSnapshot| (taken.ended_ns - taken.began_ns) as f64 / 1_000.0;
    let late = times.late_ns_max;
    let (counted, unsure) = counted(job, sessions, &job.classes());
    Some(Window {
        seconds: end_ns.saturating_sub(begin.at_ns()) as f64 / 1e9,
        work_s: mean_work_s(sessions),
        begin: measured.begin_at.clone(),
        end: measured.end_at.clone(),
        snapshot_us: (reading_us(begin), target.end.as_ref().map_or(0.0, reading_us)),
        edge_us_max: (
            distance_us(sessions, 0, target.begin_counts_ns.unwrap_or_else(|| begin.at_ns())),
            distance_us(sessions, 1, end_ns),
        ),
        edge_late: (sessions_late(sessions, 0), sessions_late(sessions, 1)),
        counted: target.end.as_ref().map(|_| counted),
        unsure: unsure.filter(|_| target.end.is_some()),
        before_s: times.before_ns as f64 / 1e9,
        busy_s: times.busy_ns as f64 / 1e9,
        closing_s: times.closing_ns as f64 / 1e9,
        polling_s: times.polling_ns as f64 / 1e9,
        unread: target.unread.clone(),
        stall_us_max: measured.stalls.max_ns as f64 / 1_000.0,
        // For a controller of agents only its own delay is reported: stalls belong to the agents' processes.
        stall_s: measured.fleet.is_none().then_some(measured.stalls.sum_ns as f64 / 1e9),
        suspended_s: measured.fleet.is_none().then_some(measured.stalls.suspended_ns as f64 / 1e9),
        late_us_max: (late > 0).then_some(late as f64 / 1_000.0),
        overdue: job.plan.has_rate().then_some(times.overdue),
        think: Some(think(&times)).filter(|think| job.plan.workload.think_every > 0 || think.sleeps > 0),
        hot: (job.plan.workload.hot_spot_every > 0 || job.plan.workload.hot_schema_every > 0)
            .then(|| hot(results)),
    })
}

pub(crate) fn think(times: &SessionTimes) -> ThinkTime {
    ThinkTime { seconds: times.thought_ns as f64 / 1e9, sleeps: times.thoughts }
}

pub(crate) fn hot(results: &SelectedResults<'_>) -> HotOps {
    let HotCounts { spot, keyed, schema, movable } = results.hot();
    HotOps { spot, keyed, schema, movable }
}

pub(crate) fn gate(measured: &RunMeasurement, results: &[&SessionResult]) -> StartGate {
    let many = FoldedSessions::of(results);
    let skew_ns = many.starts_ns.map_or(0, |(first_ns, last_ns)| last_ns.saturating_sub(first_ns));
    StartGate {
        sessions: many.started,
        skew_us_max: skew_ns as f64 / 1_000.0,
        connect_s: measured.connect_s,
        threads: measured.threads,
        placement: measured.placement,
    }
}

fn window_counters(target: &MeasuredTarget, results: &[&SessionResult]) -> Counters {
    let (Some(begin), Some(end)) = (&target.begin, &target.end) else {
        return Counters::default();
    };
    let mut counters = Counters::between(&begin.database, &end.database);
    target.watchdog.write_window(&mut counters);
    withhold_restarted(results, &mut counters);
    let overhead = |result: &&SessionResult| match &result.marks {
        [SessionMarkBounds { low: Some(begin), .. }, SessionMarkBounds { low: Some(end), .. }] => {
            end.life.overhead_commits - begin.life.overhead_commits
        }
        _ => 0,
    };
    let overhead: i64 = results.iter().map(overhead).sum();
    add_overhead(&mut counters.native, overhead);
    counters
}

fn whole(
    job: &DriveJob<'_>,
    target: &MeasuredTarget,
    results: &[&SessionResult],
    classes: &Classes,
) -> Option<LifetimeTotals> {
    let (begin, end) = (target.whole_begin.as_ref()?, target.whole_end.as_ref()?);
    let mut life = LifetimeCounts::new(classes.count());
    results.iter().for_each(|result| life.add(&result.life));
    let mut counters = Counters::between(&begin.database, &end.database);
    target.watchdog.write_whole(&mut counters);
    withhold_restarted(results, &mut counters);
    add_overhead(&mut counters.native, life.overhead_commits);
    Some(LifetimeTotals {
        ops: by_name(classes, &life.ops),
        rows_read: life.rows[RowEffect::Read as usize],
        rows_updated: life.rows[RowEffect::Updated as usize],
        rows_inserted: life.rows[RowEffect::Inserted as usize],
        rows_deleted: life.rows[RowEffect::Deleted as usize],
        rows_left: target.rows_left,
        commits: life.commits,
        transactions: job.is_custom().then_some(life.transactions),
        unproven_commits: life.unproven_commits,
        empty_commits: life.empty_commits,
        errors: life.errors,
        verified_rows: life.verified,
        counters,
    })
}

/// Removes all counters if the server was restarted while sessions had lost it, in a run that measures
/// outages. The counters began again at 0, so their deltas are meaningless. Changes of settings stay.
fn withhold_restarted(results: &[&SessionResult], counters: &mut Counters) {
    let has_outage = results
        .iter()
        .any(|result| result.answers.as_ref().is_some_and(|answers| !answers.losses.is_empty()));
    if !has_outage || counters.restart().is_none() {
        return;
    }
    let absent = "the server restarted during an outage and reset its counters".to_owned();
    for counter in Counter::ALL {
        counters.portable.insert(counter, CounterDelta::Absent { absent: absent.clone() });
    }
    counters.native.clear();
    counters.falls.clear();
    counters.own.clear();
    counters.elsewhere.clear();
}

pub(crate) fn errors(results: &[&SessionResult]) -> Vec<ErrorTally> {
    let mut tallies: BTreeMap<(String, String), ErrorTally> = BTreeMap::new();
    for one in results.iter().flat_map(|r| &r.errors) {
        tallies
            .entry((one.class.clone(), one.code.clone()))
            .and_modify(|tally| {
                tally.count += one.count;
                tally.reconnects += one.reconnects;
                tally.retried += one.retried;
                tally.in_doubt += one.in_doubt;
            })
            .or_insert_with(|| one.clone());
    }
    tallies.into_values().collect()
}
