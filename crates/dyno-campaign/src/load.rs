//! Creates, fills and verifies the data of a plan.

use std::sync::Arc;
use std::time::Instant;

use dyno_engine::{
    LoadOptions, LoadProgressSink, LoadReport, LockPurpose, RETRIES, Target, TargetError, TargetErrorKind,
    retry,
};
use dyno_plan::{DataSpec, Plan};
use dyno_workload::custom::CustomWorkload;

use crate::campaign_context::CampaignContext;
use crate::described::{self, Replace};
use crate::error::Error;
use crate::event::{CampaignEvent, LoadEvent, WorkloadSetup};
use crate::targets::ReachedTargets;
use crate::{custom_data, custom_workloads, data, invariants};

/// A target whose data was loaded.
#[derive(Debug, Clone)]
pub struct LoadedTarget {
    pub url: String,
    pub done: LoadOutcome,
}

/// What was loaded into a target.
#[derive(Debug, Clone)]
pub enum LoadOutcome {
    /// Dyno's own test data was loaded, or existed already.
    Data(LoadReport),
    /// A custom workload was set up.
    SetUp(WorkloadSetup),
}

/// Loads the data of `plan`; with `replace`, data of another shape is dropped first.
///
/// # Errors
/// A target cannot be reached or loaded, or holds other data.
pub fn load(ctx: &CampaignContext<'_>, plan: &Plan, replace: bool) -> Result<Vec<LoadedTarget>, Error> {
    let workloads = custom_workloads::read_workloads(plan, ctx.engines.specs)?;
    let targets = ReachedTargets::reach(ctx, plan)?;
    let holders = targets.holders()?;
    ctx.emit(CampaignEvent::Reached);
    let specs = holders.iter().map(|holder| holder.spec(plan)).collect::<Result<Vec<_>, _>>()?;
    let _locks = targets.lock(LockPurpose::Load, ctx)?;
    let mut all = Vec::new();
    for (holder, spec) in holders.iter().zip(&specs) {
        let (target, url) = (holder.target.as_ref(), holder.target.url());
        if targets.is_several() {
            ctx.emit(CampaignEvent::Load(LoadEvent::Target(url.clone())));
        }
        if target.capabilities().ephemeral {
            ctx.emit(CampaignEvent::Load(LoadEvent::Ephemeral));
        }
        let parallel = plan.data.load_parallel;
        for workload in custom_workloads::distinct_workloads(&workloads) {
            let workload_outcome =
                holder.named(load_workload(ctx, &holder.target, workload, parallel, replace))?;
            all.push(LoadedTarget { url: url.clone(), done: workload_outcome });
        }
        if workloads.is_empty() {
            let data_outcome =
                LoadOutcome::Data(holder.named(load_test_data(ctx, target, spec, parallel, replace))?);
            all.push(LoadedTarget { url, done: data_outcome });
        }
    }
    if targets.is_shared() {
        ctx.emit(CampaignEvent::WaitingForData);
        targets.wait_for_data(plan, &ctx.cancel)?;
    }
    Ok(all)
}

/// Sets up a custom workload.
fn load_workload(
    ctx: &CampaignContext<'_>,
    target: &Arc<dyn Target>,
    workload: &CustomWorkload,
    parallel: u32,
    replace: bool,
) -> Result<LoadOutcome, TargetError> {
    let replace = if replace { Replace::All } else { Replace::Nothing };
    let mut report = set_up(ctx, target.as_ref(), workload, parallel, replace)?;
    if !report.already {
        let began = Instant::now();
        report.conditions = invariants::check_after_load(ctx, target, workload)?;
        report.conditions_s = began.elapsed().as_secs_f64();
    }
    ctx.emit(CampaignEvent::Load(LoadEvent::SetUp(report.clone())));
    Ok(LoadOutcome::SetUp(report))
}

/// Creates and fills the tables of a custom workload, and executes its setup SQL.
pub(crate) fn set_up(
    ctx: &CampaignContext<'_>,
    target: &dyn Target,
    workload: &CustomWorkload,
    parallel: u32,
    replace: Replace,
) -> Result<WorkloadSetup, TargetError> {
    if !workload.tables().is_empty() {
        return with_retries(ctx, || described::load(ctx, target, workload, parallel, replace));
    }
    let began = Instant::now();
    if replace == Replace::All {
        custom_data::tear_down_workload(ctx, target, workload)?;
    }
    let statements = custom_data::set_up(ctx, target, workload)?;
    let (name, seconds) = (workload.name().to_owned(), began.elapsed().as_secs_f64());
    Ok(WorkloadSetup { name, statements, seconds, ..WorkloadSetup::default() })
}

pub(crate) fn load_test_data(
    ctx: &CampaignContext<'_>,
    target: &dyn Target,
    spec: &DataSpec,
    parallel: u32,
    replace: bool,
) -> Result<LoadReport, TargetError> {
    let options = LoadOptions {
        parallel: parallel.min(target.capabilities().load_parallel_max),
        replace,
        dyno_version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let report = match attempt(ctx, target, spec, &options) {
        // Only objects that Dyno recorded are removed. Other objects in the way are still an error.
        Err(error) if replace && is_damage(error.kind) => {
            ctx.emit(CampaignEvent::Load(LoadEvent::Damaged(error.to_string())));
            with_retries(ctx, || target.block_data()?.drop_all())?;
            attempt(ctx, target, spec, &options)?
        }
        outcome => outcome?,
    };
    ctx.emit(CampaignEvent::Load(LoadEvent::Done(report.clone())));
    Ok(report)
}

/// Whether an error may mean damaged data; a missing table or column counts, too.
fn is_damage(kind: TargetErrorKind) -> bool {
    matches!(kind, TargetErrorKind::Data | TargetErrorKind::Database)
}

/// Loads the data, and checks that existing data is unchanged. If it is to be replaced, rows that updates
/// have moved together count as damaged.
fn attempt(
    ctx: &CampaignContext<'_>,
    target: &dyn Target,
    spec: &DataSpec,
    options: &LoadOptions,
) -> Result<LoadReport, TargetError> {
    let outcome = with_retries(ctx, || {
        target.block_data()?.load(spec, options, &LoadProgressReporter(ctx), &ctx.cancel)
    });
    ctx.emit(CampaignEvent::Load(LoadEvent::Over));
    let report = outcome?;
    if report.already
        && let Some(note) = target.block_data()?.spot_check(spec, data::spot_seed())?
    {
        if options.replace {
            return Err(TargetError::new(TargetErrorKind::Data, note));
        }
        ctx.emit(CampaignEvent::Load(LoadEvent::Worn(format!("{note}; {}", data::SPREAD_AGAIN))));
    }
    Ok(report)
}

/// Retries `work` if the database rolled it back because of other transactions. A killed server may still be
/// rolling back an earlier load. Loads continue where they stopped, so nothing is done twice.
pub(crate) fn with_retries<T>(
    ctx: &CampaignContext<'_>,
    work: impl FnMut() -> Result<T, TargetError>,
) -> Result<T, TargetError> {
    retry(work, |error, retry| {
        ctx.emit(CampaignEvent::Load(LoadEvent::Retried(error.to_string(), retry, RETRIES)));
        !ctx.cancel.is_cancelled()
    })
}

/// Reports a load's progress as events.
struct LoadProgressReporter<'a>(&'a CampaignContext<'a>);

impl LoadProgressSink for LoadProgressReporter<'_> {
    fn phase(&self, name: &str, rows: u64) {
        self.0.emit(CampaignEvent::Load(LoadEvent::Phase(name.to_owned(), rows)));
    }

    fn advance(&self, rows: u64, bytes: u64) {
        self.0.emit(CampaignEvent::Load(LoadEvent::Advance(rows, bytes)));
    }
}
