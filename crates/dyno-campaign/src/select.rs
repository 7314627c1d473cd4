//! Which runs a user means: the one way in which commands turn words into records.
//!
//! A selection is one or more names with commas between them: a run (`last`, `last~2`, an id or the beginning of one), a
//! sweep, search, soak or A/B comparison (its name, `sweep:last`, and `/a` or `/b` behind it for one side), `tag:NAME`,
//! `variant:NAME`. A bare word that names no run is tried as tag, then as variant.

use std::collections::BTreeSet;

use dyno_analyze::trend::history_of;
use dyno_record::{Filter, Kind, Mark, Repository, RepositoryError, RunId, RunRecord, RunState};

use crate::error::Error;

/// The runs of `selection`, each once, in the order named and in order of time within a name.
///
/// # Errors
/// A name names no run, or the repository cannot be read.
pub fn runs(repository: &Repository, selection: &str) -> Result<Vec<RunId>, Error> {
    let (mut seen, mut named) = (Vec::<RunId>::new(), BTreeSet::new());
    for name in selection.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        for id in ids(repository, name)? {
            if named.insert(id.clone()) {
                seen.push(id);
            }
        }
    }
    if seen.is_empty() {
        return Err(Error::usage(format!("{selection:?} names no run"), HINT));
    }
    Ok(seen)
}

/// Their records.
///
/// # Errors
/// A name names no run, or a record cannot be read.
pub fn records(repository: &Repository, selection: &str) -> Result<Vec<RunRecord>, Error> {
    let seen = runs(repository, selection)?;
    let mut records = Vec::with_capacity(seen.len());
    for id in &seen {
        match repository.load(id) {
            Ok(record) => records.push(record),
            // A run of a sweep whose process died has no record; one that was named has to have one.
            Err(RepositoryError::NoRecord { .. }) if seen.len() > 1 => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(records)
}

/// The records of `selection` that are of runs: raw limits of machines that bear the same marks are none.
///
/// # Errors
/// As [`records`], or all that is named are such limits.
pub fn of_runs(repository: &Repository, selection: &str) -> Result<Vec<RunRecord>, Error> {
    let mut found = records(repository, selection)?;
    found.retain(|record| record.kind != Kind::Component);
    if found.is_empty() {
        let problem = format!("{selection:?} names raw limits of a machine, and no run");
        return Err(Error::usage(problem, "`dyno show` and `dyno report` show such limits"));
    }
    Ok(found)
}

const HINT: &str =
    "name a run (last, last~2, its id), a sweep, tag:NAME or variant:NAME; `dyno list` shows runs";

/// The runs of one name.
fn ids(repository: &Repository, name: &str) -> Result<Vec<RunId>, Error> {
    if let Some((kind, mark)) =
        name.split_once(':').and_then(|(kind, rest)| Some((Mark::from_name(kind)?, rest)))
    {
        let found = repository.marked(kind, mark)?;
        if found.is_empty() {
            let known = repository.mark_names(kind)?;
            return Err(Error::usage(
                format!("no run has the {} {mark:?}", kind.name()),
                known_words(kind, &known),
            ));
        }
        return Ok(found);
    }
    if let Some(sweep) = name.strip_prefix("sweep:") {
        return of_sweep(repository, sweep);
    }
    match repository.resolve(name) {
        Ok(id) => Ok(vec![id]),
        Err(error @ RepositoryError::NoSuchRun { .. }) => {
            match of_sweep(repository, name) {
                Ok(found) => return Ok(found),
                Err(other) if !is_unknown_sweep(&other) => return Err(other),
                Err(_) => {}
            }
            for kind in Mark::ALL {
                let found = repository.marked(kind, name)?;
                if !found.is_empty() {
                    return Ok(found);
                }
            }
            Err(Error::usage(error.to_string(), HINT))
        }
        Err(error) => Err(error.into()),
    }
}

fn is_unknown_sweep(error: &Error) -> bool {
    matches!(error, Error::Repository(RepositoryError::NoSuchSweep { .. }))
}

/// The runs of a sweep that have a record; with `/a` or `/b` behind its name, of one side.
fn of_sweep(repository: &Repository, name: &str) -> Result<Vec<RunId>, Error> {
    let (name, side) = match name.rsplit_once('/') {
        Some((name, side @ ("a" | "b"))) => (name, Some(side)),
        _ => (name, None),
    };
    let runs = repository.runs_of_sweep(name)?.into_iter();
    let recorded = runs.filter(|run| !matches!(run.status, RunState::Running | RunState::Unknown));
    let of_side = recorded
        .filter(|run| side.is_none() || run.part_of.as_ref().and_then(|part| part.side.as_deref()) == side);
    Ok(of_side.map(|run| run.id).collect())
}

fn known_words(kind: Mark, known: &[String]) -> String {
    match known {
        [] => format!("no run has a {} yet", kind.name()),
        names => format!("there are: {}", names.join(", ")),
    }
}

/// The latest runs of the same plan and target as `selector`.
///
/// # Errors
/// There is no such run, or a record cannot be read.
pub fn like(repository: &Repository, selector: &str, limit: usize) -> Result<Vec<RunRecord>, Error> {
    let model = repository.load(selector)?;
    let history = history_of(&model);
    let summary = repository.summary(&model.id)?;
    // Summaries tell most others apart without opening their records.
    let filter = Filter { target: Some(summary.target.clone()), ..Filter::default() };
    let mut records = Vec::new();
    for run in repository.list(&filter)? {
        if (run.sessions, run.update_pct, &run.target)
            != (summary.sessions, summary.update_pct, &summary.target)
        {
            continue;
        }
        match repository.load(&run.id) {
            Ok(record) if history_of(&record) == history => records.push(record),
            Ok(_) | Err(RepositoryError::NoRecord { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        if records.len() >= limit {
            break;
        }
    }
    Ok(records)
}
