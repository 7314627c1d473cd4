//! Raw limits of a machine: where a plan's data lies, how they are stored, and which there are.

use std::path::PathBuf;

use dyno_plan::Plan;
use dyno_record::{COMPONENT, Filter, Repository, RunRecord, RunState, new_run_id};

use crate::error::Error;
use crate::lead::{Lead, repository_path};
use crate::names;
use crate::targets::Targets;

/// The folder in which the data of `plan`'s first target lies.
///
/// # Errors
/// The target cannot be reached, is on another machine, or does not tell where its data is.
pub fn folder(lead: &Lead<'_>, plan: &Plan) -> Result<PathBuf, Error> {
    let targets = Targets::reach(lead, plan)?;
    let first = targets.all.first().map(|reached| &reached.identity);
    let own = first.filter(|identity| identity.same_host).and_then(|identity| identity.data_path.as_ref());
    let Some(path) = own.map(PathBuf::from) else {
        return Err(Error::usage(
            format!("the target {} does not tell of a folder of this machine with its data", plan.target.url),
            "name the folder: `dyno calibrate DIR`, on the machine that the database is on",
        ));
    };
    let parent = path.parent().map(PathBuf::from);
    Ok(if path.is_dir() {
        path
    } else {
        parent.filter(|parent| parent.is_dir()).unwrap_or_else(|| ".".into())
    })
}

/// Stores a calibration under a name of its own, which it gets.
///
/// # Errors
/// The repository cannot be written.
pub fn store(repository: &Repository, record: &mut RunRecord) -> Result<(), Error> {
    Ok(names::drawn(|now, random| {
        record.id = new_run_id(now, random);
        repository.finish(record)
    })?)
}
/// Calibrations that came to their end or were stopped, the newest first.
///
/// # Errors
/// The repository cannot be read.
pub(crate) fn all(lead: &Lead<'_>) -> Result<Vec<RunRecord>, Error> {
    let repository = Repository::open(&repository_path(lead.repository.as_deref())?)?;
    let filter = Filter { engine: Some(COMPONENT.to_owned()), ..Filter::default() };
    let mut found = Vec::new();
    for run in repository.list(&filter)? {
        if matches!(run.status, RunState::Valid | RunState::Interrupted) {
            found.push(repository.load(&run.id)?);
        }
    }
    Ok(found)
}
