//! The plan of a proof.

use dyno_plan::Plan;

use crate::cli::Common;
use crate::context;
use crate::talk::Talk;

/// The plan that the options name, with updates: its own share of them, or nothing else where it has none.
pub(super) fn plan_with_updates(common: &Common, talk: &Talk) -> anyhow::Result<Plan> {
    let mut plan = context::plan(common)?;
    if plan.workload.update_pct == 0 {
        talk.say("the plan only reads (workload.update_pct = 0); the proof does nothing but updates");
        plan.workload.update_pct = 100;
    }
    Ok(plan)
}
