//! `dyno run`: one run, from plan to stored record.

use std::sync::Arc;

use dyno_drive::{Job, Watch};
use dyno_plan::{DataSpec, Drive, Plan};
use dyno_record::{Identity, Repository, RepositoryError, RunRecord, StartedRun, Status};
use dyno_target::data::mix;
use dyno_target::{Cancel, Lock, MonotonicClock, Target, TargetError, TargetErrorKind, Work};

use super::load;
use crate::cli::Common;
use crate::context;
use crate::exit::{Exit, usage};
use crate::progress::RunProgress;
use crate::signals;
use crate::talk::Talk;

pub(super) fn run(common: &Common, talk: &Talk) -> anyhow::Result<Exit> {
    let ready = Ready::new(common, context::plan(common)?, Work::Run, talk, |_| Ok(()))?;
    let begun = ready.begin(talk)?;
    let progress = RunProgress::new(talk);
    let driven = ready.drive(&begun, Arc::clone(&ready.target), &progress);
    progress.finish();
    let mut record = driven?;
    dyno_analyze::judge(&mut record);
    store(&ready.repository, &record, talk)?;
    show(&record, talk)
}

/// Everything that is there before a run begins: the target reached and locked, with its data.
pub(super) struct Ready {
    pub(super) plan: Plan,
    pub(super) repository: Repository,
    pub(super) target: Arc<dyn Target>,
    pub(super) identity: Identity,
    pub(super) spec: DataSpec,
    pub(super) cancel: Cancel,
    _lock: Lock,
}

/// A run that the repository knows of.
pub(super) struct Begun {
    pub(super) run_id: String,
    started_at: String,
    /// Part of every value that the run writes.
    pub(super) run_stamp: u64,
}

impl Ready {
    /// Gets ready for a run of `plan`, if the target `suits`.
    pub(super) fn new(
        common: &Common,
        plan: Plan,
        work: Work,
        talk: &Talk,
        suits: impl FnOnce(&dyn Target) -> anyhow::Result<()>,
    ) -> anyhow::Result<Self> {
        // Opened first: a repository that cannot be written is found before the run, not after it.
        let repository = context::repository(common)?;
        let (target, identity) = context::reach(&plan, talk)?;
        refuse_impossible(&plan, target.as_ref())?;
        suits(target.as_ref())?;
        let spec = context::spec(&plan, target.as_ref())?;
        let cancel = Cancel::default();
        signals::watch(&cancel)?;
        let lock = context::lock(target.as_ref(), work, talk)?;
        ready_data(&plan, target.as_ref(), &spec, talk, &cancel)?;
        Ok(Self { plan, repository, target, identity, spec, cancel, _lock: lock })
    }

    /// Names the run and notes it in the repository.
    pub(super) fn begin(&self, talk: &Talk) -> anyhow::Result<Begun> {
        let (run_id, started_at) = begin(&self.repository, &self.plan, self.target.as_ref())?;
        let Identity { product, version, .. } = &self.identity;
        talk.say(&format!("run {run_id} on {product} {version} ({})", self.target.url()));
        Ok(Begun { run_stamp: mix(hash(&run_id)), run_id, started_at })
    }

    /// Does the run on `target`, which is this one's or stands before it; the record is neither judged nor stored.
    pub(super) fn drive(
        &self,
        begun: &Begun,
        target: Arc<dyn Target>,
        watch: &dyn Watch,
    ) -> anyhow::Result<RunRecord> {
        let job = Job {
            run_stamp: begun.run_stamp,
            run_id: begun.run_id.clone(),
            started_at: begun.started_at.clone(),
            plan: &self.plan,
            target,
            host_paths: context::host_paths(&self.identity),
            identity: self.identity.clone(),
            spec: self.spec.clone(),
            clock: Arc::new(MonotonicClock::default()),
            cancel: self.cancel.clone(),
            dyno_version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        match dyno_drive::run(&job, watch) {
            Ok(record) => Ok(record),
            Err(error) => {
                // Nothing was started, so there is nothing to keep.
                self.repository.delete(&begun.run_id)?;
                Err(error.into())
            }
        }
    }
}

/// What this engine cannot do.
fn refuse_impossible(plan: &Plan, target: &dyn Target) -> anyhow::Result<()> {
    if plan.workload.drive == Drive::Server {
        if !target.capabilities().server_drive {
            return Err(usage(
                format!("{} has no loops inside the database (workload.drive = \"server\")", target.engine()),
                "--set workload.drive=client",
            ));
        }
        if plan.workload.rate.is_some() {
            return Err(usage(
                "an open loop (workload.rate) times every operation, and a server drive only slices of them",
                "--set workload.drive=client, or take workload.rate out",
            ));
        }
    }
    Ok(())
}

/// Makes sure that the target holds the data: where it cannot outlive the process, by loading it now.
fn ready_data(
    plan: &Plan,
    target: &dyn Target,
    spec: &DataSpec,
    talk: &Talk,
    cancel: &Cancel,
) -> anyhow::Result<()> {
    if target.capabilities().ephemeral {
        load::load(target, spec, plan.data.load_parallel, false, talk, cancel)?;
        return Ok(());
    }
    if cancel.is_cancelled() {
        return Err(TargetError::new(TargetErrorKind::Cancelled, "stopped before the run began").into());
    }
    talk.detail("looking at the data");
    Ok(context::require_data(target, spec)?)
}

/// Draws names until one is free; a second holds 65,536.
fn begin(repository: &Repository, plan: &Plan, target: &dyn Target) -> anyhow::Result<(String, String)> {
    let mut salt = u64::from(std::process::id());
    loop {
        let now = jiff::Timestamp::now();
        salt = mix(salt ^ now.as_nanosecond() as u64);
        let run_id = dyno_record::new_run_id(now, salt as u16);
        let started_at = dyno_record::rfc3339(now);
        let started = StartedRun::by_this_process(
            run_id.clone(),
            started_at.clone(),
            target.engine(),
            target.url(),
            plan.clone(),
        );
        match repository.begin(&started) {
            Ok(()) => return Ok((run_id, started_at)),
            Err(RepositoryError::Exists { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn hash(text: &str) -> u64 {
    text.bytes().fold(0, |hash, byte| mix(hash ^ u64::from(byte)))
}

/// Stores the record; where that fails, the record goes into a file, so that nothing is lost.
pub(super) fn store(repository: &Repository, record: &RunRecord, talk: &Talk) -> anyhow::Result<()> {
    let Err(error) = repository.finish(record) else {
        return Ok(());
    };
    let name = format!("dyno-{}.json", record.id);
    for dir in [std::env::current_dir().unwrap_or_default(), std::env::temp_dir()] {
        let path = dir.join(&name);
        if std::fs::write(&path, record.to_json()?).is_ok() {
            talk.error(
                &format!("the record could not be stored in the repository: {error}"),
                &format!("it was written to {} instead", path.display()),
            );
            break;
        }
    }
    Err(error.into())
}

fn show(record: &RunRecord, talk: &Talk) -> anyhow::Result<Exit> {
    talk.json(record)?;
    let style = talk.style();
    talk.show(&super::show::card(record, &style))?;
    talk.say(&format!("stored as {}; `dyno show {0}` shows all of it", record.id));
    Ok(match record.status {
        Status::Valid => Exit::Done,
        Status::Invalid => Exit::Invalid,
        Status::Failed => Exit::Failed,
        Status::Interrupted => Exit::Interrupted,
    })
}
