//! Starts a database model that speaks Oracle's wire protocol, prints its URL, and serves until its input ends.
//!
//! `scripted_oracle [--port N] [--release 19c|23ai] [--lost-commit-every N] [--recorded FILE]`: the default is
//! a free port and 19c. `--lost-commit-every` injects a fault: the model loses one of N commits. `--recorded`
//! makes it report the version and settings in a file of `dyno check --accept --record FILE`. `--instances
//! orcl1,orcl2` makes it a cluster, whose instances serve sessions in turn. Where MariaDB is
//! installed, tables of workloads are on a MariaDB server. It is a test double for `dyno` on this machine
//! only: it checks no password.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it says where it listens")]

use std::io::Read;
use std::process::ExitCode;
use std::sync::Arc;

use dyno_testbed::{
    ModelDatabase, ModelOptions, RecordedServer, ScriptedOptions, ScriptedOracle, ScriptedRelease, UserTables,
};

fn arguments(mut words: impl Iterator<Item = String>) -> Result<(u16, ModelOptions), String> {
    let (mut port, mut options) = (0, ModelOptions::default());
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| format!("{word} needs a value"))?;
        let wrong = |error: std::num::ParseIntError| format!("{word} {value}: {error}");
        match word.as_str() {
            "--port" => port = value.parse().map_err(wrong)?,
            "--lost-commit-every" => options.faults.lost_commit_every = Some(value.parse().map_err(wrong)?),
            // The names live as long as the server.
            "--instances" => {
                options.instances = value.split(',').map(|name| &*name.to_owned().leak()).collect();
            }
            "--release" => {
                options.release = match value.as_str() {
                    "19c" => ScriptedRelease::R19c,
                    "23ai" => ScriptedRelease::R23ai,
                    _ => return Err(format!("--release {value}: 19c or 23ai")),
                }
            }
            "--recorded" => {
                let file = std::fs::read_to_string(&value).map_err(|error| format!("{value}: {error}"))?;
                options.recorded =
                    Some(RecordedServer::parse(&file).map_err(|why| format!("{value}: {why}"))?);
            }
            _ => {
                return Err(format!(
                    "unknown option {word}: --port N, --release 19c|23ai, --lost-commit-every N, --recorded FILE, \
                     --instances NAME,NAME"
                ));
            }
        }
    }
    Ok((port, options))
}

fn main() -> ExitCode {
    let (port, options) = match arguments(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    };
    let server_options = ScriptedOptions { port, ..ScriptedOptions::of(options.release) };
    let model = ModelDatabase::new(ModelOptions { user_tables: UserTables::start(), ..options });
    let server = ScriptedOracle::start_with(server_options, Arc::new(model));
    println!("{}", server.url());
    // The example ends when its input is closed, or by a signal.
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    ExitCode::SUCCESS
}
