//! `dyno import`: reads files and reports of other tools.

mod metrics;
mod pgbench;
mod results;
mod slob;
mod statements;

use crate::cli::{CommonArgs, ImportArgs, ImportCommand};
use crate::console::Console;
use crate::exit::{Exit, usage};

pub(super) fn run(common: &CommonArgs, args: &ImportArgs, talk: &Console) -> anyhow::Result<Exit> {
    let Some(command) = &args.command else {
        return Err(usage("`dyno import` needs a command", "`dyno import --help` lists the commands"));
    };
    if let Some(old_name) = args.old_name {
        talk.say(&format!("note: `dyno {old_name}` is deprecated; use `dyno import {}`", name(command)));
    }
    match command {
        ImportCommand::Results(args) => results::run(common, args, talk),
        ImportCommand::Slob(args) => slob::run(common, args, talk),
        ImportCommand::Pgbench(args) => pgbench::run(common, args, talk),
        ImportCommand::Statements(args) => statements::run(common, args, talk),
        ImportCommand::Metrics(args) => metrics::run(common, args, talk),
    }
}

/// Whether the command reads a plan, or keys of one in its own way.
pub(super) fn needs_plan(args: &ImportArgs) -> bool {
    match &args.command {
        Some(ImportCommand::Statements(args)) => args.awr.is_none(),
        Some(ImportCommand::Slob(_) | ImportCommand::Pgbench(_) | ImportCommand::Metrics(_)) => false,
        Some(ImportCommand::Results(_)) | None => true,
    }
}

fn name(command: &ImportCommand) -> &'static str {
    match command {
        ImportCommand::Results(_) => "results FILE",
        ImportCommand::Slob(_) => "slob",
        ImportCommand::Pgbench(_) => "pgbench",
        ImportCommand::Statements(_) => "statements",
        ImportCommand::Metrics(_) => "metrics",
    }
}
