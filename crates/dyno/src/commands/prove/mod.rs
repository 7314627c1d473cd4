//! `dyno prove`: one file per proof, and the account that two of them print.

mod account;
mod durability;
mod kill;
mod updates;
mod window;

use dyno_plan::Plan;

use super::show_words;
use crate::cli::{Common, Prove};
use crate::context;
use crate::exit::Exit;
use crate::talk::Talk;

pub(super) fn run(common: &Common, prove: &Prove, talk: &Talk) -> anyhow::Result<Exit> {
    match prove {
        Prove::Window(args) => window::run(args, talk),
        Prove::Updates => updates::run(common, talk),
        Prove::Durability(args) => durability::run(common, args, talk),
    }
}

/// The plan that the options name, with updates: its own share of them, or nothing else where it has none.
fn plan_with_updates(common: &Common, talk: &Talk) -> anyhow::Result<Plan> {
    let mut plan = context::plan(common)?;
    if plan.workload.update_pct == 0 {
        talk.say("the plan only reads (workload.update_pct = 0); the proof does nothing but updates");
        plan.workload.update_pct = 100;
    }
    Ok(plan)
}
