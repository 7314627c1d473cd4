//! Dyno: a dynamometer for database platforms.
//!
//! The binary is the only room that prints and exits. Each subcommand is one file under `commands`; what they share is
//! the command line (`cli`), the way from options to plan, target and repository (`context`), talk on stderr (`talk`,
//! `progress`), which runs are meant (`select`), signals, and the meaning of exit codes (`exit`),
//! and several targets (`targets`).

mod cli;
mod commands;
mod conclusions;
mod consent;
mod context;
mod engines;
mod exit;
mod files;
mod hooks;
mod keeper;
mod output;
mod own_report;
mod progress;
mod select;
mod signals;
mod talk;
mod targets;
mod tidy;

use std::process::ExitCode;

fn main() -> ExitCode {
    dyno_drive::raise_limit();
    let cli = cli::Cli::read();
    let talk = talk::Talk::new(&cli.common);
    match commands::run(&cli, &talk) {
        Ok(code) => code.into(),
        Err(error) => exit::report(&error, &talk).into(),
    }
}
