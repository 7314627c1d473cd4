//! Refuses, before anything starts, plans that their targets cannot execute.

use std::sync::Arc;

use dyno_engine::Target;
use dyno_plan::{DriveMode, Plan};
use dyno_workload::custom::CustomWorkload;

use crate::error::Error;
use crate::targets::ReachedTargets;

/// Refuses what these targets cannot do.
pub(crate) fn refuse_impossible(
    plan: &Plan,
    customs: &[Arc<CustomWorkload>],
    targets: &ReachedTargets,
) -> Result<(), Error> {
    for reached in &targets.all {
        reached.named(refuse_impossible_on(plan, reached.target.as_ref()))?;
    }
    refuse_page_cache(plan, targets)?;
    targets.refuse_writes(&targets.first().needs(plan, customs))
}

/// Refuses to drop the page cache if this process cannot drop the cache of the target's host.
pub(crate) fn refuse_page_cache(plan: &Plan, targets: &ReachedTargets) -> Result<(), Error> {
    const HINT: &str = "leave it out, or drop the cache with a privileged command in hooks.before_run";
    if !plan.run.drop_page_cache {
        return Ok(());
    }
    if let Some(reached) = targets.all.iter().find(|reached| !reached.identity.same_host) {
        let problem = "run.drop_page_cache: the database runs on another host, or its host is not observed \
                       (observe.host)";
        return reached.named(Err(Error::usage(problem, HINT)));
    }
    let not = |error| {
        Error::usage(
            format!("run.drop_page_cache: the page cache cannot be dropped, which requires root: {error}"),
            HINT,
        )
    };
    dyno_host::page_cache::may_be_dropped().map_err(not)
}

/// Refuses what this target's engine cannot do.
fn refuse_impossible_on(plan: &Plan, target: &dyn Target) -> Result<(), Error> {
    if plan.workload.drive == DriveMode::Server {
        if !target.capabilities().server_drive {
            return Err(Error::usage(
                format!(
                    "{} does not support loops inside the database (workload.drive = \"server\")",
                    target.engine()
                ),
                "--set workload.drive=client",
            ));
        }
        if plan.has_rate() {
            return Err(Error::usage(
                "an open loop (workload.rate, workload.phases) measures every operation, but the server \
                 drive measures only slices",
                "--set workload.drive=client, or remove workload.rate and workload.phases",
            ));
        }
    }
    Ok(())
}
