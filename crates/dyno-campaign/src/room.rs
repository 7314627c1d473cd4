//! Room for the data of a plan: what stands in its way is refused, or dropped where that is allowed.

use std::sync::Arc;

use dyno_engine::{DataState, Target};
use dyno_plan::{DataSpec, Plan};

use crate::data;
use crate::error::Error;
use crate::event::Event;
use crate::lead::Lead;
use crate::targets::Targets;

/// What to do about data that is not there.
#[derive(Clone, Copy)]
pub(crate) enum Loading<'a> {
    /// It must be there.
    Never,
    /// Load it; data of one of these plans may be replaced, and any of Dyno's with `replace`.
    AsNeeded { own: &'a [Plan], replace: bool },
}

/// The data that `plan` needs on each target; see [`make_room_on`].
pub(crate) fn make_room(
    lead: &Lead<'_>,
    plan: &Plan,
    targets: &Targets,
    loading: Loading<'_>,
) -> Result<Vec<DataSpec>, Error> {
    if let (Loading::AsNeeded { own, replace }, None) = (loading, &plan.workload.folder) {
        for holder in targets.holders()? {
            holder.named(make_room_on(lead, plan, &holder.target, own, replace))?;
        }
    }
    targets.all.iter().map(|reached| reached.spec(plan)).collect()
}

/// Data that stands in the way of what `plan` needs is refused, or dropped where it is one of `own` plans or may be replaced,
/// and cannot be replaced in place: a file of SQLite's has one page size.
fn make_room_on(
    lead: &Lead<'_>,
    plan: &Plan,
    target: &Arc<dyn Target>,
    own: &[Plan],
    replace: bool,
) -> Result<(), Error> {
    let spec = data::spec(plan, target);
    let there = match data::survey(target)? {
        DataState::Loaded { spec: there, .. } if !spec.as_ref().is_ok_and(|spec| *spec == there) => there,
        _ => return spec.map(drop),
    };
    let is_own = own.iter().any(|plan| data::spec(plan, target).is_ok_and(|own| own == there));
    if !replace && !is_own {
        let words = match &spec {
            Ok(spec) => data::difference(&there, spec),
            Err(error) => error.to_string(),
        };
        return Err(Error::usage(
            format!(
                "the target holds other data than this point needs ({words}), which no point of the sweep has"
            ),
            "--replace drops it and loads what the sweep needs, or change the plan to what is there",
        ));
    }
    if spec.is_err() {
        lead.tell(Event::DroppingData);
        crate::load::retried(lead, || target.drop_all())?;
        data::spec(plan, target)?;
    }
    Ok(())
}
