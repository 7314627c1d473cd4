//! Handles the data of a suite: detects data that is in the way, and removes the suite's own data at the end.

use dyno_engine::DataState;
use dyno_plan::Plan;

use crate::campaign_context::CampaignContext;
use crate::drop::drop_data;
use crate::error::Error;
use crate::targets::ReachedTargets;
use crate::{custom_workloads, data, described};

/// Stands for the data of the block workload in a list of folders.
const CLASSIC: &str = "";

/// Before the first run, refuses data that would block a later test: data of another shape that the suite did
/// not create. Data that fits a test is used and kept; returns the folders of such data.
pub(super) fn there_before(
    ctx: &CampaignContext<'_>,
    targets: &ReachedTargets,
    replace: bool,
    plans: &[Plan],
) -> Result<Vec<String>, Error> {
    let mut existing = Vec::new();
    for reached in targets.holders()?.into_iter().filter(|one| !one.target.capabilities().ephemeral) {
        let (of_method, own): (Vec<&Plan>, Vec<&Plan>) = plans.iter().partition(|plan| is_of_method(plan));
        if let (Some(method), DataState::Loaded { spec, .. }) =
            (of_method.first(), data::survey(&reached.target)?)
        {
            let fits = |plan: &&&Plan| {
                data::spec(plan, &reached.target).is_ok_and(|planned_spec| planned_spec == spec)
            };
            match (of_method.iter().any(|plan| fits(&plan)), data::spec(method, &reached.target)) {
                (true, _) => existing.push(CLASSIC.to_owned()),
                (false, Ok(wanted)) if !replace => {
                    let problem = format!(
                        "the target contains test data that no test of the suite uses ({})",
                        data::difference(&spec, &wanted)
                    );
                    return Err(Error::usage(problem, "--replace drops it, or `dyno drop` does"));
                }
                _ => {}
            }
        }
        for plan in distinct(own) {
            for custom_workload in custom_workloads::distinct_workloads(&custom_workloads::read_workloads(
                plan,
                ctx.engines.specs,
            )?) {
                match reached.named(described::holds(reached.target.as_ref(), custom_workload))? {
                    Ok(()) => existing.push(folder(plan).to_owned()),
                    Err(Some(scale)) if !replace => {
                        let problem = format!(
                            "the target has tables of the workload {} that the suite did not create (scale \
                             {scale})",
                            custom_workload.name()
                        );
                        return Err(Error::usage(problem, "--replace drops them, or `dyno drop` does"));
                    }
                    Err(_) => {}
                }
            }
        }
    }
    Ok(existing)
}

/// Removes the data that the tests used, except for what existed before.
pub(super) fn remove(
    ctx: &CampaignContext<'_>,
    there_before: &[String],
    plans: &[Plan],
) -> Result<(), Error> {
    // The block workload's data is removed last, because it reports what it leaves behind.
    let (of_method, own): (Vec<&Plan>, Vec<&Plan>) = plans.iter().partition(|plan| is_of_method(plan));
    for plan in distinct(own).into_iter().chain(of_method.into_iter().take(1)) {
        if !there_before.iter().any(|there| there == folder(plan)) {
            drop_data(ctx, plan, |_| Ok(true))?;
        }
    }
    Ok(())
}

fn is_of_method(plan: &Plan) -> bool {
    plan.workload.folder.is_none()
}

fn folder(plan: &Plan) -> &str {
    plan.workload.folder.as_deref().unwrap_or(CLASSIC)
}

/// Returns one plan for each set of data.
fn distinct(plans: Vec<&Plan>) -> Vec<&Plan> {
    let mut all: Vec<&Plan> = Vec::new();
    for plan in plans {
        let same = |other: &&Plan| {
            other.workload.folder == plan.workload.folder
                && other.workload.beside == plan.workload.beside
                && other.workload.scale == plan.workload.scale
        };
        if !all.iter().any(same) {
            all.push(plan);
        }
    }
    all
}
