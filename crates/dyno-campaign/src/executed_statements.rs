//! Reads the statements that a target has executed, in the form that a workload needs.

use dyno_engine::executed_statements::{ParameterTypes, StatementQuery};
use dyno_import::statements::{Picked, StatementPickOptions, pick};
use dyno_plan::Plan;

use crate::campaign_context::CampaignContext;
use crate::error::Error;
use crate::targets::ReachedTargets;

/// Returns selected statements from the statistics of `plan`'s target, with the types of their parameters.
/// None of them is executed.
///
/// # Errors
/// The target cannot be reached, keeps no statement statistics, or is one of several; the hint says what to
/// do.
pub fn seen(
    ctx: &CampaignContext<'_>,
    plan: &Plan,
    request: &StatementQuery,
    options: &StatementPickOptions,
) -> Result<(Picked, Vec<ParameterTypes>), Error> {
    let targets = ReachedTargets::reach(ctx, plan)?;
    if targets.is_several() {
        let hint = "choose one with --target, and create a folder for each";
        return Err(Error::usage(
            "statements are collected from one target, but the plan names several",
            hint,
        ));
    }
    let reached = targets.first();
    let picked = pick(reached.named(reached.target.observed_statements(request))?, options);
    let mark = reached.target.dialect().mark;
    let texts: Vec<String> = picked.chosen.iter().map(|one| one.marked(mark)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let types = reached.named(reached.target.parameter_types(&texts))?;
    Ok((picked, types))
}
