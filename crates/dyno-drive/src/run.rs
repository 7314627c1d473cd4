//! One run, from job to record: starts observers and sessions, and lets the conductor lead them.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::channel;

use dyno_engine::{TargetError, TargetErrorKind};
use dyno_record::{Fleet, RunRecord, Waits};

use crate::assemble;
use crate::collector::Collector;
use crate::conductor::Conductor;
use crate::crew::{Crew, Muster};
use crate::job::{Aim, Job, Outcome};
use crate::leftover::{self, Leftover};
use crate::measured::{Finished, Measured, MeasuredTarget};
use crate::observe::{ObserverThread, Reopen, ReopenSampler, SamplerThread};
use crate::results::Results;
use crate::thread::NO_THREAD;
use crate::threads::{Feed, Threads};
use crate::watch::{Event, Watch};
use crate::watcher::Watcher;

/// Runs `job` to its end and returns its record, without an audit, and what its sessions have left in the tables: to be
/// removed when the record is safe.
///
/// # Errors
/// Nothing could be started: the target cannot be observed, or the machine gives no thread to do it. From the moment that
/// sessions start, every end has a record.
pub fn run(job: &Job<'_>, watch: &dyn Watch) -> Result<(RunRecord, Vec<Leftover>), TargetError> {
    run_by(job, watch, None)
}

/// As [`run`], by a crew that `muster` gets together: threads of this process where there is nobody else.
///
/// # Errors
/// As [`run`]; or there is no crew.
pub fn run_by(
    job: &Job<'_>,
    watch: &dyn Watch,
    muster: Option<&dyn Muster>,
) -> Result<(RunRecord, Vec<Leftover>), TargetError> {
    let Finished { measured, results, series, outcome } = measure(job, watch, muster)?;
    let left = leftover::of_run(job, &results);
    Ok((assemble::record(job, &measured, &results, series, outcome), left))
}

/// Runs `job` to its end.
fn measure(job: &Job<'_>, watch: &dyn Watch, muster: Option<&dyn Muster>) -> Result<Finished, TargetError> {
    let no_thread = |error: std::io::Error| {
        TargetError::new(TargetErrorKind::Database, format!("no thread could be started: {error}"))
            .hint(NO_THREAD)
            .cause(error)
    };
    job.targets.iter().for_each(|aim| aim.target.driven_elsewhere(muster.is_some()));
    let mut watchers = Vec::with_capacity(job.targets.len());
    for at in 0..job.targets.len() {
        watchers.push(start_watcher(job, at, &no_thread)?);
    }
    let mut conductor = Conductor::new(job, watch, watchers);
    // Whoever comes from elsewhere looks at the targets, too: before the counters are read that the whole run is held against.
    let awaiting = |there, of| watch.event(&Event::Awaiting { there, of });
    let mustered = muster.map(|muster| muster.start(job, &awaiting)).transpose()?;
    conductor.begin();
    let connect_began_ns = job.clock.now_ns();
    let (mut crew, feed): (Box<dyn Crew>, Feed) = match mustered {
        Some((crew, filled)) => (crew, Feed { filled, empties: Vec::new() }),
        None => {
            let (threads, feed) = Threads::start(job, &conductor.looks(), (0..job.plan.sessions()).collect());
            (Box::new(threads), feed)
        }
    };
    crew.connect();
    let mut collector = Collector::new(job.targets.len(), job.series(), feed.filled, feed.empties);
    let outcome = conductor.conduct(crew.as_mut(), &mut collector, connect_began_ns);
    Ok(conductor.finish(crew, collector, outcome))
}

/// The record of a run whose leader was lost, of what its sessions measured: nobody read the database's counters, so it is no result.
pub fn without_leader(job: &Job<'_>, results: &Results, fleet: Fleet, reason: String) -> RunRecord {
    assemble::without_leader(job, results, fleet, reason)
}

/// The record of a run that has begun: all that is known before any of it is measured. Reads the host's facts, which
/// takes milliseconds.
pub fn draft(job: &Job<'_>) -> RunRecord {
    let interval_s = job.plan.observe.interval.0.as_secs_f64();
    let targets = job.targets.iter().map(|_| MeasuredTarget::default()).collect();
    let measured = Measured { sessions: job.plan.sessions(), targets, ..Measured::default() };
    let nothing = Collector::new(job.targets.len(), job.series(), channel().1, Vec::new());
    let mut draft =
        assemble::record(job, &measured, &Results::default(), nothing.into_series(), Outcome::Interrupted);
    draft.series.interval_s = interval_s;
    draft
}

/// Starts observer and sampler of the database at `at`.
fn start_watcher(
    job: &Job<'_>,
    at: usize,
    no_thread: &dyn Fn(std::io::Error) -> TargetError,
) -> Result<Watcher, TargetError> {
    let aim = &job.targets[at];
    let sampler_commits = Arc::new(AtomicU64::new(0));
    let (sampler, no_waits) = start_sampler(job, aim, &sampler_commits).map_err(no_thread)?;
    let names = job.needs(aim).custom.map(|custom| custom.names).unwrap_or_default();
    let observer = aim.target.observer_of_names(&aim.spec, &names).map_err(|error| {
        let message = format!("{}{}", job.label(at), error.message);
        TargetError { message, ..error }
    })?;
    let clock = Arc::clone(&job.clock);
    let (target, spec) = (Arc::clone(&aim.target), aim.spec.clone());
    let reopen: Option<Reopen> =
        job.reconnects().then(|| Box::new(move || target.observer_of_names(&spec, &names)) as Reopen);
    let observer = ObserverThread::start(
        observer,
        (aim.host_paths.clone(), aim.far.as_ref()),
        clock,
        sampler_commits,
        reopen,
    )
    .map_err(no_thread)?;
    Ok(Watcher::new(job.label(at), observer, sampler, no_waits, job.reconnects()))
}

/// Starts the sampler, or says why there is none.
fn start_sampler(
    job: &Job<'_>,
    aim: &Aim,
    commits: &Arc<AtomicU64>,
) -> std::io::Result<(Option<SamplerThread>, Option<Waits>)> {
    let Some(rate) = job.plan.observe.waits else {
        return Ok((None, Some(Waits::Absent { absent: "switched off in the plan (observe.waits)".into() })));
    };
    match aim.target.sampler() {
        Ok(sampler) => {
            let clock = Arc::clone(&job.clock);
            let target = Arc::clone(&aim.target);
            let reopen: Option<ReopenSampler> =
                job.reconnects().then(|| Box::new(move || target.sampler()) as ReopenSampler);
            let thread = SamplerThread::start(sampler, rate.0, clock, Arc::clone(commits), reopen)?;
            Ok((Some(thread), None))
        }
        Err(error) => Ok((None, Some(Waits::Absent { absent: error.to_string() }))),
    }
}

#[cfg(test)]
mod tests {
    use dyno_engine::{Cancel, ErrorClass, MonotonicClock, OpError, Target as _};
    use dyno_plan::{Plan, Rate};

    use super::*;
    use crate::scripted::{Act, Script, ScriptedTarget};
    use crate::testing;
    use crate::watch::Unwatched;

    fn plan(urls: &[&str], rate: Option<f64>) -> Plan {
        let mut plan: Plan = serde_json::from_value(serde_json::json!({
            "version": 1,
            "target": { "url": "sqlite:a", "connect_timeout": "1s" },
            "data": { "schemas": 1, "scale": "1000 blocks", "scan_scale": "0 blocks", "compressible": 0, "seed": 42,
                      "load_parallel": 1 },
            "workload": { "update_pct": 30, "scan_pct": 0, "lookup_pct": 20, "work_unit": 8, "redo": "lite",
                          "drive": "client", "arrivals": "constant", "seed": 1, "think_every": 50,
                          "think_min": "1ms", "think_max": "2ms" },
            "run": { "sessions_per_schema": 4, "warmup": "0s", "ops_per_session": 200, "drain": "500ms" },
            "observe": { "interval": "50ms" }
        }))
        .unwrap();
        plan.target.urls = urls.iter().map(|url| url.parse().unwrap()).collect();
        plan.workload.rate = rate.map(Rate);
        plan
    }

    fn job(plan: &Plan) -> Job<'_> {
        let script: Arc<Script> = Arc::new(|_, number, _| match number % 20 {
            19 => Act::Fail(OpError {
                class: ErrorClass::Retryable,
                code: "E1".into(),
                message: "scripted".into(),
            }),
            _ => Act::Take(0),
        });
        let aim = |_| {
            let target = ScriptedTarget::new(Arc::clone(&script), Arc::new(|_| std::thread::yield_now()));
            let identity = target.identify().unwrap();
            Aim::new(Arc::new(target), identity, testing::spec(1_000))
        };
        Job {
            run_id: "test".into(),
            started_at: "2026-01-01T00:00:00Z".into(),
            run_stamp: 7,
            plan,
            targets: plan.target.all().iter().map(aim).collect(),
            owns: Vec::new(),
            clock: Arc::new(MonotonicClock::default()),
            cancel: Cancel::default(),
            dyno_version: "test".into(),
            series_points_max: dyno_record::OVERVIEW_POINTS_MAX,
        }
    }

    #[test]
    fn what_sessions_hand_in_may_travel_as_bytes() {
        for (urls, rate) in [(&[][..], None), (&["sqlite:a", "sqlite:b"], Some(2_000.0))] {
            let plan = plan(urls, rate);
            let job = job(&plan);
            let Finished { measured, results, series, outcome } = measure(&job, &Unwatched, None).unwrap();
            let read: Results = serde_json::from_slice(&serde_json::to_vec(&results).unwrap()).unwrap();
            assert_eq!(read, results);
            let here = assemble::record(&job, &measured, &results, series.clone(), outcome.clone());
            let mut there = assemble::record(&job, &measured, &read, series.clone(), outcome.clone());
            let mut folded: Results = serde_json::from_slice(&serde_json::to_vec(&results).unwrap()).unwrap();
            folded.fold();
            assert_eq!(folded.sessions.len(), job.targets.len());
            let mut sum = assemble::record(&job, &measured, &folded, series, outcome);
            // What is read anew for each record.
            there.ended_at.clone_from(&here.ended_at);
            there.hosts[0].facts.clone_from(&here.hosts[0].facts);
            assert_eq!(there, here);
            sum.ended_at.clone_from(&here.ended_at);
            sum.hosts[0].facts.clone_from(&here.hosts[0].facts);
            // Sums of seconds depend on their order in the last digit, and nothing else is different.
            let seconds = |record: &RunRecord| record.window.as_ref().unwrap().work_seconds();
            assert!((seconds(&sum) - seconds(&here)).abs() < 1e-9);
            assert_eq!(
                (&sum.ops.len(), &sum.errors, &sum.whole),
                (&here.ops.len(), &here.errors, &here.whole)
            );
            for (name, ops) in &here.ops {
                let folded = &sum.ops[name];
                assert_eq!(
                    (folded.count, folded.rows, &folded.service_us),
                    (ops.count, ops.rows, &ops.service_us)
                );
            }
            let (window, of_sum) = (here.window.as_ref().unwrap(), sum.window.as_ref().unwrap());
            assert_eq!((&of_sum.counted, &of_sum.unsure), (&window.counted, &window.unsure));
            assert_eq!((of_sum.edge_us_max, of_sum.edge_late), (window.edge_us_max, window.edge_late));
            assert_eq!(
                (sum.gate.sessions, sum.gate.skew_us_max),
                (here.gate.sessions, here.gate.skew_us_max)
            );
            assert!(!here.errors.is_empty(), "there is none to travel");
            assert!(here.ops["update"].service_us.p99.is_some(), "{:?}", here.ops);
            assert!(here.window.unwrap().counted.unwrap().rows() > 0);
        }
    }
}
