//! `dyno serve`: pages over the repository, and runs that are started from them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use dyno_campaign::repository_path;
use dyno_engine::Cancel;
use dyno_serve::{ReadyWorkload, ServeError, Setup, Targets, TlsFiles};
use dyno_workload::own::example::EXAMPLES;

use crate::cli::{Common, Serve};
use crate::engines::ENGINES;
use crate::exit::{Exit, usage};
use crate::signals;
use crate::talk::Talk;

/// How often it is looked whether a signal has come.
const LOOK: Duration = Duration::from_millis(200);

pub(super) fn run(common: &Common, args: &Serve, talk: &Talk) -> anyhow::Result<Exit> {
    let cancel = Cancel::default();
    signals::watch(&cancel)?;
    let running = dyno_serve::start(setup(common, args)?).map_err(|error| told(&error))?;
    talk.json_line(&serde_json::json!({ "address": running.address().to_string(), "url": running.url() }))?;
    talk.show(&running.url())?;
    talk.say("Ctrl-C ends the server; what was started from it goes on, and is there again when it is started again");
    while !cancel.is_cancelled() {
        std::thread::sleep(LOOK);
    }
    running.stop();
    Ok(Exit::Done)
}

fn setup(common: &Common, args: &Serve) -> anyhow::Result<Setup> {
    let repository = std::path::absolute(repository_path(common.repository.as_deref())?)?;
    let mut targets = match &args.targets {
        Some(path) => Targets::read(path, ENGINES.specs).map_err(|error| told(&error))?,
        None => Targets::default(),
    };
    for (number, url) in (1..).zip(&common.target) {
        let name = if common.target.len() == 1 { "target".to_owned() } else { format!("target-{number}") };
        targets.add(&name, url);
    }
    let tls = args.tls_cert.clone().zip(args.tls_key.clone());
    let workloads = EXAMPLES.iter().map(|known| ReadyWorkload { name: known.name, about: known.about });
    Ok(Setup {
        listen: args.listen,
        hosts: args.hosts.clone(),
        behind_proxy: args.behind_proxy,
        tls: tls.map(|(certificate, key)| TlsFiles { certificate, key }),
        state: std::path::absolute(args.state.clone().unwrap_or_else(|| beside(&repository)))?,
        repository,
        targets,
        read_only: args.read_only,
        allow_commands: args.allow_commands,
        program: std::env::current_exe()?,
        engines: ENGINES.specs,
        workloads: workloads.collect(),
    })
}

/// `repository.serve` beside `repository.sqlite3`.
fn beside(repository: &Path) -> PathBuf {
    repository.with_extension("serve")
}

/// What is wrong with what was asked is wrong usage.
fn told(error: &ServeError) -> anyhow::Error {
    match error {
        ServeError::Io(_) | ServeError::Repository(_) => anyhow::anyhow!("{error}"),
        error => usage(error.to_string(), error.hint()),
    }
}
