//! Data of users' own workloads: set up, and removed, by their own SQL.

use dyno_engine::{DropItem, Target, TargetError, TargetErrorKind};
use dyno_workload::own::{Fault, Own, Single};

use crate::event::{Event, LoadEvent};
use crate::lead::Lead;

/// Does the statements that make the workload's tables and rows; how many they are.
pub(crate) fn set_up(lead: &Lead<'_>, target: &dyn Target, own: &Own) -> Result<usize, TargetError> {
    script(lead, target, &own.setup(target.engine()), "setup")
}

/// Does the statements that remove what [`set_up`] has made.
pub(crate) fn take_down(lead: &Lead<'_>, target: &dyn Target, own: &Own) -> Result<usize, TargetError> {
    script(lead, target, &own.teardown(target.engine()), "drop")
}

/// What [`take_down`] does.
pub(crate) fn statements(own: &Own, target: &dyn Target) -> Vec<DropItem> {
    let all = own.teardown(target.engine()).unwrap_or_default();
    all.into_iter()
        .map(|single| DropItem { kind: "statement".into(), name: single.sql, bytes: None })
        .collect()
}

fn script(
    lead: &Lead<'_>,
    target: &dyn Target,
    statements: &Result<Vec<Single>, Fault>,
    phase: &str,
) -> Result<usize, TargetError> {
    let statements = statements.as_ref().map_err(misfit)?;
    if statements.is_empty() {
        return Ok(0);
    }
    lead.tell(Event::Load(LoadEvent::Phase(phase.to_owned(), statements.len() as u64)));
    let mut done = 0;
    let texts: Vec<&str> = statements.iter().map(|single| single.sql.as_str()).collect();
    let outcome = target.script(&texts, &mut |_| {
        done += 1;
        lead.tell(Event::Load(LoadEvent::Advance(1, 0)));
        match lead.cancel.is_cancelled() && done < texts.len() {
            true => Err(TargetError::new(TargetErrorKind::Cancelled, "stopped between two statements")),
            false => Ok(()),
        }
    });
    lead.tell(Event::Load(LoadEvent::Over));
    match (outcome, statements.get(done)) {
        (Ok(()), _) => Ok(done),
        (Err(error), Some(single)) if error.kind != TargetErrorKind::Cancelled => Err(at(single, error)),
        (Err(error), _) => Err(error),
    }
}

/// A workload that has no SQL for an engine.
pub(crate) fn misfit(fault: &Fault) -> TargetError {
    TargetError::new(TargetErrorKind::Unsupported, fault.to_string())
}

/// An error of the database, with the place of the statement.
pub(crate) fn at(single: &Single, error: TargetError) -> TargetError {
    let message = single.fault(error.message.as_str(), "").to_string();
    TargetError { message, ..error }
}
