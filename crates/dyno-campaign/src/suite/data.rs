//! The data of a suite: none of others is in its way, and none of its own stays.

use dyno_engine::DataState;
use dyno_plan::Plan;

use crate::drop::drop_data;
use crate::error::Error;
use crate::lead::Lead;
use crate::targets::Targets;
use crate::{data, described, own};

/// What stands for the data of the classic method among folders.
const CLASSIC: &str = "";

/// Refuses before the first run what would stop a later test: data of another shape that the suite did not make. What is there
/// as a test needs it is used, and stays: the folders of that.
pub(super) fn there_before(
    lead: &Lead<'_>,
    targets: &Targets,
    replace: bool,
    plans: &[Plan],
) -> Result<Vec<String>, Error> {
    let mut there = Vec::new();
    for reached in targets.holders()?.into_iter().filter(|one| !one.target.capabilities().ephemeral) {
        let (of_method, own): (Vec<&Plan>, Vec<&Plan>) = plans.iter().partition(|plan| is_of_method(plan));
        if let (Some(method), DataState::Loaded { spec, .. }) =
            (of_method.first(), data::survey(&reached.target)?)
        {
            let fits = |plan: &&&Plan| data::spec(plan, &reached.target).is_ok_and(|own| own == spec);
            match (of_method.iter().any(|plan| fits(&plan)), data::spec(method, &reached.target)) {
                (true, _) => there.push(CLASSIC.to_owned()),
                (false, Ok(wanted)) if !replace => {
                    let problem = format!(
                        "the target holds test data that no test of the suite has ({})",
                        data::difference(&spec, &wanted)
                    );
                    return Err(Error::usage(problem, "--replace drops it, or `dyno drop` does"));
                }
                _ => {}
            }
        }
        for plan in distinct(own) {
            for own in own::of_data(&own::of(plan, lead.engines.specs)?) {
                match reached.named(described::holds(reached.target.as_ref(), own))? {
                    Ok(()) => there.push(folder(plan).to_owned()),
                    Err(Some(scale)) if !replace => {
                        let problem = format!(
                            "tables of the workload {} are there that the suite did not make (scale {scale})",
                            own.name()
                        );
                        return Err(Error::usage(problem, "--replace drops them, or `dyno drop` does"));
                    }
                    Err(_) => {}
                }
            }
        }
    }
    Ok(there)
}

/// Removes what the tests were run on, but for what was there before.
pub(super) fn remove(lead: &Lead<'_>, there_before: &[String], plans: &[Plan]) -> Result<(), Error> {
    // The classic method's last: it tells what it leaves.
    let (of_method, own): (Vec<&Plan>, Vec<&Plan>) = plans.iter().partition(|plan| is_of_method(plan));
    for plan in distinct(own).into_iter().chain(of_method.into_iter().take(1)) {
        if !there_before.iter().any(|there| there == folder(plan)) {
            drop_data(lead, plan, |_| Ok(true))?;
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

/// One plan of each set of data.
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
