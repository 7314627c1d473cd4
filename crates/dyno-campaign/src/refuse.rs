//! Refusing, before anything is begun, what a plan asks for and its targets cannot do.

use std::sync::Arc;

use dyno_engine::Target;
use dyno_plan::{Drive, Plan};
use dyno_workload::own::Own;

use crate::error::Error;
use crate::targets::Targets;

/// What these targets cannot do.
pub(crate) fn refuse_impossible(plan: &Plan, customs: &[Arc<Own>], targets: &Targets) -> Result<(), Error> {
    for reached in &targets.all {
        reached.named(refuse_impossible_on(plan, reached.target.as_ref()))?;
    }
    refuse_page_cache(plan, targets)?;
    targets.refuse_writes(&targets.first().needs(plan, customs))
}

/// Where the page cache that is to be dropped is not this process's to drop.
pub(crate) fn refuse_page_cache(plan: &Plan, targets: &Targets) -> Result<(), Error> {
    const HINT: &str = "leave it out, or let a command that may do it do it: hooks.before_run";
    if !plan.run.drop_page_cache {
        return Ok(());
    }
    if let Some(reached) = targets.all.iter().find(|reached| !reached.identity.same_host) {
        let what = "run.drop_page_cache: the database runs on another host, whose page cache is not this one's, or nothing of its host is looked at (observe.host)";
        return reached.named(Err(Error::usage(what, HINT)));
    }
    let not = |error| {
        Error::usage(
            format!("run.drop_page_cache: the page cache cannot be dropped, which takes root: {error}"),
            HINT,
        )
    };
    dyno_host::page_cache::may_be_dropped().map_err(not)
}

/// What this engine cannot do.
fn refuse_impossible_on(plan: &Plan, target: &dyn Target) -> Result<(), Error> {
    if plan.workload.drive == Drive::Server {
        if !target.capabilities().server_drive {
            return Err(Error::usage(
                format!("{} has no loops inside the database (workload.drive = \"server\")", target.engine()),
                "--set workload.drive=client",
            ));
        }
        if plan.has_rate() {
            return Err(Error::usage(
                "an open loop (workload.rate, workload.phases) times every operation, and a server drive only slices of them",
                "--set workload.drive=client, or take workload.rate and workload.phases out",
            ));
        }
    }
    Ok(())
}
