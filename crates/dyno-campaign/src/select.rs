//! Selects stored runs by name; all commands use these functions.
//!
//! A selection is one or more names separated by commas. A name is a run (`last`, `last~2`, an id or a prefix
//! of one), a campaign (its name, or `sweep:last`; `/a` or `/b` selects one side), `tag:NAME` or
//! `variant:NAME`. A word that matches no run is tried as a tag, then as a variant.

use std::collections::BTreeSet;

use dyno_analyze::trend::history_of;
use dyno_record::{
    Filter, RecordKind, Repository, RepositoryError, RunId, RunLabelKind, RunRecord, RunState,
};

use crate::error::Error;

/// Returns the runs of `selection`, each once: in the order of the names, and by time within a name.
///
/// # Errors
/// A name matches no run, or the repository cannot be read.
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
        return Err(Error::usage(format!("{selection:?} does not name a run"), HINT));
    }
    Ok(seen)
}

/// Returns the records of the runs of `selection`.
///
/// # Errors
/// A name matches no run, or a record cannot be read.
pub fn records(repository: &Repository, selection: &str) -> Result<Vec<RunRecord>, Error> {
    let ids = runs(repository, selection)?;
    let mut records = Vec::with_capacity(ids.len());
    for id in &ids {
        match repository.load(id) {
            Ok(record) => records.push(record),
            // A run of a sweep whose process died has no record and is left out; a run selected alone must
            // have one.
            Err(RepositoryError::NoRecord { .. }) if ids.len() > 1 => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(records)
}

/// Returns the records of `selection` without calibrations, which may carry the same labels.
///
/// # Errors
/// Those of [`records`]; or the selection contains only calibrations.
pub fn of_runs(repository: &Repository, selection: &str) -> Result<Vec<RunRecord>, Error> {
    let mut run_records = records(repository, selection)?;
    run_records.retain(|record| record.kind != RecordKind::Component);
    if run_records.is_empty() {
        let problem = format!("{selection:?} names raw limits of a machine, not a run");
        return Err(Error::usage(problem, "`dyno show` and `dyno report` show such limits"));
    }
    Ok(run_records)
}

const HINT: &str =
    "name a run (last, last~2, its id), a sweep, tag:NAME or variant:NAME; `dyno list` shows runs";

/// Returns the runs that one name selects.
fn ids(repository: &Repository, name: &str) -> Result<Vec<RunId>, Error> {
    if let Some((kind, mark)) =
        name.split_once(':').and_then(|(kind, rest)| Some((RunLabelKind::from_name(kind)?, rest)))
    {
        let marked_runs = repository.marked(kind, mark)?;
        if marked_runs.is_empty() {
            let known_marks = repository.mark_names(kind)?;
            return Err(Error::usage(
                format!("no run has the {} {mark:?}", kind.name()),
                known_words(kind, &known_marks),
            ));
        }
        return Ok(marked_runs);
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
            for kind in RunLabelKind::ALL {
                let matching_ids = repository.marked(kind, name)?;
                if !matching_ids.is_empty() {
                    return Ok(matching_ids);
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

/// Returns the runs of a campaign that have a record; `/a` or `/b` after its name selects one side.
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

fn known_words(kind: RunLabelKind, mark_names: &[String]) -> String {
    match mark_names {
        [] => format!("no run has a {} yet", kind.name()),
        names => format!("there are: {}", names.join(", ")),
    }
}

/// Returns the latest runs with the same plan and target as `selector`.
///
/// # Errors
/// There is no such run, or a record cannot be read.
pub fn like(repository: &Repository, selector: &str, limit: usize) -> Result<Vec<RunRecord>, Error> {
    let model = repository.load(selector)?;
    let history = history_of(&model);
    let summary = repository.summary(&model.id)?;
    // Most other runs are excluded by their summaries, without opening their records.
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

#[cfg(test)]
mod tests {
    use dyno_analyze::fixture;
    use dyno_record::{PartOf, SweepKind};

    use super::*;

    /// A repository with three runs, one second after the other; the last two belong to an A/B test.
    fn repository(folder: &tempfile::TempDir) -> Repository {
        let repository = Repository::open(&folder.path().join("runs.sqlite3")).unwrap();
        for (at, variant, side) in [(1, "old", None), (2, "new", Some("a")), (3, "new", Some("b"))] {
            let mut record = fixture::sqlite();
            record.id = format!("20260101-00000{at}-abc{at}");
            record.started_at = format!("2026-01-01T00:00:0{at}Z");
            record.variant = Some(variant.to_owned());
            record.tags = vec![format!("tag{at}")];
            record.part_of = side.map(|side| PartOf {
                id: "ab-1".to_owned(),
                kind: SweepKind::Ab,
                point: 1,
                repeat: 1,
                side: Some(side.to_owned()),
                settings: Vec::new(),
            });
            repository.finish(&record).unwrap();
        }
        repository
    }

    #[test]
    fn runs_are_selected_by_place_name_label_and_side() {
        let folder = tempfile::tempdir().unwrap();
        let repository = repository(&folder);
        // The number of each selected run.
        let selected = |selection: &str| -> String {
            let runs = runs(&repository, selection).unwrap();
            runs.iter().map(|id| id.chars().last().unwrap()).collect()
        };
        for (selection, expected) in [
            ("last", "3"),
            ("last~2", "1"),
            ("20260101-000002", "2"),
            ("variant:new", "23"),
            ("tag:tag1", "1"),
            ("old", "1"),
            ("tag3, variant:new,, last", "32"),
        ] {
            assert_eq!(selected(selection), expected, "{selection}");
        }
        assert_eq!(records(&repository, "variant:new").unwrap().len(), 2);
        assert_eq!(like(&repository, "last", 1).unwrap().len(), 1);
        assert_eq!(like(&repository, "last", 9).unwrap().len(), 2, "a variant has its own history");
    }

    #[test]
    fn unknown_selection_is_refused_with_known_names() {
        let folder = tempfile::tempdir().unwrap();
        let repository = repository(&folder);
        for (selection, hint) in [
            ("variant:newer", "there are: "),
            ("nothing", "name a run (last, last~2"),
            (" , ", "name a run (last, last~2"),
        ] {
            let error = runs(&repository, selection).unwrap_err();
            assert!(error.hint().contains(hint), "{selection}: {error}; {}", error.hint());
        }
        assert!(runs(&repository, "sweep:last").is_err());
    }
}
