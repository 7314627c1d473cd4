//! One run, from job to record: starts observers and sessions, and lets the conductor lead them.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::channel;

use dyno_engine::{TargetError, TargetErrorKind};
use dyno_record::{RunRecord, Waits};

use crate::assemble;
use crate::collector::Collector;
use crate::conductor::Conductor;
use crate::crew::Crew;
use crate::job::{Aim, Job, Outcome};
use crate::leftover::Leftover;
use crate::measured::{Measured, MeasuredTarget};
use crate::observe::{ObserverThread, SamplerThread};
use crate::threads::NO_THREAD;
use crate::watch::Watch;
use crate::watcher::Watcher;

/// Runs `job` to its end and returns its record, without an audit, and what its sessions have left in the tables: to be
/// removed when the record is safe.
///
/// # Errors
/// Nothing could be started: the target cannot be observed, or the machine gives no thread to do it. From the moment that
/// sessions start, every end has a record.
pub fn run(job: &Job<'_>, watch: &dyn Watch) -> Result<(RunRecord, Vec<Leftover>), TargetError> {
    let no_thread = |error: std::io::Error| {
        TargetError::new(TargetErrorKind::Database, format!("no thread could be started: {error}"))
            .hint(NO_THREAD)
            .cause(error)
    };
    let mut watchers = Vec::with_capacity(job.targets.len());
    for at in 0..job.targets.len() {
        watchers.push(start_watcher(job, at, &no_thread)?);
    }
    let mut conductor = Conductor::new(job, watch, watchers);
    conductor.begin();
    let connect_began_ns = job.clock.now_ns();
    let (mut crew, mut collector) = Crew::hire(job, &conductor.looks());
    let outcome = conductor.conduct(&mut crew, &mut collector, connect_began_ns);
    Ok(conductor.finish(crew, collector, outcome))
}

/// The record of a run that has begun: all that is known before any of it is measured. Reads the host's facts, which
/// takes milliseconds.
pub fn draft(job: &Job<'_>) -> RunRecord {
    let interval_s = job.plan.observe.interval.0.as_secs_f64();
    let targets = job.targets.iter().map(|_| MeasuredTarget::default()).collect();
    let measured = Measured { sessions: job.plan.sessions(), targets, ..Measured::default() };
    let nothing = Collector::new(job.targets.len(), job.series(), channel().1, Vec::new());
    let mut draft = assemble::record(job, &measured, &[], nothing, Outcome::Interrupted);
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
    let observer = aim.target.observer(&aim.spec).map_err(|error| {
        let message = format!("{}{}", job.label(at), error.message);
        TargetError { message, ..error }
    })?;
    let clock = Arc::clone(&job.clock);
    let observer =
        ObserverThread::start(observer, aim.host_paths.clone(), clock, sampler_commits).map_err(no_thread)?;
    Ok(Watcher::new(job.label(at), observer, sampler, no_waits))
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
            let thread = SamplerThread::start(sampler, rate.0, clock, Arc::clone(commits))?;
            Ok((Some(thread), None))
        }
        Err(error) => Ok((None, Some(Waits::Absent { absent: error.to_string() }))),
    }
}
