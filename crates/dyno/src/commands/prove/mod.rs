//! `dyno prove`: one file per proof.

mod window;

use crate::cli::{Common, Prove};
use crate::exit::Exit;
use crate::talk::Talk;

pub(super) fn run(_common: &Common, prove: &Prove, talk: &Talk) -> anyhow::Result<Exit> {
    match prove {
        Prove::Window(args) => window::run(args, talk),
    }
}
