//! Sets up and removes data of custom workloads with their own SQL.

use dyno_engine::{DropItem, Target, TargetError, TargetErrorKind};
use dyno_workload::custom::{CustomWorkload, Single, WorkloadError};

use crate::campaign_context::CampaignContext;
use crate::event::{CampaignEvent, LoadEvent};

/// Executes the statements that create the workload's tables and rows; returns their number.
pub(crate) fn set_up(
    ctx: &CampaignContext<'_>,
    target: &dyn Target,
    workload: &CustomWorkload,
) -> Result<usize, TargetError> {
    run_statements(ctx, target, &workload.setup(target.engine()), "setup")
}

/// Executes the statements that remove what [`set_up`] created; returns their number.
pub(crate) fn tear_down_workload(
    ctx: &CampaignContext<'_>,
    target: &dyn Target,
    workload: &CustomWorkload,
) -> Result<usize, TargetError> {
    run_statements(ctx, target, &workload.teardown(target.engine()), "drop")
}

/// Lists the statements that [`tear_down_workload`] executes.
pub(crate) fn teardown_items(workload: &CustomWorkload, target: &dyn Target) -> Vec<DropItem> {
    let all = workload.teardown(target.engine()).unwrap_or_default();
    all.into_iter()
        .map(|single| DropItem { kind: "statement".into(), name: single.sql, bytes: None })
        .collect()
}

fn run_statements(
    ctx: &CampaignContext<'_>,
    target: &dyn Target,
    statements: &Result<Vec<Single>, WorkloadError>,
    phase: &str,
) -> Result<usize, TargetError> {
    let statements = statements.as_ref().map_err(unsupported_engine)?;
    if statements.is_empty() {
        return Ok(0);
    }
    ctx.emit(CampaignEvent::Load(LoadEvent::Phase(phase.to_owned(), statements.len() as u64)));
    let mut executed = 0;
    let texts: Vec<&str> = statements.iter().map(|single| single.sql.as_str()).collect();
    let outcome = target.script(&texts, &mut |_| {
        executed += 1;
        ctx.emit(CampaignEvent::Load(LoadEvent::Advance(1, 0)));
        match ctx.cancel.is_cancelled() && executed < texts.len() {
            true => Err(TargetError::new(TargetErrorKind::Cancelled, "stopped between two statements")),
            false => Ok(()),
        }
    });
    ctx.emit(CampaignEvent::Load(LoadEvent::Over));
    match (outcome, statements.get(executed)) {
        (Ok(()), _) => Ok(executed),
        (Err(error), Some(single)) if error.kind != TargetErrorKind::Cancelled => {
            Err(error_at_statement(single, error))
        }
        (Err(error), _) => Err(error),
    }
}

/// The error for a workload without SQL for an engine.
pub(crate) fn unsupported_engine(fault: &WorkloadError) -> TargetError {
    TargetError::new(TargetErrorKind::Unsupported, fault.to_string())
}

/// Adds the place of the statement to an error of the database.
pub(crate) fn error_at_statement(single: &Single, error: TargetError) -> TargetError {
    let message = single.fault(error.message.as_str(), "").to_string();
    TargetError { message, ..error }
}
