//! What commands concluded, out of the repository and into it.

use dyno_analyze::Conclusion;
use dyno_record::{Repository, RunRecord, RunState, SweepKind};

use crate::error::Error;

/// What was concluded from `records`: of each sweep, search, soak or A/B comparison of which all runs are among them.
///
/// # Errors
/// The repository or what is stored in it cannot be read.
pub fn of(repository: &Repository, records: &[RunRecord]) -> Result<Vec<Conclusion>, Error> {
    let mut names: Vec<String> = Vec::new();
    for part in records.iter().filter_map(|record| record.part_of.as_ref()) {
        if !names.contains(&part.id) {
            names.push(part.id.clone());
        }
    }
    of_named(repository, &names, |id| records.iter().any(|record| record.id == id))
}

/// What was concluded from runs that are `here`: of each sweep, search, soak or A/B comparison called `names` of which all runs
/// are.
///
/// # Errors
/// The repository or what is stored in it cannot be read.
pub fn of_named(
    repository: &Repository,
    names: &[String],
    here: impl Fn(&str) -> bool,
) -> Result<Vec<Conclusion>, Error> {
    let mut found = Vec::new();
    for name in names {
        // Runs from elsewhere may belong to one that is not noted here.
        let Some(value) = repository.conclusion(name)? else { continue };
        let counts = |state: RunState| matches!(state, RunState::Valid | RunState::Invalid);
        let all = repository.runs_of_sweep(name)?;
        if all.iter().filter(|run| counts(run.status)).all(|run| here(&run.id)) {
            found.push(serde_json::from_value(value)?);
        }
    }
    Ok(found)
}

/// Whether a selection names runs by the sweep, search, soak or A/B comparison that they are of.
pub fn is_named(selection: &str) -> bool {
    let kinds = SweepKind::ALL.map(|kind| format!("{}-", kind.name()));
    selection.starts_with("sweep:") || kinds.iter().any(|kind| selection.starts_with(kind.as_str()))
}
