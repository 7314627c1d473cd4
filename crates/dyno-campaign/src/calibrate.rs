//! Stores and lists calibrations (raw limits of a machine), and finds the folder of a plan's data.

use std::path::PathBuf;

use dyno_plan::Plan;
use dyno_record::{COMPONENT, Filter, Repository, RunRecord, RunState, new_run_id};

use crate::campaign_context::{CampaignContext, repository_path};
use crate::error::Error;
use crate::names;
use crate::targets::ReachedTargets;

/// Returns the folder that holds the data of `plan`'s first target.
///
/// # Errors
/// The target cannot be reached, is on another machine, or does not report its data folder.
pub fn folder(ctx: &CampaignContext<'_>, plan: &Plan) -> Result<PathBuf, Error> {
    let targets = ReachedTargets::reach(ctx, plan)?;
    let first = targets.all.first().map(|reached| &reached.identity);
    let local_data_path =
        first.filter(|identity| identity.same_host).and_then(|identity| identity.data_path.as_ref());
    let Some(path) = local_data_path.map(PathBuf::from) else {
        return Err(Error::usage(
            format!("the target {} does not report a data folder on this host", plan.target.url),
            "run `dyno calibrate DIR` with the data folder, on the host of the database",
        ));
    };
    let parent = path.parent().map(PathBuf::from);
    Ok(if path.is_dir() {
        path
    } else {
        parent.filter(|parent| parent.is_dir()).unwrap_or_else(|| ".".into())
    })
}

/// Stores a calibration under a new unique name.
///
/// # Errors
/// The repository cannot be written.
pub fn store(repository: &Repository, record: &mut RunRecord) -> Result<(), Error> {
    Ok(names::with_unique_name(|now, random| {
        record.id = new_run_id(now, random);
        repository.finish(record)
    })?)
}
/// Returns all calibrations that were completed or cancelled, newest first.
///
/// # Errors
/// The repository cannot be read.
pub(crate) fn stored_calibrations(ctx: &CampaignContext<'_>) -> Result<Vec<RunRecord>, Error> {
    let repository = Repository::open(&repository_path(ctx.repository.as_deref())?)?;
    let filter = Filter { engine: Some(COMPONENT.to_owned()), ..Filter::default() };
    let mut calibrations = Vec::new();
    for run in repository.list(&filter)? {
        if matches!(run.status, RunState::Valid | RunState::Interrupted) {
            calibrations.push(repository.load(&run.id)?);
        }
    }
    Ok(calibrations)
}
