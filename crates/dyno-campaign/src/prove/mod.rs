//! Proofs: one file each, and the plan that they drive.

mod durability;
mod kill;
mod updates;

use dyno_plan::Plan;

use crate::error::Error;
use crate::event::{Event, ProofEvent};
use crate::lead::Lead;

pub use durability::{Durability, Verdict, durability};
pub use kill::{Kill, Output};
pub use updates::{Proof, Updates, updates};

/// `plan` with updates: its own share of them, or nothing else where it has none.
///
/// # Errors
/// It is about transactions of the user's own, of whose rows nobody keeps an account.
fn with_updates(lead: &Lead<'_>, mut plan: Plan) -> Result<Plan, Error> {
    if let Some(folder) = &plan.workload.folder {
        return Err(Error::usage(
            format!("what is proved is the classic method, and the plan runs the transactions of {folder}"),
            "take workload.folder out; invariants of the workload say whether its transactions are whole",
        ));
    }
    if plan.workload.update_pct == 0 {
        lead.tell(Event::Proof(ProofEvent::OnlyUpdates));
        plan.workload.update_pct = 100;
    }
    Ok(plan)
}
