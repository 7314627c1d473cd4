//! Starts a database model that speaks Oracle's wire protocol, prints its URL, and serves until its input ends.
//!
//! `scripted_oracle [--port N] [--release 19c|23ai] [--lost-commit-every N]`: the default is a free port and
//! 19c. The last option injects a fault: the model loses one of N commits. It is a test double for `dyno` on
//! this machine only: it checks no password.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it says where it listens")]

use std::io::Read;
use std::process::ExitCode;
use std::sync::Arc;

use dyno_testbed::{
    ModelDatabase, ModelFaults, ModelOptions, ScriptedOptions, ScriptedOracle, ScriptedRelease,
};

fn arguments(mut words: impl Iterator<Item = String>) -> Result<(u16, ScriptedRelease, ModelFaults), String> {
    let (mut port, mut release, mut faults) = (0, ScriptedRelease::default(), ModelFaults::default());
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| format!("{word} needs a value"))?;
        let wrong = |error: std::num::ParseIntError| format!("{word} {value}: {error}");
        match word.as_str() {
            "--port" => port = value.parse().map_err(wrong)?,
            "--lost-commit-every" => faults.lost_commit_every = Some(value.parse().map_err(wrong)?),
            "--release" => {
                release = match value.as_str() {
                    "19c" => ScriptedRelease::R19c,
                    "23ai" => ScriptedRelease::R23ai,
                    _ => return Err(format!("--release {value}: 19c or 23ai")),
                }
            }
            _ => {
                return Err(format!(
                    "unknown option {word}: --port N, --release 19c|23ai, --lost-commit-every N"
                ));
            }
        }
    }
    Ok((port, release, faults))
}

fn main() -> ExitCode {
    let (port, release, faults) = match arguments(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    };
    let model = ModelDatabase::new(ModelOptions { release, faults, ..ModelOptions::default() });
    let options = ScriptedOptions { port, ..ScriptedOptions::of(release) };
    let server = ScriptedOracle::start_with(options, Arc::new(model));
    println!("{}", server.url());
    // The example ends when its input is closed, or by a signal.
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    ExitCode::SUCCESS
}
