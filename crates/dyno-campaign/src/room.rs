//! Makes room for the data of a plan: other data of Dyno is refused, or dropped if that is allowed.

use std::sync::Arc;

use dyno_engine::{DataState, Target};
use dyno_plan::{DataSpec, Plan};

use crate::campaign_context::CampaignContext;
use crate::data;
use crate::error::Error;
use crate::event::CampaignEvent;
use crate::targets::ReachedTargets;

/// What to do if the plan's data is missing.
#[derive(Clone, Copy)]
pub(crate) enum DataLoadPolicy<'a> {
    /// The data must exist; it is never loaded.
    Never,
    /// Missing data is loaded. Data of one of the plans `replaceable` may be replaced; with `replace`, all
    /// data of Dyno.
    AsNeeded { replaceable: &'a [Plan], replace: bool },
}

/// Makes room on all targets, and returns the data that `plan` needs on each; see [`make_room_on`].
pub(crate) fn make_room(
    ctx: &CampaignContext<'_>,
    plan: &Plan,
    targets: &ReachedTargets,
    loading: DataLoadPolicy<'_>,
) -> Result<Vec<DataSpec>, Error> {
    if let (DataLoadPolicy::AsNeeded { replaceable: replaceable_plans, replace }, None) =
        (loading, &plan.workload.folder)
    {
        for holder in targets.holders()? {
            holder.named(make_room_on(ctx, plan, &holder.target, replaceable_plans, replace))?;
        }
    }
    targets.all.iter().map(|reached| reached.spec(plan)).collect()
}

/// Refuses data that conflicts with `plan`, or drops it if it belongs to one of the plans `replaceable` or
/// may be replaced. It is dropped only if it cannot be replaced in place: an SQLite file has a single page
/// size.
fn make_room_on(
    ctx: &CampaignContext<'_>,
    plan: &Plan,
    target: &Arc<dyn Target>,
    replaceable: &[Plan],
    replace: bool,
) -> Result<(), Error> {
    let spec = data::spec(plan, target);
    let existing = match data::survey(target)? {
        DataState::Loaded { spec: there, .. } if !spec.as_ref().is_ok_and(|spec| *spec == there) => there,
        _ => return spec.map(drop),
    };
    let is_own = replaceable.iter().any(|plan| data::spec(plan, target).is_ok_and(|own| own == existing));
    if !replace && !is_own {
        let words = match &spec {
            Ok(spec) => data::difference(&existing, spec),
            Err(error) => error.to_string(),
        };
        return Err(Error::usage(
            format!(
                "the target contains other data than this point needs ({words}), and no point of the sweep \
                 uses it"
            ),
            "--replace drops it and loads what the sweep needs; or change the plan to match the existing data",
        ));
    }
    if spec.is_err() {
        ctx.emit(CampaignEvent::DroppingData);
        crate::load::with_retries(ctx, || target.block_data()?.drop_all())?;
        data::spec(plan, target)?;
    }
    Ok(())
}
