//! Prepares runs: connects to the targets, locks them, and makes sure that they hold the data.

use std::sync::Arc;
use std::time::Duration;

use dyno_engine::{
    Clock, DataState, Lock, LockPurpose, MonotonicClock, Target, TargetError, TargetErrorKind, bounded_query,
};
use dyno_plan::{DataSpec, Plan, SweepSettings};
use dyno_record::{Repository, Status};
use dyno_workload::custom::CustomWorkload;

use crate::campaign_context::{CampaignContext, RunLabels};
use crate::described::Replace;
use crate::error::Error;
use crate::event::CampaignEvent;
use crate::load::{load_test_data, set_up};
use crate::refuse::{refuse_impossible, refuse_page_cache};
use crate::room::{DataLoadPolicy, make_room};
use crate::targets::{ReachedTarget, ReachedTargets};
use crate::{consent, custom_workloads, data, described, hosts, writes};

/// A prepared campaign: its targets, locks, workloads and data.
pub(crate) struct PreparedCampaign<'a> {
    pub(crate) ctx: &'a CampaignContext<'a>,
    pub(crate) plan: Plan,
    pub(crate) repository: Repository,
    pub(crate) targets: ReachedTargets,
    /// The custom workloads of the plan, in the order of its sides.
    pub(crate) workloads: Vec<Arc<CustomWorkload>>,
    /// The data of each target, in the order of the targets.
    pub(crate) specs: Vec<DataSpec>,
    /// Whether targets and data were checked and no run has taken place since.
    pub(crate) is_checked: bool,
    /// Whether preparing the data failed, so that it is tried again before the next run.
    needs_data: bool,
    /// Number of runs that ended with a record, and the status of the last.
    pub(crate) run_totals: (u32, Option<Status>),
    pub(crate) locks: Vec<Lock>,
    /// The labels of every run.
    pub(crate) marks: RunLabels,
    loading: DataLoadPolicy<'a>,
    work: LockPurpose,
}

impl<'a> PreparedCampaign<'a> {
    /// Prepares a run of `plan`, if every target passes `suits`.
    pub(crate) fn new(
        ctx: &'a CampaignContext<'a>,
        plan: Plan,
        work: LockPurpose,
        loading: DataLoadPolicy<'a>,
        suits: impl Fn(&dyn Target) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let custom_workloads = custom_workloads::read_workloads(&plan, ctx.engines.specs)?;
        consent::require_command_consent(ctx, &plan)?;
        // Opened first, so that an unwritable repository is detected before the run.
        let repository = ctx.repository()?;
        // The caller handles the plan's sweep.
        let plan = custom_workloads::apply_workload_rates(
            Plan { sweep: SweepSettings::default(), ..plan },
            &custom_workloads,
        );
        let targets = ReachedTargets::reach(ctx, &plan)?;
        refuse_impossible(&plan, &custom_workloads, &targets)?;
        if let DataLoadPolicy::AsNeeded { replaceable: replaceable_plans, .. } = loading {
            replaceable_plans.iter().try_for_each(|plan| refuse_page_cache(plan, &targets))?;
        }
        writes::require_write_consent(ctx, &custom_workloads, &targets)?;
        for reached in &targets.all {
            suits(reached.target.as_ref())?;
        }
        ctx.emit(CampaignEvent::Reached);
        let locks = targets.lock(work, ctx)?;
        let specs = make_room(ctx, &plan, &targets, loading)?;
        let (ended, marks, fresh) = ((0, None), ctx.marks.clone(), true);
        let lacks_data = false;
        let mut ready = Self {
            ctx,
            plan,
            repository,
            targets,
            workloads: custom_workloads,
            specs,
            is_checked: fresh,
            needs_data: lacks_data,
            run_totals: ended,
            locks,
            marks,
            loading,
            work,
        };
        ready.prepare_data(loading)?;
        Ok(ready)
    }

    /// Prepares a run of another `plan`; with the same target and data, little is done.
    pub(crate) fn switch_to(&mut self, plan: Plan) -> Result<(), Error> {
        let same_target = plan.target == self.plan.target;
        let (new, old) = (&plan.workload, &self.plan.workload);
        let other_folder = (&new.folder, &new.beside) != (&old.folder, &old.beside);
        let other_scale = new.scale != old.scale;
        let other_mix =
            (&new.mix, &new.options, &new.beside_mix) != (&old.mix, &old.options, &old.beside_mix);
        if other_folder || other_scale || other_mix {
            self.workloads = custom_workloads::read_workloads(&plan, self.ctx.engines.specs)?;
            if same_target {
                writes::require_write_consent(self.ctx, &self.workloads, &self.targets)?;
            }
        }
        let has_tables = self.workloads.iter().any(|custom_workload| !custom_workload.tables().is_empty());
        let other_tables = (other_folder && !self.workloads.is_empty()) || (other_scale && has_tables);
        self.plan = custom_workloads::apply_workload_rates(plan, &self.workloads);
        if !same_target {
            return self.reconnect(self.loading);
        }
        refuse_impossible(&self.plan, &self.workloads, &self.targets)?;
        let specs = make_room(self.ctx, &self.plan, &self.targets, self.loading)?;
        if specs != self.specs || other_tables || self.needs_data {
            self.specs = specs;
            self.needs_data = true;
            self.prepare_data(self.loading)?;
            self.needs_data = false;
            self.is_checked = true;
        }
        Ok(())
    }

    /// The first target, or the only one.
    pub(crate) fn target(&self) -> &Arc<dyn Target> {
        &self.targets.first().target
    }

    /// Connects to the plan's targets again, and locks them.
    pub(crate) fn reconnect(&mut self, loading: DataLoadPolicy<'_>) -> Result<(), Error> {
        self.locks.clear();
        self.targets = ReachedTargets::reach(self.ctx, &self.plan)?;
        refuse_impossible(&self.plan, &self.workloads, &self.targets)?;
        // Detects an unreachable machine now, and not after hours of loading.
        let clock: Arc<dyn Clock> = Arc::new(MonotonicClock::default());
        hosts::connect_hosts(&self.plan, &self.targets.all, &clock, self.ctx)?;
        writes::require_write_consent(self.ctx, &self.workloads, &self.targets)?;
        self.locks = self.targets.lock(self.work, self.ctx)?;
        self.specs = make_room(self.ctx, &self.plan, &self.targets, loading)?;
        self.prepare_data(loading)?;
        self.is_checked = true;
        Ok(())
    }

    /// Makes sure that the targets hold the data. It is loaded if `loading` allows that, or if the target is
    /// in memory.
    fn prepare_data(&mut self, loading: DataLoadPolicy<'_>) -> Result<(), Error> {
        if self.targets.is_shared() && matches!(loading, DataLoadPolicy::AsNeeded { .. }) {
            for holder in self.targets.holders()? {
                holder.named(self.prepare_target_data(holder, &holder.spec(&self.plan)?, loading))?;
            }
            return self.targets.wait_for_data(&self.plan, &self.ctx.cancel);
        }
        let targets_and_specs = self.targets.all.iter().zip(&self.specs);
        let notes: Vec<_> = targets_and_specs
            .map(|(reached, spec)| reached.named(self.prepare_target_data(reached, spec, loading)))
            .collect::<Result<_, _>>()?;
        for (reached, note) in self.targets.all.iter_mut().zip(notes) {
            reached.data_note = note;
        }
        Ok(())
    }

    /// Prepares one target; returns what updates have changed about existing data, as [`data::require`] does.
    fn prepare_target_data(
        &self,
        reached: &ReachedTarget,
        spec: &DataSpec,
        loading: DataLoadPolicy<'_>,
    ) -> Result<Option<String>, TargetError> {
        if !self.workloads.is_empty() {
            // Data in memory is created for each run; elsewhere `dyno load` creates it.
            custom_workloads::distinct_workloads(&self.workloads).try_for_each(|workload| {
                self.prepare_workload_data(reached.target.as_ref(), workload, loading)
            })?;
            return Ok(None);
        }
        let (target, may_load) =
            (reached.target.as_ref(), matches!(loading, DataLoadPolicy::AsNeeded { .. }));
        let load = |replace| {
            load_test_data(self.ctx, target, spec, self.plan.data.load_parallel, replace).map(|_| None)
        };
        if target.capabilities().ephemeral {
            return load(may_load);
        }
        if self.ctx.cancel.is_cancelled() {
            return Err(TargetError::new(TargetErrorKind::Cancelled, "stopped before the run began"));
        }
        self.ctx.emit(CampaignEvent::LookingAtData);
        if may_load {
            match data::survey(&reached.target)? {
                DataState::Empty | DataState::Partial { .. } => return load(false),
                // Data that must not be replaced was refused before.
                DataState::Loaded { spec: there, .. } if there != *spec => return load(true),
                DataState::Loaded { .. } => {}
            }
        }
        require_data(self.ctx, reached, spec)
    }
}

impl PreparedCampaign<'_> {
    /// Makes sure that a target holds the data of a custom workload, as far as Dyno knows it.
    fn prepare_workload_data(
        &self,
        target: &dyn Target,
        custom_workload: &CustomWorkload,
        loading: DataLoadPolicy<'_>,
    ) -> Result<(), TargetError> {
        let load = |replace| {
            set_up(self.ctx, target, custom_workload, self.plan.data.load_parallel, replace).map(|_| ())
        };
        if target.capabilities().ephemeral {
            return load(Replace::Others);
        }
        if let (DataLoadPolicy::AsNeeded { replaceable: plans, replace }, false) =
            (loading, custom_workload.tables().is_empty())
        {
            let may_go = |scale: u64| {
                replace || plans.iter().any(|plan| plan.workload.scale.map(u64::from) == Some(scale))
            };
            match described::holds(target, custom_workload)? {
                Ok(()) => {}
                Err(Some(scale)) if may_go(scale) => return load(Replace::Others),
                Err(_) => return load(Replace::Nothing),
            }
        }
        described::require(target, custom_workload)
    }
}

/// How long deleting the rows of an interrupted run may take.
const SWEEP_MAX: Duration = Duration::from_secs(600);

/// Deletes rows that an interrupted run inserted, then checks that the target holds the data. Returns what
/// updates have changed about it. Waiting for locks has a time limit.
pub(crate) fn require_data(
    ctx: &CampaignContext<'_>,
    reached: &ReachedTarget,
    spec: &DataSpec,
) -> Result<Option<String>, TargetError> {
    if spec.is_none() {
        return Ok(None);
    }
    // On a read-only target the deletions arrive through replication.
    if reached.reads_only.is_none() {
        let (target, its) = (Arc::clone(&reached.target), spec.clone());
        let sweep = move || {
            let data = target.block_data()?;
            let holds = matches!(data.survey()?, DataState::Loaded { spec: there, .. } if there == its);
            match holds && data.leftover_rows(&its)? > 0 {
                true => data.delete_leftover_rows(&its).map(Some),
                false => Ok(None),
            }
        };
        let doing = "looking for rows that an earlier run left";
        if let Some(rows) = bounded_query::within(SWEEP_MAX, &ctx.cancel, doing, sweep)? {
            ctx.emit(CampaignEvent::Removed(rows));
        }
    }
    data::require(&reached.target, spec, &ctx.cancel)
}
