//! One file per command.

mod check;
mod compare;
mod completions;
mod drop;
mod import;
mod init;
mod list;
mod load;
mod man;
mod prove;
mod run;
mod show;
mod trend;

use crate::cli::{Cli, Command};
use crate::exit::Exit;
use crate::talk::Talk;

/// Does what the command line says.
pub(crate) fn run(cli: &Cli, talk: &Talk) -> anyhow::Result<Exit> {
    let common = &cli.common;
    match &cli.command {
        Command::Init(args) => init::run(common, args, talk),
        Command::Check => check::run(common, talk),
        Command::Load(args) => load::run(common, args, talk),
        Command::Run => run::run(common, talk),
        Command::List(args) => list::run(common, args, talk),
        Command::Show(args) => show::run(common, args, talk),
        Command::Compare(args) => compare::run(common, args, talk),
        Command::Trend(args) => trend::run(common, args, talk),
        Command::Import(args) => import::run(common, args, talk),
        Command::Drop(args) => drop::run(common, args, talk),
        Command::Prove(args) => prove::run(common, args, talk),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args, talk),
    }
}
