//! Reads and writes the conclusions of campaigns in the repository.

use dyno_analyze::Conclusion;
use dyno_record::{Repository, RunRecord, RunState, RunSummary, StartedSweep, SweepKind, SweepState};

use crate::error::Error;

/// Returns the conclusions of all campaigns whose runs are all among `records`.
///
/// # Errors
/// The repository or a stored conclusion cannot be read.
pub fn of(repository: &Repository, records: &[RunRecord]) -> Result<Vec<Conclusion>, Error> {
    let mut names: Vec<String> = Vec::new();
    for part in records.iter().filter_map(|record| record.part_of.as_ref()) {
        if !names.contains(&part.id) {
            names.push(part.id.clone());
        }
    }
    of_named(repository, &names, |id| records.iter().any(|record| record.id == id))
}

/// Returns the conclusions of the campaigns `names` whose runs all satisfy `is_selected`.
///
/// # Errors
/// The repository or a stored conclusion cannot be read.
pub fn of_named(
    repository: &Repository,
    names: &[String],
    is_selected: impl Fn(&str) -> bool,
) -> Result<Vec<Conclusion>, Error> {
    let mut conclusions = Vec::new();
    for name in names {
        // Imported runs may belong to a campaign that this repository does not know.
        let Some(value) = repository.conclusion(name)? else { continue };
        let counts = |state: RunState| matches!(state, RunState::Valid | RunState::Invalid);
        let all = repository.runs_of_sweep(name)?;
        if all.iter().filter(|run| counts(run.status)).all(|run| is_selected(&run.id)) {
            conclusions.push(Conclusion::from_json(value)?);
        }
    }
    Ok(conclusions)
}

/// Returns the stored conclusion of the campaign `name`; absent if none was stored.
///
/// # Errors
/// The repository or a stored conclusion cannot be read.
pub fn stored(repository: &Repository, name: &str) -> Result<Option<Conclusion>, Error> {
    Ok(repository.conclusion(name)?.map(Conclusion::from_json).transpose()?)
}

/// Stores an imported conclusion about imported `records`. Returns false if the repository already has
/// another one of that name, which stays.
///
/// # Errors
/// The repository cannot be read or written.
pub fn take_over(
    repository: &Repository,
    conclusion: &Conclusion,
    records: &[RunSummary],
) -> Result<bool, Error> {
    let name = &conclusion.of;
    let of_it = |run: &&RunSummary| run.part_of.as_ref().is_some_and(|part| part.id == *name);
    let Some(first) = records.iter().filter(of_it).min_by_key(|run| run.started_at.as_str()) else {
        return Ok(false);
    };
    if repository.conclusion(name)?.is_some() {
        return Ok(false);
    }
    let is_known = repository.sweeps(None, usize::MAX)?.iter().any(|known| known.id == *name);
    if !is_known {
        let kind = first.part_of.as_ref().map_or(SweepKind::Sweep, |part| part.kind);
        repository.begin_sweep(&StartedSweep {
            id: name.clone(),
            kind,
            started_at: first.started_at.clone(),
            target: first.target.clone(),
            runs_planned: u32::try_from(records.iter().filter(of_it).count()).ok(),
            definition: serde_json::Value::Null,
        })?;
        let state = if conclusion.stopped.is_none() { SweepState::Done } else { SweepState::Interrupted };
        repository.end_sweep(name, state)?;
    }
    repository.conclude(name, &serde_json::to_value(conclusion)?)?;
    Ok(true)
}

/// Whether a selection names runs by the name of their campaign.
pub fn is_named(selection: &str) -> bool {
    let kinds = SweepKind::ALL.map(|kind| format!("{}-", kind.name()));
    selection.starts_with("sweep:") || kinds.iter().any(|kind| selection.starts_with(kind.as_str()))
}
