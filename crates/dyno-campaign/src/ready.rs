//! Everything that is there before a run begins: targets reached and locked, with their data.

use std::sync::Arc;
use std::time::Duration;

use dyno_engine::{
    Clock, DataState, Lock, MonotonicClock, Target, TargetError, TargetErrorKind, Work, patience,
};
use dyno_plan::{DataSpec, Plan, Sweep};
use dyno_record::{Repository, Status};
use dyno_workload::own::Own;

use crate::described::Replace;
use crate::error::Error;
use crate::event::Event;
use crate::lead::{Lead, Marks};
use crate::load::{load_one, set_up};
use crate::refuse::{refuse_impossible, refuse_page_cache};
use crate::room::{Loading, make_room};
use crate::targets::{Reached, Targets};
use crate::{consent, data, described, hosts, own, writes};

/// Everything that is there before a run begins.
pub(crate) struct Ready<'a> {
    pub(crate) lead: &'a Lead<'a>,
    pub(crate) plan: Plan,
    pub(crate) repository: Repository,
    pub(crate) targets: Targets,
    /// The workloads of the user's own that the plan names, in the order of its sides.
    pub(crate) owns: Vec<Arc<Own>>,
    /// The data of each target, in their order.
    pub(crate) specs: Vec<DataSpec>,
    /// Whether targets and data were looked at and no run has been since.
    pub(crate) fresh: bool,
    /// Whether the data of the plan could not be made: then it is tried again before the next run.
    lacks_data: bool,
    /// Runs that have ended with a record, and the status of the last.
    pub(crate) ended: (u32, Option<Status>),
    pub(crate) locks: Vec<Lock>,
    /// What every run is marked with.
    pub(crate) marks: Marks,
    loading: Loading<'a>,
    work: Work,
}

impl<'a> Ready<'a> {
    /// Gets ready for a run of `plan`, if the target `suits`.
    pub(crate) fn new(
        lead: &'a Lead<'a>,
        plan: Plan,
        work: Work,
        loading: Loading<'a>,
        suits: impl Fn(&dyn Target) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let owns = own::of(&plan, lead.engines.specs)?;
        consent::require(lead, &plan)?;
        // Opened first: a repository that cannot be written is found before the run, not after it.
        let repository = lead.repository()?;
        // What it says of sweeps is for others.
        let plan = own::settled(Plan { sweep: Sweep::default(), ..plan }, &owns);
        let targets = Targets::reach(lead, &plan)?;
        refuse_impossible(&plan, &owns, &targets)?;
        if let Loading::AsNeeded { own, .. } = loading {
            own.iter().try_for_each(|plan| refuse_page_cache(plan, &targets))?;
        }
        writes::require(lead, &owns, &targets)?;
        for reached in &targets.all {
            suits(reached.target.as_ref())?;
        }
        lead.tell(Event::Reached);
        let locks = targets.lock(work, lead)?;
        let specs = make_room(lead, &plan, &targets, loading)?;
        let (ended, marks, fresh) = ((0, None), lead.marks.clone(), true);
        let lacks_data = false;
        let mut ready = Self {
            lead,
            plan,
            repository,
            targets,
            owns,
            specs,
            fresh,
            lacks_data,
            ended,
            locks,
            marks,
            loading,
            work,
        };
        ready.ready_data(loading)?;
        Ok(ready)
    }

    /// Gets ready for a run of another `plan`: with the same target and data there is nothing to do.
    pub(crate) fn turn_to(&mut self, plan: Plan) -> Result<(), Error> {
        let same_target = plan.target == self.plan.target;
        let (new, old) = (&plan.workload, &self.plan.workload);
        let other_folder = (&new.folder, &new.beside) != (&old.folder, &old.beside);
        let other_scale = new.scale != old.scale;
        let other_mix =
            (&new.mix, &new.options, &new.beside_mix) != (&old.mix, &old.options, &old.beside_mix);
        if other_folder || other_scale || other_mix {
            self.owns = own::of(&plan, self.lead.engines.specs)?;
            if same_target {
                writes::require(self.lead, &self.owns, &self.targets)?;
            }
        }
        let has_tables = self.owns.iter().any(|own| !own.tables().is_empty());
        let other_tables = (other_folder && !self.owns.is_empty()) || (other_scale && has_tables);
        self.plan = own::settled(plan, &self.owns);
        if !same_target {
            return self.reach(self.loading);
        }
        refuse_impossible(&self.plan, &self.owns, &self.targets)?;
        let specs = make_room(self.lead, &self.plan, &self.targets, self.loading)?;
        if specs != self.specs || other_tables || self.lacks_data {
            self.specs = specs;
            self.lacks_data = true;
            self.ready_data(self.loading)?;
            self.lacks_data = false;
            self.fresh = true;
        }
        Ok(())
    }

    /// The only target, or the first.
    pub(crate) fn target(&self) -> &Arc<dyn Target> {
        &self.targets.first().target
    }

    /// Reaches the plan's targets anew, and locks them.
    pub(crate) fn reach(&mut self, loading: Loading<'_>) -> Result<(), Error> {
        self.locks.clear();
        self.targets = Targets::reach(self.lead, &self.plan)?;
        refuse_impossible(&self.plan, &self.owns, &self.targets)?;
        // What cannot be looked at is found now, and not after hours of loading.
        let clock: Arc<dyn Clock> = Arc::new(MonotonicClock::default());
        hosts::reach(&self.plan, &self.targets.all, &clock, self.lead)?;
        writes::require(self.lead, &self.owns, &self.targets)?;
        self.locks = self.targets.lock(self.work, self.lead)?;
        self.specs = make_room(self.lead, &self.plan, &self.targets, loading)?;
        self.ready_data(loading)?;
        self.fresh = true;
        Ok(())
    }

    /// Makes sure that the targets hold the data, loading it where `loading` allows, or where it cannot outlive the
    /// process.
    fn ready_data(&mut self, loading: Loading<'_>) -> Result<(), Error> {
        if self.targets.is_shared() && matches!(loading, Loading::AsNeeded { .. }) {
            for holder in self.targets.holders()? {
                holder.named(self.ready_one(holder, &holder.spec(&self.plan)?, loading))?;
            }
            return self.targets.wait_seen(&self.plan, &self.lead.cancel);
        }
        let each = self.targets.all.iter().zip(&self.specs);
        let notes: Vec<_> = each
            .map(|(reached, spec)| reached.named(self.ready_one(reached, spec, loading)))
            .collect::<Result<_, _>>()?;
        for (reached, note) in self.targets.all.iter_mut().zip(notes) {
            reached.data_note = note;
        }
        Ok(())
    }

    /// Returns what updates have made of data that was there already, as [`data::require`] does.
    fn ready_one(
        &self,
        reached: &Reached,
        spec: &DataSpec,
        loading: Loading<'_>,
    ) -> Result<Option<String>, TargetError> {
        if !self.owns.is_empty() {
            // What is in memory alone is made for each run; on everything else `dyno load` makes it.
            own::of_data(&self.owns)
                .try_for_each(|own| self.ready_own(reached.target.as_ref(), own, loading))?;
            return Ok(None);
        }
        let (target, may_load) = (reached.target.as_ref(), matches!(loading, Loading::AsNeeded { .. }));
        let load =
            |replace| load_one(self.lead, target, spec, self.plan.data.load_parallel, replace).map(|_| None);
        if target.capabilities().ephemeral {
            return load(may_load);
        }
        if self.lead.cancel.is_cancelled() {
            return Err(TargetError::new(TargetErrorKind::Cancelled, "stopped before the run began"));
        }
        self.lead.tell(Event::LookingAtData);
        if may_load {
            match data::survey(&reached.target)? {
                DataState::Empty | DataState::Partial { .. } => return load(false),
                // What may not be replaced was refused before.
                DataState::Loaded { spec: there, .. } if there != *spec => return load(true),
                DataState::Loaded { .. } => {}
            }
        }
        require_data(self.lead, reached, spec)
    }
}

impl Ready<'_> {
    /// Makes sure that a target holds what a workload of the user's own needs, as far as that is known.
    fn ready_own(&self, target: &dyn Target, own: &Own, loading: Loading<'_>) -> Result<(), TargetError> {
        let load =
            |replace| set_up(self.lead, target, own, self.plan.data.load_parallel, replace).map(|_| ());
        if target.capabilities().ephemeral {
            return load(Replace::Others);
        }
        if let (Loading::AsNeeded { own: plans, replace }, false) = (loading, own.tables().is_empty()) {
            let may_go = |scale: u64| {
                replace || plans.iter().any(|plan| plan.workload.scale.map(u64::from) == Some(scale))
            };
            match described::holds(target, own)? {
                Ok(()) => {}
                Err(Some(scale)) if may_go(scale) => return load(Replace::Others),
                Err(_) => return load(Replace::Nothing),
            }
        }
        described::require(target, own)
    }
}

/// How long the rows of a run that was broken off may take to be removed.
const SWEEP_MAX: Duration = Duration::from_secs(600);

/// Makes sure that a target holds the data, after removing what a run that was broken off has inserted; returns what
/// updates have made of it. Waits for nobody's lock without end.
pub(crate) fn require_data(
    lead: &Lead<'_>,
    reached: &Reached,
    spec: &DataSpec,
) -> Result<Option<String>, TargetError> {
    if spec.is_none() {
        return Ok(None);
    }
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
        let doing = "looking for rows that a run has left";
        if let Some(rows) = patience::within(SWEEP_MAX, &lead.cancel, doing, sweep)? {
            lead.tell(Event::Removed(rows));
        }
    }
    data::require(&reached.target, spec, &lead.cancel)
}
