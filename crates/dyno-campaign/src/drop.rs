//! Removes exactly what Dyno created on the targets.

use std::sync::Arc;

use dyno_engine::{DropItem, Holder, LockPurpose, Target, TargetError};
use dyno_plan::Plan;
use dyno_workload::custom::CustomWorkload;

use crate::campaign_context::CampaignContext;
use crate::error::Error;
use crate::event::{CampaignEvent, TargetObjects};
use crate::load::with_retries;
use crate::targets::{self, ReachedTarget, ReachedTargets};
use crate::{custom_data, custom_workloads, described};

/// Removes what Dyno created on the targets of `plan`; returns what was removed and what stays. `None` if the
/// user does not agree for one of them.
///
/// # Errors
/// A target cannot be reached, is in use by another process, or refuses to drop an object.
pub fn drop_data(
    ctx: &CampaignContext<'_>,
    plan: &Plan,
    agrees: impl Fn(&TargetObjects) -> Result<bool, Error>,
) -> Result<Option<Vec<TargetObjects>>, Error> {
    let workloads = custom_workloads::read_workloads(plan, ctx.engines.specs)?;
    let targets = ReachedTargets::reach(ctx, plan)?;
    let mut all = Vec::new();
    for holder in targets.holders()? {
        let Some(removed) = holder.named(drop_from(ctx, plan, &workloads, holder, &agrees))? else {
            return Ok(None);
        };
        ctx.emit(CampaignEvent::Dropped(removed.clone()));
        all.push(removed);
    }
    Ok(Some(all))
}

/// Removes Dyno's objects from one target; `None` if the user does not agree.
fn drop_from(
    ctx: &CampaignContext<'_>,
    plan: &Plan,
    workloads: &[Arc<CustomWorkload>],
    holder: &ReachedTarget,
    agrees: &impl Fn(&TargetObjects) -> Result<bool, Error>,
) -> Result<Option<TargetObjects>, Error> {
    let target = holder.target.as_ref();
    // Removed in reverse order of creation.
    let data = || custom_workloads::distinct_workloads(workloads).rev();
    let objects = match workloads.is_empty() {
        false => {
            let items = data().map(|workload| items(workload, target)).collect::<Result<Vec<_>, _>>()?;
            TargetObjects { url: target.url(), items: items.concat(), left: Vec::new() }
        }
        true => match target.block_data() {
            Ok(data) => TargetObjects { url: target.url(), items: data.inventory()?, left: data.foreign()? },
            Err(_) => TargetObjects { url: target.url(), items: Vec::new(), left: Vec::new() },
        },
    };
    if objects.items.is_empty() {
        return Ok(Some(objects));
    }
    let _lock = holder.lock(&Holder::this_process(LockPurpose::Drop), targets::claim(plan), ctx)?;
    if !agrees(&objects)? {
        return Ok(None);
    }
    if workloads.is_empty() {
        return Ok(Some(TargetObjects {
            items: with_retries(ctx, || target.block_data()?.drop_all())?,
            ..objects
        }));
    }
    for custom_workload in data() {
        match custom_workload.tables().is_empty() {
            true => drop(custom_data::tear_down_workload(ctx, target, custom_workload)?),
            false => described::tear_down(ctx, target, custom_workload)?,
        }
    }
    let emptied = remove_emptied_file(target)?;
    Ok(Some(TargetObjects { items: [objects.items, emptied].concat(), ..objects }))
}

/// Removes a database file that Dyno created, if nothing else is in it.
fn remove_emptied_file(target: &dyn Target) -> Result<Vec<DropItem>, TargetError> {
    let Ok(data) = target.block_data() else { return Ok(Vec::new()) };
    let items = data.inventory()?;
    match !items.is_empty() && items.iter().all(|item| item.kind == "file") {
        true => data.drop_all(),
        false => Ok(Vec::new()),
    }
}

/// Lists what is removed for a custom workload.
fn items(workload: &CustomWorkload, target: &dyn Target) -> Result<Vec<DropItem>, TargetError> {
    match workload.tables().is_empty() {
        true => Ok(custom_data::teardown_items(workload, target)),
        false => described::inventory(target, workload),
    }
}
