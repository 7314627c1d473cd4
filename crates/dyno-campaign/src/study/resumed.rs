//! Finds stored studies, as they were defined when they began.

use dyno_record::{Repository, SweepId, SweepKind, SweepState};

use super::order::StudyDefinition;
use crate::error::Error;

/// Returns the study that `selector` names, as it was stored when it began.
///
/// # Errors
/// There is no such study, or its definition cannot be read.
pub fn find(repository: &Repository, selector: &str) -> Result<(SweepId, StudyDefinition), Error> {
    let id = repository.resolve_sweep(selector)?;
    let definition = repository.sweep_definition(&id)?;
    let order = serde_json::from_value(definition).map_err(|error| {
        Error::usage(
            format!("{id} is not a study that can be read ({error})"),
            "`dyno list --sweeps` shows all",
        )
    })?;
    Ok((id, order))
}

/// Returns the latest study; with `open`, the latest one that is not complete.
///
/// # Errors
/// There is none.
pub fn latest(repository: &Repository, open: bool) -> Result<SweepId, Error> {
    let all = repository.sweeps(Some(SweepKind::Study), usize::MAX)?;
    let newest = all.into_iter().find(|study| !open || study.status != SweepState::Done);
    newest.map(|study| study.id).ok_or_else(|| {
        let problem = if open { "no study was interrupted" } else { "no study is stored" };
        Error::usage(problem, "`dyno list --sweeps` shows all; `dyno study run` starts one")
    })
}
