//! Studies that were begun, as they were noted.

use dyno_record::{Repository, SweepId, SweepKind, SweepState};

use super::order::Order;
use crate::error::Error;

/// The study called `selector`, as it was noted when it began.
///
/// # Errors
/// There is none, or what was noted cannot be read.
pub fn find(repository: &Repository, selector: &str) -> Result<(SweepId, Order), Error> {
    let id = repository.resolve_sweep(selector)?;
    let definition = repository.sweep_definition(&id)?;
    let order = serde_json::from_value(definition).map_err(|error| {
        Error::usage(format!("{id} is no study that can be read ({error})"), "`dyno list --sweeps` shows all")
    })?;
    Ok((id, order))
}

/// The latest study, or the latest that is not done.
///
/// # Errors
/// There is none.
pub fn latest(repository: &Repository, open: bool) -> Result<SweepId, Error> {
    let all = repository.sweeps(Some(SweepKind::Study), usize::MAX)?;
    let found = all.into_iter().find(|study| !open || study.status != SweepState::Done);
    found.map(|study| study.id).ok_or_else(|| {
        let problem = if open { "no study was cut off" } else { "there is no study" };
        Error::usage(problem, "`dyno list --sweeps` shows all; `dyno study run` begins one")
    })
}
