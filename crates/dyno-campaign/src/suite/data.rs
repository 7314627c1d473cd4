//! The data of a suite: none of others is in its way, and none of its own stays.

use dyno_plan::Plan;

use super::order::Order;
use crate::described;
use crate::drop::drop_data;
use crate::error::Error;
use crate::lead::Lead;
use crate::own;
use crate::targets::Targets;

/// Refuses before the first run what would stop a later test: tables of a workload that are there with other contents, or under
/// another scale. What is there as a test needs it is used, and stays.
pub(super) fn refuse_others(lead: &Lead<'_>, order: &Order, plans: &[Plan]) -> Result<(), Error> {
    if order.choice.replace || order.resumed.is_some() {
        return Ok(());
    }
    let Some(first) = plans.first() else { return Ok(()) };
    let targets = Targets::reach(lead, first)?;
    for plan in distinct(plans) {
        for own in own::of_data(&own::of(plan, lead.engines.specs)?) {
            for reached in targets.holders()? {
                if reached.target.capabilities().ephemeral {
                    continue;
                }
                if let Err(Some(scale)) = reached.named(described::holds(reached.target.as_ref(), own))? {
                    let problem = format!(
                        "tables of the workload {} are there that the suite did not make (scale {scale})",
                        own.name()
                    );
                    return Err(Error::usage(problem, "--replace drops them, or `dyno drop` does"));
                }
            }
        }
    }
    Ok(())
}

/// Removes what the tests were run on.
pub(super) fn remove(lead: &Lead<'_>, plans: &[Plan]) -> Result<(), Error> {
    // The classic method's last: it tells what it leaves.
    let (own, classic): (Vec<&Plan>, Vec<&Plan>) =
        distinct(plans).into_iter().partition(|plan| plan.workload.folder.is_some());
    for plan in own.into_iter().chain(classic) {
        drop_data(lead, plan, |_| Ok(true))?;
    }
    Ok(())
}

/// One plan of each set of data.
fn distinct(plans: &[Plan]) -> Vec<&Plan> {
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
