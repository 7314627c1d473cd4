//! `dyno serve`: serves pages over the repository and starts runs from them.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dyno_campaign::repository_path;
use dyno_engine::Cancel;
use dyno_record::private_file::open_secret_warning;
use dyno_serve::{ConnectionLimits, ReadyWorkload, ServeError, ServeTargetList, Setup, TlsFiles, UserRole};
use dyno_workload::custom::example::EXAMPLES;

use crate::cli::{CommonArgs, Serve};
use crate::console::Console;
use crate::engines::ENGINES;
use crate::exit::{Exit, usage};
use crate::signals;

/// Interval between two checks for a signal.
const LOOK: Duration = Duration::from_millis(200);

pub(super) fn run(common: &CommonArgs, args: &Serve, talk: &Console) -> anyhow::Result<Exit> {
    if let Some(user) = &args.add_token {
        return add_token(&state(common, args)?, user, talk);
    }
    if let Some(name) = &args.remove_token {
        dyno_serve::remove_token(&state(common, args)?, name).map_err(|error| as_usage_error(&error))?;
        talk.say(&format!("removed the token of {name}"));
        return Ok(Exit::Done);
    }
    let key = args.tls_key.iter().map(|path| ("the TLS key", path.as_path()));
    let tls = key.filter_map(|(what, path)| open_secret_warning(what, path));
    let setup = setup(common, args)?;
    let of_targets = setup.targets.password_files();
    let passwords = of_targets.filter_map(|path| open_secret_warning("the password file", path));
    tls.chain(passwords).for_each(|words| talk.say(&format!("warning: {words}")));
    let cancel = Cancel::default();
    signals::watch(&cancel)?;
    let running = dyno_serve::start(setup).map_err(|error| as_usage_error(&error))?;
    // A log of the output must not contain the token, so only a terminal shows it.
    let shows_token = std::io::stdout().is_terminal();
    if !shows_token && running.token_file().is_none() && !running.has_named_tokens() {
        running.stop();
        let folder = state(common, args)?;
        return Err(usage(
            format!(
                "login would be impossible: {} cannot be written, and the token is shown only at a terminal",
                folder.display()
            ),
            "name a folder that can be written with --state DIR, or start the server at a terminal",
        ));
    }
    let url = if shows_token { running.url() } else { running.address_url() };
    talk.json_line(&serde_json::json!({ "address": running.address().to_string(), "url": url }))?;
    talk.show(&url)?;
    match running.token_file() {
        _ if shows_token => {}
        Some(file) => talk.say(&format!("the token is in {}, and shown only at a terminal", file.display())),
        None => {
            talk.say(
                "only named tokens are accepted: the owner's token is in memory and shown only at a terminal",
            );
        }
    }
    talk.say(
        "Ctrl-C ends the server; runs started from it continue and appear again after a restart of the \
            server",
    );
    while !cancel.is_cancelled() {
        std::thread::sleep(LOOK);
    }
    running.stop();
    Ok(Exit::Done)
}

/// Adds the token for `user`, given as `NAME=ROLE`.
fn add_token(state: &Path, user: &str, talk: &Console) -> anyhow::Result<Exit> {
    let words = user.split_once('=').and_then(|(name, role)| Some((name, UserRole::from_name(role)?)));
    let Some((name, role)) = words else {
        return Err(usage(
            format!("--add-token {user:?}: not NAME=ROLE"),
            "the role is view, run or administer",
        ));
    };
    let token = dyno_serve::add_token(state, name, role).map_err(|error| as_usage_error(&error))?;
    talk.json_line(&serde_json::json!({ "name": name, "role": role.name(), "token": token }))?;
    talk.show(&token)?;
    talk.say(&format!("{name} logs in with this token; it is not stored and cannot be shown again"));
    Ok(Exit::Done)
}

/// Folder of the server's state.
fn state(common: &CommonArgs, args: &Serve) -> anyhow::Result<PathBuf> {
    let repository = std::path::absolute(repository_path(common.repository.as_deref())?)?;
    Ok(std::path::absolute(args.state.clone().unwrap_or_else(|| state_folder(&repository)))?)
}

fn setup(common: &CommonArgs, args: &Serve) -> anyhow::Result<Setup> {
    let repository = std::path::absolute(repository_path(common.repository.as_deref())?)?;
    let mut targets = match &args.targets {
        Some(path) => ServeTargetList::read(path, ENGINES.specs)?,
        None => ServeTargetList::default(),
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
        state: state(common, args)?,
        repository,
        targets,
        read_only: args.read_only,
        allow_commands: args.allow_commands,
        program: std::env::current_exe()?,
        engines: ENGINES.specs,
        limits: ConnectionLimits::default(),
        workloads: workloads.collect(),
    })
}

/// Folder next to the repository: `repository.serve` for `repository.sqlite3`.
fn state_folder(repository: &Path) -> PathBuf {
    repository.with_extension("serve")
}

/// Maps errors of the request to usage errors.
fn as_usage_error(error: &ServeError) -> anyhow::Error {
    match error {
        ServeError::Io(_) | ServeError::Repository(_) => anyhow::anyhow!("{error}"),
        error => usage(error.to_string(), error.hint()),
    }
}
