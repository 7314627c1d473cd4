//! Proofs of updates and of durability, and the plan that both run.

mod durability;
mod kill;
mod updates;

use dyno_plan::Plan;

use crate::campaign_context::CampaignContext;
use crate::error::Error;
use crate::event::{CampaignEvent, ProofEvent};

pub use durability::{Durability, DurabilityVerdict, durability};
pub use kill::{CommandOutputSink, KillSettings};
pub use updates::{UpdateProof, Updates, updates};

/// Returns `plan` with updates only: with its own share of updates, or with nothing but updates if it has
/// none.
///
/// # Errors
/// The plan uses custom transactions, whose rows cannot be verified.
fn with_updates(ctx: &CampaignContext<'_>, mut plan: Plan) -> Result<Plan, Error> {
    if let Some(folder) = &plan.workload.folder {
        return Err(Error::usage(
            format!("a proof requires the block workload, but the plan runs the transactions of {folder}"),
            "remove workload.folder; the invariants of a custom workload check its transactions",
        ));
    }
    if plan.workload.update_pct == 0 {
        ctx.emit(CampaignEvent::Proof(ProofEvent::OnlyUpdates));
        plan.workload.update_pct = 100;
    }
    Ok(plan)
}
