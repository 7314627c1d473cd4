//! `dyno prove`: one file per proof, and the comparison that two of them print.

mod comparison;
mod durability;
mod updates;
mod window;

use crate::cli::{CommonArgs, Prove};
use crate::console::Console;
use crate::exit::Exit;

pub(super) fn run(common: &CommonArgs, prove: &Prove, talk: &Console) -> anyhow::Result<Exit> {
    match prove {
        Prove::Window(args) => window::run(args, talk),
        Prove::Updates => updates::run(common, talk),
        Prove::Durability(args) => durability::run(common, args, talk),
    }
}
