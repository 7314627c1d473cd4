//! `dyno awr`: Oracle's own reports, read.

mod args;
mod diff;
mod files;
mod import;
mod list;
mod timeline;

pub(crate) use args::Awr;

use args::AwrCommand;

use crate::cli::Common;
use crate::exit::Exit;
use crate::talk::Talk;

pub(super) fn run(common: &Common, args: &Awr, talk: &Talk) -> anyhow::Result<Exit> {
    match &args.command {
        None => list::run(common, &args.read, talk),
        Some(AwrCommand::Diff(args)) => diff::run(args, talk),
        Some(AwrCommand::Timeline(args)) => timeline::run(args, talk),
    }
}
