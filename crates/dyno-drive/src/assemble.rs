//! From what was measured to a run record.
//!
//! Adds up the sessions' recorders and puts counters of database and host beside them. Judges nothing: the audit works on
//! the finished record alone.

use std::collections::BTreeMap;

use dyno_host::HostDelta;
use dyno_record::record::Whole;
use dyno_record::{
    Counters, ErrorTally, Gate, HostFacts, OpClass, RunRecord, SCHEMA_VERSION, Status, TargetFacts, Waits,
    Window,
};

use crate::collector::Collector;
use crate::metrics;
use crate::observe::{OWN_COMMITS, Taken};
use crate::recorder::{Life, Recorder};
use crate::run::{Job, Outcome};
use crate::summed::op_stats;

/// What the coordinator has measured.
#[derive(Default)]
pub(crate) struct Measured {
    pub(crate) sessions: u32,
    /// Threads that led them.
    pub(crate) threads: u32,
    pub(crate) gate_opened_ns: Option<u64>,
    pub(crate) connect_s: f64,
    pub(crate) origin_ns: Option<u64>,
    pub(crate) begin: Option<Taken>,
    pub(crate) begin_at: String,
    pub(crate) end: Option<Taken>,
    pub(crate) end_at: String,
    pub(crate) no_end: Option<String>,
    pub(crate) edge_late: (u32, u32),
    pub(crate) stall_ns_max: u64,
    pub(crate) whole_begin: Option<Taken>,
    pub(crate) whole_end: Option<Taken>,
    pub(crate) waits: Option<Waits>,
    pub(crate) broken_off: Vec<u32>,
}

/// The record of a run, without an audit.
pub(crate) fn record(
    job: &Job<'_>,
    measured: &Measured,
    recorders: &[Recorder],
    collector: Collector,
    outcome: Outcome,
) -> RunRecord {
    let window = window(measured, recorders);
    let seconds = window.as_ref().map_or(0.0, |window| window.seconds);
    let work_s = window.as_ref().map_or(0.0, Window::work_seconds);
    let ops = if window.is_some() { op_stats(job, recorders, work_s) } else { BTreeMap::new() };
    let counters = window_counters(measured, recorders);
    let host_delta = match (&measured.begin, &measured.end) {
        (Some(begin), Some(end)) => Some(HostDelta::between(&begin.host, &end.host, seconds)),
        _ => None,
    };
    let waits =
        measured.waits.clone().unwrap_or(Waits::Absent { absent: "the run ended before any sample".into() });
    let mut figures = BTreeMap::new();
    if let Some(all) = ops.get("all").filter(|_| measured.end.is_some()) {
        figures =
            metrics::of_database(&counters, if job.identity.counts_at_edges { work_s } else { seconds });
        metrics::of_work(&mut figures, all.count, all.rows, work_s);
        metrics::of_waits(&mut figures, &waits);
        if let Some(delta) = &host_delta {
            metrics::of_host(&mut figures, delta, all.rate_per_s, job.identity.same_host);
        }
    }
    let (status, reasons) = status(outcome, measured);
    let interval_s = job.plan.observe.interval.0.as_secs_f64();
    let series_s = series_seconds(measured, recorders);
    RunRecord {
        schema_version: SCHEMA_VERSION,
        id: job.run_id.clone(),
        started_at: job.started_at.clone(),
        ended_at: dyno_record::now_rfc3339(),
        dyno_version: job.dyno_version.clone(),
        status,
        reasons,
        variant: None,
        tags: Vec::new(),
        one_target_of: None,
        imported: None,
        plan: job.plan.clone(),
        part_of: None,
        targets: vec![TargetFacts {
            url: job.target.url(),
            engine: job.target.engine().to_owned(),
            identity: job.identity.clone(),
            data: Some(job.spec.clone()),
        }],
        host: host_facts(job),
        gate: gate(measured, recorders),
        window,
        ops,
        metrics: figures,
        counters,
        whole: whole(measured, recorders),
        host_counters: host_delta.map(|delta| delta.counters()).unwrap_or_default(),
        waits,
        series: if series_s > 0.0 { collector.finish(interval_s, series_s) } else { Default::default() },
        errors: errors(recorders),
        audit: Vec::new(),
    }
}

fn status(outcome: Outcome, measured: &Measured) -> (Status, Vec<String>) {
    let mut reasons = Vec::new();
    let status = match outcome {
        // Without its end snapshot nothing that the client counted was held against the database.
        Outcome::Done if !measured.broken_off.is_empty() || measured.no_end.is_some() => Status::Invalid,
        Outcome::Done => Status::Valid,
        Outcome::Interrupted => {
            reasons.push("stopped by the user before its end".to_owned());
            Status::Interrupted
        }
        Outcome::Failed(reason) => {
            reasons.push(reason);
            Status::Failed
        }
    };
    if !measured.broken_off.is_empty() {
        let numbers: Vec<_> = measured.broken_off.iter().take(10).map(u32::to_string).collect();
        reasons.push(format!(
            "{} sessions did not end within run.drain and were broken off: {}",
            measured.broken_off.len(),
            numbers.join(", ")
        ));
    }
    if let Some(reason) = &measured.no_end
        && !reasons.iter().any(|known| known.contains(reason.as_str()))
    {
        reasons.push(format!("there is no end snapshot: {reason}"));
    }
    (status, reasons)
}

/// Largest distance in µs of sessions' own moments from `at_ns`.
fn distance_us(recorders: &[Recorder], edge: usize, at_ns: u64) -> f64 {
    let moments = recorders.iter().filter_map(|r| r.moments.edge_ns[edge]);
    moments.map(|moment| moment.abs_diff(at_ns)).max().unwrap_or(0) as f64 / 1_000.0
}

/// Mean seconds from a session's first counted moment to its last.
fn mean_work_s(recorders: &[Recorder]) -> Option<f64> {
    let spans = recorders.iter().filter_map(|r| match r.moments.edge_ns {
        [Some(began_ns), Some(ended_ns)] => Some(ended_ns.saturating_sub(began_ns) as f64 / 1e9),
        _ => None,
    });
    let (sum_s, sessions) = spans.fold((0.0, 0u32), |(sum_s, count), span_s| (sum_s + span_s, count + 1));
    (sessions > 0).then(|| sum_s / f64::from(sessions))
}

/// The last moment at which any session counted.
fn last_edge_ns(recorders: &[Recorder]) -> Option<u64> {
    recorders.iter().filter_map(|r| r.moments.edge_ns[1]).max()
}

fn window(measured: &Measured, recorders: &[Recorder]) -> Option<Window> {
    let begin = measured.begin.as_ref()?;
    let end_ns = measured.end.as_ref().map(Taken::at_ns).or_else(|| last_edge_ns(recorders))?;
    let reading_us = |taken: &Taken| (taken.ended_ns - taken.began_ns) as f64 / 1_000.0;
    let late = recorders.iter().map(|r| r.moments.late_ns_max).max().unwrap_or(0);
    let busy_ns: u64 = recorders.iter().map(|r| r.moments.busy_ns).sum();
    Some(Window {
        seconds: end_ns.saturating_sub(begin.at_ns()) as f64 / 1e9,
        work_s: mean_work_s(recorders),
        begin: measured.begin_at.clone(),
        end: measured.end_at.clone(),
        snapshot_us: (reading_us(begin), measured.end.as_ref().map_or(0.0, reading_us)),
        edge_us_max: (distance_us(recorders, 0, begin.at_ns()), distance_us(recorders, 1, end_ns)),
        edge_late: measured.edge_late,
        busy_s: busy_ns as f64 / 1e9,
        stall_us_max: measured.stall_ns_max as f64 / 1_000.0,
        late_us_max: (late > 0).then_some(late as f64 / 1_000.0),
    })
}

/// Seconds from the series' origin to the last moment that counted.
fn series_seconds(measured: &Measured, recorders: &[Recorder]) -> f64 {
    match (measured.origin_ns, last_edge_ns(recorders)) {
        (Some(origin_ns), Some(last_ns)) => last_ns.saturating_sub(origin_ns) as f64 / 1e9,
        _ => 0.0,
    }
}

fn gate(measured: &Measured, recorders: &[Recorder]) -> Gate {
    let starts = || recorders.iter().filter_map(|r| r.moments.start_ns);
    let skew_ns = match (starts().min(), starts().max()) {
        (Some(first), Some(last)) => last - first,
        _ => 0,
    };
    Gate {
        sessions: starts().count() as u32,
        skew_us_max: skew_ns as f64 / 1_000.0,
        connect_s: measured.connect_s,
        threads: measured.threads,
    }
}

fn window_counters(measured: &Measured, recorders: &[Recorder]) -> Counters {
    let (Some(begin), Some(end)) = (&measured.begin, &measured.end) else {
        return Counters::default();
    };
    let mut counters = Counters::between(&begin.database, &end.database);
    let overhead: u64 =
        recorders.iter().map(|r| r.overhead_at_edge[1].saturating_sub(r.overhead_at_edge[0])).sum();
    *counters.native.entry(OWN_COMMITS.to_owned()).or_default() += overhead as f64;
    counters
}

fn whole(measured: &Measured, recorders: &[Recorder]) -> Option<Whole> {
    let (begin, end) = (measured.whole_begin.as_ref()?, measured.whole_end.as_ref()?);
    let mut life = Life::default();
    for recorder in recorders {
        let one = &recorder.life;
        for (sum, ops) in life.ops.iter_mut().zip(one.ops) {
            *sum += ops;
        }
        life.rows_read += one.rows_read;
        life.rows_updated += one.rows_updated;
        life.commits += one.commits;
        life.errors += one.errors;
        life.verified = (life.verified.0 + one.verified.0, life.verified.1 + one.verified.1);
        life.overhead_commits += one.overhead_commits;
    }
    let mut counters = Counters::between(&begin.database, &end.database);
    *counters.native.entry(OWN_COMMITS.to_owned()).or_default() += life.overhead_commits as f64;
    let named = OpClass::ALL.iter().map(|class| (class.name().to_owned(), life.ops[*class as usize]));
    Some(Whole {
        ops: named.filter(|(_, ops)| *ops > 0).collect(),
        rows_read: life.rows_read,
        rows_updated: life.rows_updated,
        commits: life.commits,
        errors: life.errors,
        verified_rows: life.verified,
        counters,
    })
}

fn errors(recorders: &[Recorder]) -> Vec<ErrorTally> {
    let mut tallies: BTreeMap<(String, String), ErrorTally> = BTreeMap::new();
    for tallied in recorders.iter().flat_map(|r| &r.errors) {
        let class = tallied.error.class.name().to_owned();
        let tally =
            tallies.entry((class.clone(), tallied.error.code.clone())).or_insert_with(|| ErrorTally {
                class,
                code: tallied.error.code.clone(),
                message: tallied.error.message.clone(),
                count: 0,
                reconnects: 0,
            });
        tally.count += tallied.count;
        tally.reconnects += tallied.reconnects;
    }
    tallies.into_values().collect()
}

fn host_facts(job: &Job<'_>) -> HostFacts {
    let paths: Vec<_> = job.host_paths.iter().map(|(name, path)| (name.as_str(), path.as_path())).collect();
    let mut facts = dyno_host::facts(&paths);
    facts.role = match job.identity.same_host {
        true => "client and database".to_owned(),
        false => "client only: the database runs on another host, or it cannot be told".to_owned(),
    };
    facts
}
