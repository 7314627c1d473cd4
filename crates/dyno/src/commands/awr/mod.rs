//! `dyno awr`: Oracle's own reports, read.

mod change;
mod diff;
mod diff_tops;
mod files;
mod import;
mod list;
mod reported;
mod timeline;

use std::path::Path;

use crate::cli::{Awr, AwrCommand};

use crate::cli::{Common, Marks};
use crate::exit::Exit;
use crate::talk::Talk;

pub(super) fn run(common: &Common, args: &Awr, talk: &Talk) -> anyhow::Result<Exit> {
    match &args.command {
        None => list::run(common, &args.read, talk),
        Some(AwrCommand::Diff(args)) => diff::run(args, talk),
        Some(AwrCommand::Timeline(args)) => timeline::run(args, talk),
    }
}

/// Stores the reports of one file as records, for `dyno import`.
pub(super) fn store(common: &Common, file: &Path, marks: &Marks, talk: &Talk) -> anyhow::Result<Exit> {
    let files = files::wanted(&[file.to_owned()])?;
    list::store(common, &files, &import::Marked { marks, ramp: false }, talk)
}
