//! Room for the data of a plan: what stands in its way is refused, or dropped where that is allowed.

use std::sync::Arc;

use dyno_engine::{DataState, Target};
use dyno_plan::{DataSpec, Plan};

use crate::context;
use crate::exit::usage;
use crate::talk::Talk;
use crate::targets::Targets;

/// The data that `plan` needs on each target; see [`make_room_on`].
pub(super) fn make_room(
    plan: &Plan,
    targets: &Targets,
    loading: &Loading<'_>,
    talk: &Talk,
) -> anyhow::Result<Vec<DataSpec>> {
    if let Loading::AsNeeded { .. } = loading {
        for holder in targets.holders()? {
            holder.named(make_room_on(plan, &holder.target, loading, talk))?;
        }
    }
    targets.all.iter().map(|reached| reached.spec(plan)).collect()
}

/// The data that `plan` needs. Data that stands in its way is refused, or dropped where `loading` allows and where it
/// cannot be replaced in place: a file of SQLite's has one page size.
fn make_room_on(
    plan: &Plan,
    target: &Arc<dyn Target>,
    loading: &Loading<'_>,
    talk: &Talk,
) -> anyhow::Result<DataSpec> {
    let spec = context::spec(plan, target);
    let Loading::AsNeeded { own, replace } = loading else { return spec };
    let DataState::Loaded { spec: there, .. } = context::survey(target)? else { return spec };
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

/// What to do about data that is not there.
pub(super) enum Loading<'a> {
    /// It must be there.
    Never,
    /// Load it; data of one of these plans may be replaced, and any of Dyno's with `replace`.
    AsNeeded { own: &'a [Plan], replace: bool },
}
