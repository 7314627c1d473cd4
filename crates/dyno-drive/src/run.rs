//! One run, from job to record: starts observers and sessions, and lets the conductor lead them.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::channel;

use dyno_engine::{Cancel, Clock, Instance, Target, TargetError, TargetErrorKind};
use dyno_plan::{DataSpec, Plan};
use dyno_record::{Identity, RunRecord, Waits};

use crate::assemble::{self, Measured, MeasuredTarget};
use crate::collector::Collector;
use crate::conductor::Conductor;
use crate::crew::Crew;
use crate::leftover::Leftover;
use crate::observe::{ObserverThread, SamplerThread};
use crate::watch::Watch;
use crate::watcher::Watcher;

/// Everything a run needs.
pub struct Job<'a> {
    /// The run's name.
    pub run_id: String,
    /// When it started, RFC 3339 in UTC.
    pub started_at: String,
    /// A number unique to this run on this target, part of every update value.
    pub run_stamp: u64,
    /// The plan.
    pub plan: &'a Plan,
    /// The databases, in the order of the plan; at least one.
    pub targets: Vec<Aim>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The user's wish to stop.
    pub cancel: Cancel,
    /// The program's version.
    pub dyno_version: String,
    /// Points that a series of the record has at most: [`OVERVIEW_POINTS_MAX`](dyno_record::OVERVIEW_POINTS_MAX), and fewer
    /// in tests of what lies beyond.
    pub series_points_max: usize,
}

/// One database of a run.
#[derive(Clone)]
pub struct Aim {
    /// The database.
    pub target: Arc<dyn Target>,
    /// What it is.
    pub identity: Identity,
    /// The data that it holds.
    pub spec: DataSpec,
    /// Named places on this host whose devices matter: `data`, `redo`.
    pub host_paths: Vec<(String, PathBuf)>,
    /// Why its sessions only read, if they do.
    pub reads_only: Option<String>,
    /// What its counters count; unknown where it is the only one, or the engine cannot tell.
    pub instance: Option<Instance>,
}

impl Job<'_> {
    /// Whether there are several databases.
    pub(crate) fn is_several(&self) -> bool {
        self.targets.len() > 1
    }

    /// Spacing of the series in seconds, and the most points of it.
    pub(crate) fn series(&self) -> (f64, usize) {
        (self.plan.observe.interval.0.as_secs_f64(), self.series_points_max)
    }

    /// The database at `at` in words that stand before what went wrong with it; nothing where there is only one.
    pub(crate) fn label(&self, at: usize) -> String {
        match self.is_several() {
            true => format!("target {} ({}): ", at + 1, self.targets[at].target.url()),
            false => String::new(),
        }
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    Interrupted,
    Failed(String),
}

/// The way out where the machine gives no thread.
pub(crate) const NO_THREAD: &str = "fewer sessions, or a higher limit of processes (`ulimit -u`)";

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
