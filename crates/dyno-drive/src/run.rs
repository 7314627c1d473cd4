//! Executes one run: starts observers and sessions, and lets the conductor control them.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::channel;

use dyno_engine::{TargetError, TargetErrorKind};
use dyno_record::{Fleet, RunRecord, Waits};

use crate::assemble;
use crate::collector::IntervalCollector;
use crate::conductor::Conductor;
use crate::job::{DriveJob, DriveOutcome, TargetContext};
use crate::leftover::{self, Leftover};
use crate::measured::{Finished, MeasuredTarget, RunMeasurement};
use crate::observe::{ObserverThread, Reopen, ReopenSampler, SamplerThread};
use crate::results::Results;
use crate::thread::NO_THREAD;
use crate::threads::{IntervalChannels, Threads};
use crate::watch::{RunEvent, RunListener};
use crate::watcher::Watcher;
use crate::worker_pool::{WorkerPool, WorkerPoolFactory};

/// Runs `job` to its end. Returns its record, without an audit, and the rows that its sessions left in
/// tables; remove these after the record is stored.
///
/// # Errors
/// Nothing could be started: the target cannot be observed, or the machine cannot start a thread. After the
/// start of sessions, every end has a record.
pub fn run(job: &DriveJob<'_>, watch: &dyn RunListener) -> Result<(RunRecord, Vec<Leftover>), TargetError> {
    run_by(job, watch, None)
}

/// As [`run`], with a pool that `pool_factory` starts; threads of this process without one.
///
/// # Errors
/// As [`run`]; or no pool could be started.
pub fn run_by(
    job: &DriveJob<'_>,
    watch: &dyn RunListener,
    pool_factory: Option<&dyn WorkerPoolFactory>,
) -> Result<(RunRecord, Vec<Leftover>), TargetError> {
    let Finished { measured, results, series, outcome } = measure(job, watch, pool_factory)?;
    let left = leftover::of_run(job, &results);
    Ok((assemble::record(job, &measured, &results, series, outcome), left))
}

/// Runs `job` to its end.
fn measure(
    job: &DriveJob<'_>,
    watch: &dyn RunListener,
    pool_factory: Option<&dyn WorkerPoolFactory>,
) -> Result<Finished, TargetError> {
    let no_thread = |error: std::io::Error| {
        TargetError::new(TargetErrorKind::Database, format!("no thread could be started: {error}"))
            .hint(NO_THREAD)
            .cause(error)
    };
    job.targets.iter().for_each(|context| context.target.set_sessions_elsewhere(pool_factory.is_some()));
    let mut watchers = Vec::with_capacity(job.targets.len());
    for at in 0..job.targets.len() {
        watchers.push(start_watcher(job, at, &no_thread)?);
    }
    let mut conductor = Conductor::new(job, watch, watchers);
    // Other hosts read the targets too, so this comes before the counters that the whole run is compared
    // with.
    let awaiting = |there, of| watch.event(&RunEvent::Awaiting { there, of });
    let started_pool = pool_factory.map(|factory| factory.start(job, &awaiting)).transpose()?;
    conductor.begin();
    let connect_began_ns = job.clock.now_ns();
    let (mut crew, feed): (Box<dyn WorkerPool>, IntervalChannels) = match started_pool {
        Some((crew, filled)) => (crew, IntervalChannels { filled, recycled: Vec::new() }),
        None => {
            let (threads, feed) =
                Threads::start(job, &conductor.snapshot_statuses(), (0..job.plan.sessions()).collect());
            (Box::new(threads), feed)
        }
    };
    crew.connect();
    let mut collector = IntervalCollector::new(job.targets.len(), job.series(), feed.filled, feed.recycled);
    let outcome = conductor.conduct(crew.as_mut(), &mut collector, connect_began_ns);
    Ok(conductor.finish(crew, collector, outcome))
}

/// The record of a run that lost its leader, from its sessions' measurements. The database's counters were
/// not read, so it is not a valid result.
pub fn without_leader(job: &DriveJob<'_>, results: &Results, fleet: Fleet, reason: String) -> RunRecord {
    assemble::without_leader(job, results, fleet, reason)
}

/// The record of a run that has begun: all that is known before the first measurement. Reads the host's
/// facts, which takes milliseconds.
pub fn draft(job: &DriveJob<'_>) -> RunRecord {
    let interval_s = job.plan.observe.interval.0.as_secs_f64();
    let targets = job.targets.iter().map(|_| MeasuredTarget::default()).collect();
    let measured = RunMeasurement { sessions: job.plan.sessions(), targets, ..RunMeasurement::default() };
    let nothing = IntervalCollector::new(job.targets.len(), job.series(), channel().1, Vec::new());
    let mut draft = assemble::record(
        job,
        &measured,
        &Results::default(),
        nothing.into_series(),
        DriveOutcome::Interrupted,
    );
    draft.series.interval_s = interval_s;
    draft
}

/// Starts observer and sampler of the target at `at`.
fn start_watcher(
    job: &DriveJob<'_>,
    at: usize,
    no_thread: &dyn Fn(std::io::Error) -> TargetError,
) -> Result<Watcher, TargetError> {
    let context = &job.targets[at];
    let sampler_commits = Arc::new(AtomicU64::new(0));
    let (sampler, no_waits) = start_sampler(job, context, &sampler_commits).map_err(no_thread)?;
    let names = job.needs(context).custom.map(|custom| custom.names).unwrap_or_default();
    let observer = context.target.observer_of_names(&context.spec, &names).map_err(|error| {
        let message = format!("{}{}", job.label(at), error.message);
        TargetError { message, ..error }
    })?;
    let clock = Arc::clone(&job.clock);
    let (target, spec) = (Arc::clone(&context.target), context.spec.clone());
    let reopen: Option<Reopen> =
        job.reconnects().then(|| Box::new(move || target.observer_of_names(&spec, &names)) as Reopen);
    let observer = ObserverThread::start(
        observer,
        (context.host_paths.clone(), context.remote_host.as_ref()),
        clock,
        sampler_commits,
        reopen,
    )
    .map_err(no_thread)?;
    Ok(Watcher::new(job.label(at), observer, sampler, no_waits, job.reconnects()))
}

/// Starts the sampler, or returns the reason why there is none.
fn start_sampler(
    job: &DriveJob<'_>,
    context: &TargetContext,
    commits: &Arc<AtomicU64>,
) -> std::io::Result<(Option<SamplerThread>, Option<Waits>)> {
    let Some(rate) = job.plan.observe.waits else {
        return Ok((None, Some(Waits::Absent { absent: "switched off in the plan (observe.waits)".into() })));
    };
    match context.target.sampler() {
        Ok(sampler) => {
            let clock = Arc::clone(&job.clock);
            let target = Arc::clone(&context.target);
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
    use crate::testing;
    use crate::watch::NoopRunListener;
    use dyno_prove::scripted::{Act, OperationScript, ScriptedTarget};

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

    fn job(plan: &Plan) -> DriveJob<'_> {
        let script: Arc<OperationScript> = Arc::new(|_, number, _| match number % 20 {
            19 => Act::Fail(OpError {
                class: ErrorClass::Retryable,
                code: "E1".into(),
                message: "scripted".into(),
            }),
            _ => Act::Take(0),
        });
        let context = |_| {
            let target = ScriptedTarget::new(Arc::clone(&script), Arc::new(|_| std::thread::yield_now()));
            let identity = target.identify().unwrap();
            TargetContext::new(Arc::new(target), identity, testing::spec(1_000))
        };
        DriveJob {
            run_id: "test".into(),
            started_at: "2026-01-01T00:00:00Z".into(),
            run_stamp: 7,
            plan,
            targets: plan.target.all().iter().map(context).collect(),
            custom_workloads: Vec::new(),
            clock: Arc::new(MonotonicClock::default()),
            cancel: Cancel::default(),
            dyno_version: "test".into(),
            series_points_max: dyno_record::OVERVIEW_POINTS_MAX,
        }
    }

    #[test]
    fn session_results_survive_serialization() {
        for (urls, rate) in [(&[][..], None), (&["sqlite:a", "sqlite:b"], Some(2_000.0))] {
            let plan = plan(urls, rate);
            let job = job(&plan);
            let Finished { measured, results, series, outcome } =
                measure(&job, &NoopRunListener, None).unwrap();
            let read: Results = serde_json::from_slice(&serde_json::to_vec(&results).unwrap()).unwrap();
            assert_eq!(read, results);
            let direct = assemble::record(&job, &measured, &results, series.clone(), outcome.clone());
            let mut transferred = assemble::record(&job, &measured, &read, series.clone(), outcome.clone());
            let mut folded: Results = serde_json::from_slice(&serde_json::to_vec(&results).unwrap()).unwrap();
            folded.fold();
            assert_eq!(folded.sessions.len(), job.targets.len());
            let mut sum = assemble::record(&job, &measured, &folded, series, outcome);
            // Values that are read again for each record.
            transferred.ended_at.clone_from(&direct.ended_at);
            transferred.hosts[0].facts.clone_from(&direct.hosts[0].facts);
            assert_eq!(transferred, direct);
            sum.ended_at.clone_from(&direct.ended_at);
            sum.hosts[0].facts.clone_from(&direct.hosts[0].facts);
            // Sums of seconds depend on their order in the last digit; nothing else differs.
            let seconds = |record: &RunRecord| record.window.as_ref().unwrap().work_seconds();
            assert!((seconds(&sum) - seconds(&direct)).abs() < 1e-9);
            assert_eq!(
                (&sum.ops.len(), &sum.errors, &sum.whole),
                (&direct.ops.len(), &direct.errors, &direct.whole)
            );
            for (name, ops) in &direct.ops {
                let folded = &sum.ops[name];
                assert_eq!(
                    (folded.count, folded.rows, &folded.service_us),
                    (ops.count, ops.rows, &ops.service_us)
                );
            }
            let (window, of_sum) = (direct.window.as_ref().unwrap(), sum.window.as_ref().unwrap());
            assert_eq!((&of_sum.counted, &of_sum.unsure), (&window.counted, &window.unsure));
            assert_eq!((of_sum.edge_us_max, of_sum.edge_late), (window.edge_us_max, window.edge_late));
            assert_eq!(
                (sum.gate.sessions, sum.gate.skew_us_max),
                (direct.gate.sessions, direct.gate.skew_us_max)
            );
            assert!(!direct.errors.is_empty(), "there is none to travel");
            assert!(direct.ops["update"].service_us.p99.is_some(), "{:?}", direct.ops);
            assert!(direct.window.unwrap().counted.unwrap().rows() > 0);
        }
    }
}
