//! From what was measured of one target to its part of the record.
//!
//! Adds up the results of its sessions and puts its own counters beside them.

use std::collections::BTreeMap;

use dyno_host::HostDelta;
use dyno_record::{
    ALL, Counter, CounterDelta, Counters, ErrorTally, Gate, OwnPart, Series, Touch, Waits, Window,
    window::{Counted, HotOps, ThinkTime, Whole},
};
use dyno_workload::Classes;

use crate::cover::Cover;
use crate::hosts::Machine;
use crate::job::{Aim, Job};
use crate::life::Life;
use crate::marks::{Mark, Marks};
use crate::measured::{Measured, MeasuredTarget};
use crate::metrics;
use crate::observe::{Taken, add_overhead};
use crate::results::Handed;
use crate::session::{Many, SessionResult};
use crate::summed::{of_workload, op_stats};
use crate::thread_result::{HotCounts, Times};

/// Why figures of the whole machine are in no target's own part.
const OF_ALL: &str = "it is of all targets together: see the total";

/// What the sessions in `results` did on the target at `at`, and what it counted meanwhile.
pub(crate) fn own_part(
    job: &Job<'_>,
    at: usize,
    measured: &Measured,
    results: &Handed<'_>,
    series: Series,
) -> OwnPart {
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
        let cover = published
            .map_or_else(|| Cover::all(seconds), |window| Cover::of(window, &ops, classes.of_operations()));
        figures = metrics::of_database(&counters, &cover);
        if let Some(window) = &window {
            metrics::withhold_unsure(&mut figures, window);
        }
        let leading = (job.owns.len() > 1).then(|| of_workload(job, results, 0, work_s));
        metrics::of_work(&mut figures, all, leading.as_ref().unwrap_or(all), work_s);
        let scanning = classes.of_operations().iter().filter(|class| class.scans);
        if let Some(scans) = scanning.filter_map(|class| ops.get(&class.name)).next() {
            metrics::of_scans(&mut figures, scans, aim.spec.block_size, work_s);
        }
        if let Some(think) = window.as_ref().and_then(|window| window.think) {
            metrics::of_think(&mut figures, think.seconds, Many::of(sessions).sessions, work_s);
        }
        metrics::of_waits(&mut figures, &waits);
        if let Some(delta) = &host {
            let machine = machine(aim, target, delta);
            if let Some(machine) = &machine {
                machine.put_processors(&mut figures);
                machine.put_device(&mut figures, aim);
            }
            match job.is_several() {
                true => of_all_alone(&mut figures, aim.far.is_some()),
                false => metrics::of_client(&mut figures, delta, all.rate_per_s),
            }
        }
    }
    let mut host_counters = host.map(|delta| delta.counters()).unwrap_or_default();
    if job.is_several() {
        host_counters.retain(|name, _| aim.identity.same_host && name.starts_with("device."));
    }
    OwnPart {
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

/// Takes out of `counters` what is told of Dyno's own test data, where sessions worked on data of the user's own.
fn withhold_of_test_data(job: &Job<'_>, counters: &mut Counters) {
    if !job.is_own() {
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

/// The machine of a target's database in the window; `here` is what this machine did.
fn machine<'a>(aim: &Aim, target: &MeasuredTarget, here: &'a HostDelta) -> Option<Machine<'a>> {
    Some(Machine::of(aim, target.begin.as_ref()?, target.end.as_ref()?, here))
}

/// Takes out what is of all targets together: this program, and its machine where that is not one target's own.
fn of_all_alone(figures: &mut metrics::Metrics, is_own: bool) {
    let of_all = metrics::cpu_names().filter(|name| !is_own || *name == metrics::CLIENT);
    of_all.for_each(|name| metrics::absent(figures, name, OF_ALL));
}

/// Sessions of which nobody knows what the snapshot at an edge holds.
fn sessions_late(results: &[&SessionResult], edge: usize) -> u32 {
    Many::of(results).late[edge]
}

/// Largest distance in µs of the moments up to which the snapshot at `at_ns` holds sessions' work.
fn distance_us(results: &[&SessionResult], edge: usize, at_ns: u64) -> f64 {
    let ends = Many::of(results).most_ns[edge].map(|(first_ns, last_ns)| [first_ns, last_ns]);
    ends.into_iter().flatten().map(|end_ns| end_ns.abs_diff(at_ns)).max().unwrap_or(0) as f64 / 1_000.0
}

/// What `from` lacks of what sessions had done by `to`.
fn done_between(job: &Job<'_>, from: &Mark, to: &Mark, classes: &Classes) -> Counted {
    let (from, to) = (&from.life, &to.life);
    let ops = to.ops.iter().zip(&from.ops).map(|(to, from)| to.saturating_sub(*from)).collect::<Vec<_>>();
    let rows = |touch: Touch| to.rows[touch as usize].saturating_sub(from.rows[touch as usize]);
    Counted {
        ops: by_name(classes, &ops),
        rows_read: rows(Touch::Read),
        rows_updated: rows(Touch::Updated),
        rows_inserted: rows(Touch::Inserted),
        rows_deleted: rows(Touch::Deleted),
        commits: to.commits.saturating_sub(from.commits),
        transactions: job.is_own().then(|| to.transactions.saturating_sub(from.transactions)),
        errors: to.errors.saturating_sub(from.errors),
        beside: (to.overhead_commits - from.overhead_commits).max(0).cast_unsigned(),
    }
}

/// What there is of each class, of those of which there is some.
fn by_name(classes: &Classes, ops: &[u64]) -> BTreeMap<String, u64> {
    let named = classes.all().map(|class| (classes.name(class).to_owned(), ops[class.index()]));
    named.filter(|(_, ops)| *ops > 0).collect()
}

/// What the two snapshots have between them of the sessions' work, and how much of it may lie beyond the begin or the end.
fn counted(
    job: &Job<'_>,
    results: &[&SessionResult],
    classes: &Classes,
) -> (Counted, Option<(Counted, Counted)>) {
    let (mut all, mut unsure) = (Counted::default(), (Counted::default(), Counted::default()));
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

/// Mean seconds from the window's begin to a session's last counted moment.
pub(crate) fn mean_work_s(results: &[&SessionResult]) -> Option<f64> {
    let (sum_s, sessions) = Many::of(results).spans;
    (sessions > 0).then(|| sum_s / f64::from(sessions))
}

/// The last moment at which any session counted.
pub(crate) fn last_edge_ns(results: &[&SessionResult]) -> Option<u64> {
    results.iter().filter_map(|r| r.moments.edge_ns[1]).max()
}

fn window(
    job: &Job<'_>,
    measured: &Measured,
    target: &MeasuredTarget,
    results: &Handed<'_>,
) -> Option<Window> {
    let begin = target.begin.as_ref()?;
    let (sessions, times) = (results.sessions.as_slice(), results.times());
    let end_ns = target.end.as_ref().map(Taken::at_ns).or_else(|| last_edge_ns(sessions))?;
    let reading_us = |taken: &Taken| (taken.ended_ns - taken.began_ns) as f64 / 1_000.0;
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
        // Of a leader whose sessions are on other hosts it is told how late it was: what it waited for is theirs.
        stall_s: measured.fleet.is_none().then_some(measured.stalls.sum_ns as f64 / 1e9),
        suspended_s: measured.fleet.is_none().then_some(measured.stalls.suspended_ns as f64 / 1e9),
        late_us_max: (late > 0).then_some(late as f64 / 1_000.0),
        overdue: job.plan.has_rate().then_some(times.overdue),
        think: Some(think(&times)).filter(|think| job.plan.workload.think_every > 0 || think.sleeps > 0),
        hot: (job.plan.workload.hot_spot_every > 0 || job.plan.workload.hot_schema_every > 0)
            .then(|| hot(results)),
    })
}

pub(crate) fn think(times: &Times) -> ThinkTime {
    ThinkTime { seconds: times.thought_ns as f64 / 1e9, sleeps: times.thoughts }
}

pub(crate) fn hot(results: &Handed<'_>) -> HotOps {
    let HotCounts { spot, keyed, schema, movable } = results.hot();
    HotOps { spot, keyed, schema, movable }
}

pub(crate) fn gate(measured: &Measured, results: &[&SessionResult]) -> Gate {
    let many = Many::of(results);
    let skew_ns = many.starts_ns.map_or(0, |(first_ns, last_ns)| last_ns.saturating_sub(first_ns));
    Gate {
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
    target.vigil.tell_window(&mut counters);
    withhold_restarted(results, &mut counters);
    let overhead = |result: &&SessionResult| match &result.marks {
        [Marks { low: Some(begin), .. }, Marks { low: Some(end), .. }] => {
            end.life.overhead_commits - begin.life.overhead_commits
        }
        _ => 0,
    };
    let overhead: i64 = results.iter().map(overhead).sum();
    add_overhead(&mut counters.native, overhead);
    counters
}

fn whole(
    job: &Job<'_>,
    target: &MeasuredTarget,
    results: &[&SessionResult],
    classes: &Classes,
) -> Option<Whole> {
    let (begin, end) = (target.whole_begin.as_ref()?, target.whole_end.as_ref()?);
    let mut life = Life::new(classes.count());
    results.iter().for_each(|result| life.add(&result.life));
    let mut counters = Counters::between(&begin.database, &end.database);
    target.vigil.tell_whole(&mut counters);
    withhold_restarted(results, &mut counters);
    add_overhead(&mut counters.native, life.overhead_commits);
    Some(Whole {
        ops: by_name(classes, &life.ops),
        rows_read: life.rows[Touch::Read as usize],
        rows_updated: life.rows[Touch::Updated as usize],
        rows_inserted: life.rows[Touch::Inserted as usize],
        rows_deleted: life.rows[Touch::Deleted as usize],
        rows_left: target.rows_left,
        commits: life.commits,
        transactions: job.is_own().then_some(life.transactions),
        errors: life.errors,
        verified_rows: life.verified,
        counters,
    })
}

/// Takes out all counters where the server was restarted while sessions had lost it, in a run that measures outages: they began
/// again, so their difference is of nothing. What changed stays.
fn withhold_restarted(results: &[&SessionResult], counters: &mut Counters) {
    let has_outage = results
        .iter()
        .any(|result| result.answers.as_ref().is_some_and(|answers| !answers.losses.is_empty()));
    if !has_outage || counters.restart().is_none() {
        return;
    }
    let absent = "the server was restarted in an outage: its counters began again".to_owned();
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
