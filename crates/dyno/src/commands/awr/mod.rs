//! `dyno awr`: reads Oracle's own reports.

mod change;
mod diff;
mod diff_tops;
mod files;
mod import;
mod list;
mod timeline;

use std::path::Path;

use crate::cli::{AwrArgs, AwrCommand};

use crate::cli::{CommonArgs, MarkArgs};
use crate::console::Console;
use crate::exit::Exit;

pub(super) fn run(common: &CommonArgs, args: &AwrArgs, talk: &Console) -> anyhow::Result<Exit> {
    match &args.command {
        None => list::run(common, &args.read, talk),
        Some(AwrCommand::Diff(args)) => diff::run(args, talk),
        Some(AwrCommand::Timeline(args)) => timeline::run(args, talk),
    }
}

/// Stores the reports of one file as records, for `dyno import`.
pub(super) fn store(
    common: &CommonArgs,
    file: &Path,
    marks: &MarkArgs,
    talk: &Console,
) -> anyhow::Result<Exit> {
    let files = files::input_files(&[file.to_owned()])?;
    list::store(common, &files, &import::AwrImportMarks { marks, ramp: false }, talk)
}
