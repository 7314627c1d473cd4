//! Proofs: one file each, and the plan that they drive.

mod durability;
mod kill;
mod updates;

use dyno_plan::Plan;

use crate::event::{Event, ProofEvent};
use crate::lead::Lead;

pub use durability::{Durability, Verdict, durability};
pub use kill::{Kill, Output};
pub use updates::{Proof, Updates, updates};

/// `plan` with updates: its own share of them, or nothing else where it has none.
fn with_updates(lead: &Lead<'_>, mut plan: Plan) -> Plan {
    if plan.workload.update_pct == 0 {
        lead.tell(Event::Proof(ProofEvent::OnlyUpdates));
        plan.workload.update_pct = 100;
    }
    plan
}
