//! Dyno: a dynamometer for database platforms.
//!
//! The binary is the only room that prints and exits. Each subcommand is one file under `commands`; what people do with runs
//! is `dyno-campaign`'s, and `terminal` leads it: events become talk (`words`), moving lines (`progress`) and tables,
//! or what `screen` shows. What
//! commands share beside is the command line (`cli`), the way from options to plan and repository (`context`), stderr and
//! stdout (`talk`, `output`, `ask`), events for other programs (`events`), signals, and the meaning of exit codes (`exit`) and how an
//! error is told (`told_error`).

mod answers;
mod ask;
mod beside;
mod cli;
mod commands;
mod context;
mod engines;
mod events;
mod exit;
#[cfg_attr(not(feature = "fleet"), path = "no_fleet.rs")]
mod fleet;
mod output;
mod progress;
mod screen;
mod signals;
mod talk;
mod terminal;
mod told_error;
mod words;

use std::process::ExitCode;

fn main() -> ExitCode {
    dyno_drive::raise_limit();
    let cli = cli::Cli::read();
    let mut talk = talk::Talk::new(&cli.common);
    let opened = cli.common.events.as_deref().map(events::EventLog::append).transpose();
    let mut exit = match opened {
        Ok(log) => {
            talk.events = log.map(std::sync::Arc::new);
            commands::run(&cli, &talk).unwrap_or_else(|error| told_error::report(&error, &talk))
        }
        Err(error) => told_error::report(&error, &talk),
    };
    if let Some(log) = talk.events.take().and_then(std::sync::Arc::into_inner) {
        // A program that follows the file has not seen all of it, so the command has not done what it was asked for.
        if let Some(problem) = log.end(exit) {
            talk.say(&format!("error: {problem}"));
            if exit == exit::Exit::Done {
                exit = exit::Exit::Failed;
            }
        }
    }
    exit.into()
}
