//! Dyno: a dynamometer for database platforms.
//!
//! Only the binary prints and exits. Each subcommand is one file under `commands`. `dyno-campaign` implements
//! what users do with runs, and `terminal` is its front end: events become messages (`words`), progress lines
//! (`progress`) and tables, or the content of `screen`. Commands also share the command line (`cli`), the
//! conversion of options to plan and repository (`context`), and stderr and stdout (`talk`, `output`, `ask`).
//! Other shared parts are events for other programs (`events`), signals, exit codes (`exit`) and error
//! messages (`told_error`).

mod answers;
mod cli;
mod commands;
mod console;
mod context;
mod engines;
mod error_output;
mod event_messages;
mod events;
mod exit;
#[cfg_attr(not(feature = "fleet"), path = "no_fleet.rs")]
mod fleet;
mod monitoring;
mod output;
mod progress;
mod prompt;
mod screen;
mod signals;
mod statement_texts;
mod terminal;

use std::process::ExitCode;

/// The static binary's allocator: musl's own is known to be slow under threads.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    dyno_drive::raise_limit();
    let cli = cli::Cli::read();
    let mut talk = console::Console::new(&cli.common);
    let opened = cli.common.events.as_deref().map(events::EventLog::append).transpose();
    let mut exit = match opened {
        Ok(log) => {
            talk.events = log.map(std::sync::Arc::new);
            commands::run(&cli, &talk).unwrap_or_else(|error| error_output::report(&error, &talk))
        }
        Err(error) => error_output::report(&error, &talk),
    };
    if let Some(log) = talk.events.take().and_then(std::sync::Arc::into_inner) {
        // A program that follows the file has missed events, so the command did not do what was requested.
        if let Some(problem) = log.end(exit) {
            talk.say(&format!("error: {problem}"));
            if exit == exit::Exit::Done {
                exit = exit::Exit::Failed;
            }
        }
    }
    exit.into()
}
