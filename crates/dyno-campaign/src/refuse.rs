//! Refusing, before anything is begun, what a plan asks for and its targets cannot do.

use dyno_engine::Target;
use dyno_plan::{Drive, Plan};

use crate::error::Error;
use crate::targets::Targets;

/// What these targets cannot do.
pub(crate) fn refuse_impossible(plan: &Plan, targets: &Targets) -> Result<(), Error> {
    for reached in &targets.all {
        reached.named(refuse_impossible_on(plan, reached.target.as_ref()))?;
    }
    targets.refuse_writes(plan)
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
