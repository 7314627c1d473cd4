//! `dyno completions`: writes completions for a shell.

use std::io::Write;

use clap::CommandFactory;

use crate::cli::{Cli, Completions};
use crate::exit::Exit;

pub(super) fn run(args: &Completions) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "dyno", &mut script);
    std::io::stdout().lock().write_all(&script)?;
    Ok(Exit::Done)
}
