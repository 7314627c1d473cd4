//! `dyno prove`: one file per proof, and the account that two of them print.

mod account;
mod durability;
mod updates;
mod window;

use crate::cli::{Common, Prove};
use crate::exit::Exit;
use crate::talk::Talk;

pub(super) fn run(common: &Common, prove: &Prove, talk: &Talk) -> anyhow::Result<Exit> {
    match prove {
        Prove::Window(args) => window::run(args, talk),
        Prove::Updates => updates::run(common, talk),
        Prove::Durability(args) => durability::run(common, args, talk),
    }
}
