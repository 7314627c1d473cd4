//! Reads the statements that a target has executed, in the form that a workload needs.

use std::collections::BTreeSet;

use dyno_engine::column_statistics::ColumnName;
use dyno_engine::executed_statements::StatementQuery;
use dyno_import::statements::{DraftFacts, Picked, StatementPickOptions, pick};
use dyno_plan::Plan;

use crate::campaign_context::CampaignContext;
use crate::error::Error;
use crate::targets::ReachedTargets;

/// The largest number of columns whose statistics are read.
const COLUMNS_MAX: usize = 500;

/// Returns selected statements from the statistics of `plan`'s target, with the types of their parameters, and
/// with what the database knows about their columns if `with_columns`. None of the statements is executed.
///
/// # Errors
/// The target cannot be reached, keeps no statement statistics, or is one of several; the hint says what to
/// do.
pub fn seen(
    ctx: &CampaignContext<'_>,
    plan: &Plan,
    request: &StatementQuery,
    options: &StatementPickOptions,
    with_columns: bool,
) -> Result<(Picked, DraftFacts), Error> {
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
    let mut facts = DraftFacts { types, ..DraftFacts::default() };
    if with_columns {
        let names: BTreeSet<ColumnName> = picked.chosen.iter().flat_map(|one| one.columns()).collect();
        let names: Vec<ColumnName> = names.into_iter().take(COLUMNS_MAX).collect();
        let known = reached.named(reached.target.column_statistics(request.schema.as_deref(), &names))?;
        let known = names.into_iter().zip(known).filter_map(|(name, column)| Some((name, column?)));
        facts.columns = known.collect();
    }
    Ok((picked, facts))
}
