//! `dyno run`: one run, from plan to stored record.

use std::sync::Arc;

use dyno_drive::{Aim, Job, Watch};
use dyno_plan::{DataSpec, Drive, Plan};
use dyno_record::{PartOf, Repository, RepositoryError, RunRecord, StartedRun, Status};
use dyno_target::data::mix;
use dyno_target::{Cancel, DataState, Lock, MonotonicClock, Target, TargetError, TargetErrorKind, Work};

use super::load;
use crate::cli::{Common, Marks, Run};
use crate::context;
use crate::exit::{Exit, usage};
use crate::hooks::{self, HookRun, Hooked};
use crate::keeper::{self, Keeper};
use crate::own_report;
use crate::progress::RunProgress;
use crate::signals;
use crate::talk::Talk;
use crate::targets::{Reached, Targets};

pub(super) fn run(common: &Common, args: &Run, talk: &Talk) -> anyhow::Result<Exit> {
    let mut ready = Ready::new(common, context::plan(common)?, Work::Run, talk, |_| Ok(()))?;
    ready.marks = args.marks.clone();
    let exit = run_one(&mut ready, talk);
    let ended = ready.after_all(talk);
    let exit = exit?;
    ended?;
    Ok(exit)
}

fn run_one(ready: &mut Ready, talk: &Talk) -> anyhow::Result<Exit> {
    let progress = RunProgress::new(talk);
    let record = ready.measure(None, talk, &progress)?;
    let shown = show(&record, talk)?;
    ready.after_run(&record, talk)?;
    Ok(shown)
}

/// The plan of one run: what it says of sweeps is for others.
fn single(plan: Plan) -> Plan {
    Plan { sweep: dyno_plan::Sweep::default(), ..plan }
}

/// Everything that is there before a run begins: the target reached and locked, with its data.
pub(super) struct Ready {
    pub(super) plan: Plan,
    pub(super) repository: Repository,
    pub(super) targets: Targets,
    /// The data of each target, in their order.
    specs: Vec<DataSpec>,
    pub(super) cancel: Cancel,
    /// What every run is marked with.
    pub(super) marks: Marks,
    locks: Vec<Lock>,
    work: Work,
    /// Whether targets and data were looked at and no run has been since.
    fresh: bool,
    /// Runs that have ended with a record, and the status of the last.
    ended: (u32, Option<Status>),
}

/// What to do about data that is not there.
pub(super) enum Loading<'a> {
    /// It must be there.
    Never,
    /// Load it; data of one of these plans may be replaced, and any of Dyno's with `replace`.
    AsNeeded { own: &'a [Plan], replace: bool },
}

/// A run that the repository knows of.
pub(super) struct Begun {
    pub(super) run_id: String,
    started_at: String,
    /// Part of every value that the run writes.
    pub(super) run_stamp: u64,
    part_of: Option<PartOf>,
}

impl Ready {
    /// Gets ready for a run of `plan`, if the target `suits`.
    pub(super) fn new(
        common: &Common,
        plan: Plan,
        work: Work,
        talk: &Talk,
        suits: impl Fn(&dyn Target) -> anyhow::Result<()>,
    ) -> anyhow::Result<Self> {
        Self::loading(common, plan, work, &Loading::Never, talk, suits)
    }

    /// As [`Ready::new`], with data loaded as `loading` says.
    pub(super) fn loading(
        common: &Common,
        plan: Plan,
        work: Work,
        loading: &Loading<'_>,
        talk: &Talk,
        suits: impl Fn(&dyn Target) -> anyhow::Result<()>,
    ) -> anyhow::Result<Self> {
        // Opened first: a repository that cannot be written is found before the run, not after it.
        let repository = context::repository(common)?;
        let plan = single(plan);
        let targets = Targets::reach(&plan, talk)?;
        refuse_impossible(&plan, &targets)?;
        for reached in &targets.all {
            suits(reached.target.as_ref())?;
        }
        let cancel = Cancel::default();
        signals::watch(&cancel)?;
        let locks = targets.lock(work, talk)?;
        let specs = make_room(&plan, &targets, loading, talk)?;
        let marks = Marks::default();
        let ready = Self {
            plan,
            repository,
            targets,
            specs,
            cancel,
            marks,
            locks,
            work,
            fresh: true,
            ended: (0, None),
        };
        ready.ready_data(loading, talk)?;
        Ok(ready)
    }

    /// Gets ready for a run of another `plan`: with the same target and data there is nothing to do.
    pub(super) fn turn_to(&mut self, plan: Plan, loading: &Loading<'_>, talk: &Talk) -> anyhow::Result<()> {
        let same_target = plan.target == self.plan.target;
        self.plan = plan;
        if !same_target {
            return self.reach(loading, talk);
        }
        refuse_impossible(&self.plan, &self.targets)?;
        let specs = make_room(&self.plan, &self.targets, loading, talk)?;
        if specs != self.specs {
            self.specs = specs;
            self.ready_data(loading, talk)?;
            self.fresh = true;
        }
        Ok(())
    }

    /// The only target, or the first.
    pub(super) fn target(&self) -> &Arc<dyn Target> {
        &self.targets.first().target
    }

    /// The data of the only target, or of the first.
    pub(super) fn spec(&self) -> &DataSpec {
        &self.specs[0]
    }

    /// Reaches the plan's targets anew, and locks them.
    fn reach(&mut self, loading: &Loading<'_>, talk: &Talk) -> anyhow::Result<()> {
        self.locks.clear();
        self.targets = Targets::reach(&self.plan, talk)?;
        refuse_impossible(&self.plan, &self.targets)?;
        self.locks = self.targets.lock(self.work, talk)?;
        self.specs = make_room(&self.plan, &self.targets, loading, talk)?;
        self.ready_data(loading, talk)?;
        self.fresh = true;
        Ok(())
    }

    /// One run of the plan, from the hook before it to the stored record.
    pub(super) fn measure(
        &mut self,
        part_of: Option<PartOf>,
        talk: &Talk,
        progress: &RunProgress<'_>,
    ) -> anyhow::Result<RunRecord> {
        self.before_run(part_of.as_ref(), talk)?;
        let mut reporters = Vec::new();
        for reached in &self.targets.all {
            let reporter = reached.target.reporter(self.plan.observe.awr).map_err(Into::into);
            reporters.push(reached.named(reporter)?);
        }
        let begun = self.begin_as(part_of, talk)?;
        let driven = self.drive_hooked(&begun, talk, progress);
        progress.finish();
        self.fresh = false;
        let mut record = driven?;
        for (at, reporter) in reporters.into_iter().enumerate() {
            let Some(reporter) = reporter else { continue };
            let name = match self.targets.is_several() {
                true => format!("{}-{}", record.id, at + 1),
                false => record.id.clone(),
            };
            own_report::keep(reporter, &name, self.repository.path(), talk);
        }
        dyno_analyze::judge(&mut record);
        store(&self.repository, &record, talk)?;
        self.ended = (self.ended.0 + 1, Some(record.status));
        Ok(record)
    }

    /// Does the run, with the commands between its phases.
    fn drive_hooked(&self, begun: &Begun, talk: &Talk, inner: &dyn Watch) -> anyhow::Result<RunRecord> {
        let run = HookRun {
            plan: &self.plan,
            part: begun.part_of.as_ref(),
            id: Some(&begun.run_id),
            status: None,
            runs: None,
        };
        let watch = Hooked { inner, run, cancel: &self.cancel, talk };
        self.drive(begun, None, &watch, talk)
    }

    /// Runs the hook after all runs of a command.
    pub(super) fn after_all(&self, talk: &Talk) -> anyhow::Result<()> {
        let (runs, status) = self.ended;
        let run = HookRun {
            plan: &self.plan,
            part: None,
            id: None,
            status: status.map(Status::name),
            runs: Some(runs),
        };
        // Whoever has stopped the runs wants their end all the same.
        Ok(hooks::run("end", self.plan.hooks.end.as_deref(), &run, &Cancel::default(), talk)?)
    }

    /// Runs the hook, and makes sure that target and data are still what they were.
    fn before_run(&mut self, part: Option<&PartOf>, talk: &Talk) -> anyhow::Result<()> {
        if let Some(command) = self.plan.hooks.before_run.clone() {
            let ephemeral = self.targets.all.iter().all(|one| one.target.capabilities().ephemeral);
            if !ephemeral {
                // The command may restart the server, and with it goes the lock.
                self.locks.clear();
            }
            let run = HookRun { plan: &self.plan, part, id: None, status: None, runs: None };
            hooks::run("before_run", Some(&command), &run, &self.cancel, talk)?;
            if !ephemeral {
                return self.reach(&Loading::Never, talk);
            }
        }
        if !self.fresh {
            for (reached, spec) in self.targets.all.iter_mut().zip(&self.specs) {
                let identity = reached.target.identify().map_err(Into::into);
                reached.identity = reached.named(identity)?;
                reached.named(require_data(reached, spec, talk))?;
            }
        }
        Ok(())
    }

    /// Runs the hook after a run.
    pub(super) fn after_run(&self, record: &RunRecord, talk: &Talk) -> anyhow::Result<()> {
        let command = self.plan.hooks.after_run.as_deref();
        let run = HookRun {
            plan: &self.plan,
            part: record.part_of.as_ref(),
            id: Some(record.id.as_str()),
            status: Some(record.status.name()),
            runs: None,
        };
        Ok(hooks::run("after_run", command, &run, &self.cancel, talk)?)
    }

    /// Names the run and notes it in the repository.
    pub(super) fn begin(&self, talk: &Talk) -> anyhow::Result<Begun> {
        self.begin_as(None, talk)
    }

    fn begin_as(&self, part_of: Option<PartOf>, talk: &Talk) -> anyhow::Result<Begun> {
        let (run_id, started_at) = begin(&self.repository, &self.plan, part_of.as_ref(), &self.targets)?;
        let words = format!("run {run_id} on {}", self.targets.words());
        if part_of.is_some() {
            talk.detail(&words);
        } else {
            talk.say(&words);
        }
        Ok(Begun { run_stamp: mix(hash(&run_id)), run_id, started_at, part_of })
    }

    /// Does the run, with `before` standing before the first target; the record is neither judged nor stored.
    pub(super) fn drive(
        &self,
        begun: &Begun,
        before: Option<Arc<dyn Target>>,
        watch: &dyn Watch,
        talk: &Talk,
    ) -> anyhow::Result<RunRecord> {
        let aims = self.targets.all.iter().zip(&self.specs).map(|(reached, spec)| reached.aim(spec));
        let mut targets: Vec<Aim> = aims.collect();
        if let (Some(first), Some(before)) = (targets.first_mut(), before) {
            first.target = before;
        }
        let job = Job {
            run_stamp: begun.run_stamp,
            run_id: begun.run_id.clone(),
            started_at: begun.started_at.clone(),
            plan: &self.plan,
            targets,
            clock: Arc::new(MonotonicClock::default()),
            cancel: self.cancel.clone(),
            dyno_version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let marked = |record| RunRecord {
            part_of: begun.part_of.clone(),
            variant: self.marks.variant.clone(),
            tags: self.marks.tag.clone(),
            ..record
        };
        let keeper = keeper::is_long(&self.plan).then(|| {
            Keeper::start(marked(dyno_drive::draft(&job)), self.repository.path().to_path_buf(), watch)
        });
        let driven = match &keeper {
            Some(keeper) => dyno_drive::run(&job, keeper),
            None => dyno_drive::run(&job, watch),
        };
        if let Some(why) = keeper.and_then(Keeper::finish) {
            talk.detail(&format!("what was measured could not be kept while the run lasted: {why}"));
        }
        match driven {
            Ok(record) => Ok(marked(record)),
            Err(error) => {
                // Nothing was started, so there is nothing to keep.
                self.repository.delete(&begun.run_id)?;
                Err(error.into())
            }
        }
    }

    /// Makes sure that the targets hold the data, loading it where `loading` allows, or where it cannot outlive the
    /// process.
    fn ready_data(&self, loading: &Loading<'_>, talk: &Talk) -> anyhow::Result<()> {
        if self.targets.is_shared() && matches!(loading, Loading::AsNeeded { .. }) {
            for holder in self.targets.holders()? {
                holder.named(self.ready_one(holder, &holder.spec(&self.plan)?, loading, talk))?;
            }
            return self.targets.wait_seen(&self.plan, &self.cancel);
        }
        for (reached, spec) in self.targets.all.iter().zip(&self.specs) {
            reached.named(self.ready_one(reached, spec, loading, talk))?;
        }
        Ok(())
    }

    fn ready_one(
        &self,
        reached: &Reached,
        spec: &DataSpec,
        loading: &Loading<'_>,
        talk: &Talk,
    ) -> anyhow::Result<()> {
        let (target, cancel) = (reached.target.as_ref(), &self.cancel);
        let load = |replace| load::load(target, spec, self.plan.data.load_parallel, replace, talk, cancel);
        if target.capabilities().ephemeral {
            let replace = matches!(loading, Loading::AsNeeded { .. });
            load(replace)?;
            return Ok(());
        }
        if cancel.is_cancelled() {
            return Err(TargetError::new(TargetErrorKind::Cancelled, "stopped before the run began").into());
        }
        talk.detail("looking at the data");
        if let Loading::AsNeeded { .. } = loading {
            match target.survey()? {
                DataState::Empty | DataState::Partial { .. } => return load(false).map(|_| ()),
                // What may not be replaced was refused before.
                DataState::Loaded { spec: there, .. } if there != *spec => return load(true).map(|_| ()),
                DataState::Loaded { .. } => {}
            }
        }
        require_data(reached, spec, talk)
    }
}

/// Makes sure that a target holds the data, after removing what a run that was broken off has inserted.
fn require_data(reached: &Reached, spec: &DataSpec, talk: &Talk) -> anyhow::Result<()> {
    let target = reached.target.as_ref();
    let holds = || -> anyhow::Result<bool> {
        Ok(matches!(target.survey()?, DataState::Loaded { spec: there, .. } if there == *spec))
    };
    // On what takes reads only the others' deletions arrive by themselves.
    if reached.reads_only.is_none() && holds()? && target.own_rows(spec)? > 0 {
        let rows = target.sweep_up(spec)?;
        talk.say(&format!("removed {rows} rows that a run had inserted and left behind"));
    }
    Ok(context::require_data(target, spec)?)
}

/// The data that `plan` needs on each target; see [`make_room_on`].
fn make_room(
    plan: &Plan,
    targets: &Targets,
    loading: &Loading<'_>,
    talk: &Talk,
) -> anyhow::Result<Vec<DataSpec>> {
    if let Loading::AsNeeded { .. } = loading {
        for holder in targets.holders()? {
            holder.named(make_room_on(plan, holder.target.as_ref(), loading, talk))?;
        }
    }
    targets.all.iter().map(|reached| reached.spec(plan)).collect()
}

/// The data that `plan` needs. Data that stands in its way is refused, or dropped where `loading` allows and where it
/// cannot be replaced in place: a file of SQLite's has one page size.
fn make_room_on(
    plan: &Plan,
    target: &dyn Target,
    loading: &Loading<'_>,
    talk: &Talk,
) -> anyhow::Result<DataSpec> {
    let spec = context::spec(plan, target);
    let Loading::AsNeeded { own, replace } = loading else { return spec };
    let DataState::Loaded { spec: there, .. } = target.survey()? else { return spec };
    if spec.as_ref().is_ok_and(|spec| *spec == there) {
        return spec;
    }
    let is_own = own.iter().any(|plan| context::spec(plan, target).is_ok_and(|own| own == there));
    if !replace && !is_own {
        let words = match &spec {
            Ok(spec) => context::difference(&there, spec),
            Err(error) => error.to_string(),
        };
        return Err(usage(
            format!(
                "the target holds other data than this point needs ({words}), which no point of the sweep has"
            ),
            "--replace drops it and loads what the sweep needs, or change the plan to what is there",
        ));
    }
    if spec.is_ok() {
        return spec;
    }
    talk.detail("dropping data of another block size");
    target.drop_all()?;
    context::spec(plan, target)
}

/// What these targets cannot do.
fn refuse_impossible(plan: &Plan, targets: &Targets) -> anyhow::Result<()> {
    for reached in &targets.all {
        reached.named(refuse_impossible_on(plan, reached.target.as_ref()))?;
    }
    targets.refuse_writes(plan)
}

/// What this engine cannot do.
fn refuse_impossible_on(plan: &Plan, target: &dyn Target) -> anyhow::Result<()> {
    refuse_extras(plan, target)?;
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

/// Operations that this engine has not, or not on this drive.
fn refuse_extras(plan: &Plan, target: &dyn Target) -> anyhow::Result<()> {
    let (work, can) = (&plan.workload, target.extras(plan.workload.drive));
    let wanted = [
        ("operations that go to schema 1", "hot_schema_every", work.hot_schema_every > 0, can.hot_schema),
        ("inserts and deletes", "insert_pct", work.churn_pct() > 0, can.churn),
        ("lookups by a secondary key", "secondary_pct", work.secondary_pct > 0, can.secondary),
    ];
    for (what, key, wants, can) in wanted {
        if wants && !can {
            let on_client = target.extras(Drive::Client);
            let drive_helps = work.drive == Drive::Server && on_client != target.extras(Drive::Server);
            let (drive, way_out) = match drive_helps {
                true => (" inside the database", "--set workload.drive=client, or "),
                false => ("", ""),
            };
            return Err(usage(
                format!("{} does no {what}{drive} (workload.{key})", target.engine()),
                format!("{way_out}take workload.{key} out"),
            ));
        }
    }
    Ok(())
}

/// Draws names until one is free; a second holds 65,536.
fn begin(
    repository: &Repository,
    plan: &Plan,
    part_of: Option<&PartOf>,
    targets: &Targets,
) -> anyhow::Result<(String, String)> {
    let mut salt = u64::from(std::process::id());
    loop {
        let now = jiff::Timestamp::now();
        salt = mix(salt ^ now.as_nanosecond() as u64);
        let run_id = dyno_record::new_run_id(now, salt as u16);
        let started_at = dyno_record::rfc3339(now);
        let mut started = StartedRun::by_this_process(
            run_id.clone(),
            started_at.clone(),
            targets.engines(),
            targets.urls(),
            plan.clone(),
        );
        started.part_of = part_of.cloned();
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
    Ok(record.status.into())
}
