//! A run, from the hook before it to its stored record.

use std::sync::Arc;

use dyno_drive::{Aim, Job, Leftover, Watch};
use dyno_engine::data::mix;
use dyno_engine::{Cancel, MonotonicClock, Target};
use dyno_plan::Plan;
use dyno_record::{PartOf, Repository, RepositoryError, RunRecord, StartedRun, Status};

use super::{Loading, Ready, require_data};
use crate::context;
use crate::hooks::{self, HookRun, Hooked};
use crate::keeper::{self, Keeper};
use crate::own_report;
use crate::progress::RunProgress;
use crate::talk::Talk;
use crate::targets::Targets;
use crate::tidy;

/// A run that the repository knows of.
pub(in crate::commands) struct Begun {
    pub(in crate::commands) run_id: String,
    started_at: String,
    /// Part of every value that the run writes.
    pub(in crate::commands) run_stamp: u64,
    /// The plan with the seed that this run draws by.
    plan: Plan,
    part_of: Option<PartOf>,
}

impl Ready {
    /// One run of the plan, from the hook before it to the stored record.
    pub(in crate::commands) fn measure(
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
        let (mut record, left) = driven?;
        dyno_analyze::judge(&mut record);
        store(&self.repository, &record, talk)?;
        self.ended = (self.ended.0 + 1, Some(record.status));
        // The record is safe: what follows may wait for somebody else.
        tidy::up(left, &self.cancel, talk);
        for (at, reporter) in reporters.into_iter().enumerate() {
            let Some(reporter) = reporter else { continue };
            let name = match self.targets.is_several() {
                true => format!("{}-{}", record.id, at + 1),
                false => record.id.clone(),
            };
            own_report::keep(reporter, &name, self.repository.path(), &self.cancel, talk);
        }
        Ok(record)
    }

    /// Does the run, with the commands between its phases.
    fn drive_hooked(
        &self,
        begun: &Begun,
        talk: &Talk,
        inner: &dyn Watch,
    ) -> anyhow::Result<(RunRecord, Vec<Leftover>)> {
        let run = HookRun {
            plan: &self.plan,
            part: begun.part_of.as_ref(),
            id: Some(&begun.run_id),
            status: None,
            runs: None,
        };
        let watch = Hooked { inner, run, cancel: &self.cancel, talk };
        self.drive(begun, Vec::new(), &watch, talk)
    }

    /// Runs the hook after all runs of a command.
    pub(in crate::commands) fn after_all(&self, talk: &Talk) -> anyhow::Result<()> {
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
                let identity = context::identify(&reached.target, &self.cancel).map_err(Into::into);
                reached.identity = reached.named(identity)?;
                reached.data_note = reached.named(require_data(reached, spec, &self.cancel, talk))?;
            }
        }
        Ok(())
    }

    /// Runs the hook after a run.
    pub(in crate::commands) fn after_run(&self, record: &RunRecord, talk: &Talk) -> anyhow::Result<()> {
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
    pub(in crate::commands) fn begin(&self, talk: &Talk) -> anyhow::Result<Begun> {
        self.begin_as(None, talk)
    }

    fn begin_as(&self, part_of: Option<PartOf>, talk: &Talk) -> anyhow::Result<Begun> {
        let started = begin(&self.repository, &self.plan, part_of.as_ref(), &self.targets)?;
        let StartedRun { id: run_id, started_at, plan, .. } = started;
        let words = format!("run {run_id} on {}", self.targets.words());
        if part_of.is_some() {
            talk.detail(&words);
        } else {
            talk.say(&words);
        }
        Ok(Begun { run_stamp: run_stamp(&run_id), run_id, started_at, plan, part_of })
    }

    /// Does the run, with `before` standing before the targets, in their order; the record is neither judged nor stored, and
    /// what the sessions left in the tables is still there.
    pub(in crate::commands) fn drive(
        &self,
        begun: &Begun,
        before: Vec<Arc<dyn Target>>,
        watch: &dyn Watch,
        talk: &Talk,
    ) -> anyhow::Result<(RunRecord, Vec<Leftover>)> {
        let aims = self.targets.all.iter().zip(&self.specs).map(|(reached, spec)| reached.aim(spec));
        let mut targets: Vec<Aim> = aims.collect();
        for (aim, before) in targets.iter_mut().zip(before) {
            aim.target = before;
        }
        let job = Job {
            run_stamp: begun.run_stamp,
            run_id: begun.run_id.clone(),
            started_at: begun.started_at.clone(),
            plan: &begun.plan,
            targets,
            clock: Arc::new(MonotonicClock::default()),
            cancel: self.cancel.clone(),
            dyno_version: env!("CARGO_PKG_VERSION").to_owned(),
            series_points_max: series_points_max(),
        };
        let marked = |mut record: RunRecord| {
            for (facts, reached) in record.targets.iter_mut().zip(&self.targets.all) {
                facts.data_note = reached.data_note.clone();
            }
            RunRecord {
                part_of: begun.part_of.clone(),
                variant: self.marks.variant.clone(),
                tags: self.marks.tag.clone(),
                ..record
            }
        };
        let keeper = keeper::is_long(&self.plan).then(|| {
            Keeper::start(marked(dyno_drive::draft(&job)), self.repository.path().to_path_buf(), watch, talk)
        });
        let mut driven = match &keeper {
            Some(keeper) => dyno_drive::run(&job, keeper),
            None => dyno_drive::run(&job, watch),
        };
        let is_overview = driven.as_ref().is_ok_and(|(record, _)| record.series.full.is_some());
        let why = match keeper {
            Some(keeper) => keeper.finish(is_overview),
            None => Some("the run was taken for a short one".to_owned()),
        };
        match &mut driven {
            Ok((record, _)) if is_overview => keeper::note(record, why.as_ref()),
            _ => {}
        }
        if let Some(why) = why.filter(|_| is_overview) {
            talk.say(&format!("warning: of the full series not all could be stored: {why}"));
        }
        match driven {
            Ok((record, left)) => Ok((marked(record), left)),
            Err(error) => {
                // Nothing was started, so there is nothing to keep.
                self.repository.delete(&begun.run_id)?;
                Err(error.into())
            }
        }
    }
}

/// Draws names until one is free; a second holds 65,536.
fn begin(
    repository: &Repository,
    plan: &Plan,
    part_of: Option<&PartOf>,
    targets: &Targets,
) -> anyhow::Result<StartedRun> {
    let mut salt = u64::from(std::process::id());
    loop {
        let now = jiff::Timestamp::now();
        salt = mix(salt ^ now.as_nanosecond() as u64);
        let run_id = dyno_record::new_run_id(now, salt as u16);
        let started_at = dyno_record::rfc3339(now);
        let settled = settled(plan, run_stamp(&run_id));
        let mut started =
            StartedRun::by_this_process(run_id, started_at, targets.engines(), targets.urls(), settled);
        started.part_of = part_of.cloned();
        match repository.begin(&started) {
            Ok(()) => return Ok(started),
            Err(RepositoryError::Exists { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Points of a record's series at most. Tests of what lies beyond have not hours, and lower it.
fn series_points_max() -> usize {
    let lowered = std::env::var("DYNO_SERIES_POINTS_MAX").ok().and_then(|points| points.parse().ok());
    lowered.unwrap_or(dyno_record::OVERVIEW_POINTS_MAX).min(dyno_record::OVERVIEW_POINTS_MAX)
}

/// A number of this run alone.
fn run_stamp(run_id: &str) -> u64 {
    mix(run_id.bytes().fold(0, |hash, byte| mix(hash ^ u64::from(byte))))
}

/// The plan with a seed of this run's own, unless it names one. 32 bits are enough to tell runs apart, and short to write
/// down.
fn settled(plan: &Plan, run_stamp: u64) -> Plan {
    let mut plan = plan.clone();
    plan.workload.seed.get_or_insert(mix(run_stamp) >> 32);
    plan
}

/// Stores the record; where that fails, the record goes into a file, so that nothing is lost.
pub(in crate::commands) fn store(
    repository: &Repository,
    record: &RunRecord,
    talk: &Talk,
) -> anyhow::Result<()> {
    let Err(error) = repository.finish(record) else {
        return Ok(());
    };
    let name = format!("dyno-{}.json", record.id);
    for dir in [std::env::current_dir().unwrap_or_default(), std::env::temp_dir()] {
        let path = dir.join(&name);
        if crate::files::write_private(&path, record.to_json()?.as_bytes()).is_ok() {
            talk.error(
                &format!("the record could not be stored in the repository: {error}"),
                &format!(
                    "it was written to {0} instead; when there is room, `dyno import {0}` stores it",
                    path.display()
                ),
            );
            break;
        }
    }
    Err(error.into())
}
