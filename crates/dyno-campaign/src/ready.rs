//! Everything that is there before a run begins: targets reached and locked, with their data.

mod measure;

use std::sync::Arc;
use std::time::Duration;

use dyno_engine::{Cancel, DataState, Lock, Target, TargetError, TargetErrorKind, Work, patience};
use dyno_plan::{DataSpec, Plan};
use dyno_record::{Repository, Status};

pub(super) use measure::{Begun, store};

use super::load;
use super::refuse::refuse_impossible;
use super::room::{Loading, make_room};
use crate::cli::{Common, Marks};
use crate::consent;
use crate::context;
use crate::signals;
use crate::talk::Talk;
use crate::targets::{Reached, Targets};

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
    pub(super) specs: Vec<DataSpec>,
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
        consent::require(common, &plan, talk)?;
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
        let mut ready = Self {
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

    /// Makes sure that the targets hold the data, loading it where `loading` allows, or where it cannot outlive the
    /// process.
    fn ready_data(&mut self, loading: &Loading<'_>, talk: &Talk) -> anyhow::Result<()> {
        if self.targets.is_shared() && matches!(loading, Loading::AsNeeded { .. }) {
            for holder in self.targets.holders()? {
                holder.named(self.ready_one(holder, &holder.spec(&self.plan)?, loading, talk))?;
            }
            return self.targets.wait_seen(&self.plan, &self.cancel);
        }
        let each = self.targets.all.iter().zip(&self.specs);
        let notes: Vec<_> = each
            .map(|(reached, spec)| reached.named(self.ready_one(reached, spec, loading, talk)))
            .collect::<Result<_, _>>()?;
        for (reached, note) in self.targets.all.iter_mut().zip(notes) {
            reached.data_note = note;
        }
        Ok(())
    }

    /// Returns what updates have made of data that was there already, as [`context::require_data`] does.
    fn ready_one(
        &self,
        reached: &Reached,
        spec: &DataSpec,
        loading: &Loading<'_>,
        talk: &Talk,
    ) -> anyhow::Result<Option<String>> {
        let (target, cancel) = (reached.target.as_ref(), &self.cancel);
        let load = |replace| load::load(target, spec, self.plan.data.load_parallel, replace, talk, cancel);
        if target.capabilities().ephemeral {
            let replace = matches!(loading, Loading::AsNeeded { .. });
            load(replace)?;
            return Ok(None);
        }
        if cancel.is_cancelled() {
            return Err(TargetError::new(TargetErrorKind::Cancelled, "stopped before the run began").into());
        }
        talk.detail("looking at the data");
        if let Loading::AsNeeded { .. } = loading {
            match context::survey(&reached.target)? {
                DataState::Empty | DataState::Partial { .. } => return load(false).map(|_| None),
                // What may not be replaced was refused before.
                DataState::Loaded { spec: there, .. } if there != *spec => return load(true).map(|_| None),
                DataState::Loaded { .. } => {}
            }
        }
        require_data(reached, spec, cancel, talk)
    }
}

/// How long the rows of a run that was broken off may take to be removed.
const SWEEP_MAX: Duration = Duration::from_secs(600);

/// Makes sure that a target holds the data, after removing what a run that was broken off has inserted; returns what
/// updates have made of it. Waits for nobody's lock without end.
fn require_data(
    reached: &Reached,
    spec: &DataSpec,
    cancel: &Cancel,
    talk: &Talk,
) -> anyhow::Result<Option<String>> {
    // On what takes reads only the others' deletions arrive by themselves.
    if reached.reads_only.is_none() {
        let (target, its) = (Arc::clone(&reached.target), spec.clone());
        let sweep = move || {
            let holds = matches!(target.survey()?, DataState::Loaded { spec: there, .. } if there == its);
            match holds && target.own_rows(&its)? > 0 {
                true => target.sweep_up(&its).map(Some),
                false => Ok(None),
            }
        };
        if let Some(rows) =
            patience::within(SWEEP_MAX, cancel, "looking for rows that a run has left", sweep)?
        {
            talk.say(&format!("removed {rows} rows that a run had inserted and left behind"));
        }
    }
    Ok(context::require_data(&reached.target, spec, cancel)?)
}
