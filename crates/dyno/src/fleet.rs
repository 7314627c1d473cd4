//! Connects a command to driver hosts and reads the NATS server's credentials.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dyno_campaign::{Agents, Error};
use dyno_drive::WorkerPoolFactory;
use dyno_engine::Cancel;
use dyno_fleet::{Access, FleetError, FleetOptions, Gathering, GroupKey, NatsAgents, NatsFleet, Weights};
use dyno_plan::{LocatedToml, Plan, PlanErrors, PlanFile};
use dyno_record::private_file;
use serde::Deserialize;

use crate::cli::{AgentAccessArgs, DriverHostArgs, Meeting};
use crate::console::Console;
use crate::engines::ENGINES;
use crate::exit::usage;
use crate::signals;

/// The requested driver hosts, reserved for this process; `None` if it drives alone.
pub(crate) fn gathered(
    hosts: &DriverHostArgs,
    command: &str,
    talk: &Console,
) -> anyhow::Result<Option<Arc<dyn WorkerPoolFactory>>> {
    let Some(count) = hosts.hosts else { return Ok(None) };
    warn_open_secrets(&hosts.met.meeting, talk);
    let options = FleetOptions {
        access: access(&hosts.met.meeting)?,
        group: hosts.met.host_group.clone(),
        hosts: count,
        weights: weights(hosts.weights.as_deref())?,
        silence: hosts.heartbeat.0,
        wait: hosts.wait_hosts.0,
        allow_short: hosts.allow_short,
        fewer_for_few: matches!(command, "sweep" | "search" | "suite"),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let tell = |Gathering { ready: there, wanted: of, busy }: &Gathering| {
        let reserved =
            if busy.is_empty() { String::new() } else { format!("; reserved: {}", busy.join(", ")) };
        if there < of {
            talk.say(&format!("waiting for driver hosts: {there} of {of}{reserved}"));
        }
    };
    let cancel = Cancel::default();
    let waiting = signals::handle_while_waiting(&cancel)?;
    let fleet = NatsFleet::gather(options, &cancel, &tell).map_err(as_error)?;
    drop(waiting);
    talk.say(&format!("{count} driver hosts: {}", fleet.names().join(", ")));
    Ok(Some(Arc::new(fleet)))
}

/// Refuses driver hosts for a database that other hosts cannot reach, before any is reserved.
pub(crate) fn refuse_unfit(hosts: &DriverHostArgs, plan: &Plan) -> Result<(), Error> {
    if hosts.hosts.is_none() {
        return Ok(());
    }
    let engines: Vec<_> = plan.target.all().iter().filter_map(|url| ENGINES.specs.spec_of(url)).collect();
    match engines.iter().find(|engine| !engine.is_server()) {
        None => Ok(()),
        Some(engine) => Err(Error::usage(
            format!(
                "--hosts: {} works inside this program, so other hosts cannot reach its data, and their \
                    activity is not counted",
                engine.product
            ),
            "leave --hosts out to drive from this host only, or name a database with a server",
        )),
    }
}

/// Connects to agents on observed machines. The NATS address is resolved when an agent is first needed; a
/// command without options for it uses the environment.
pub(crate) fn agents(met: Option<&AgentAccessArgs>) -> Option<Arc<dyn Agents>> {
    let of_environment = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let met = met.cloned().unwrap_or_else(|| AgentAccessArgs {
        meeting: Meeting {
            nats: of_environment("DYNO_NATS").unwrap_or_else(|| crate::cli::NATS.to_owned()),
            nats_auth: of_environment("DYNO_NATS_AUTH").map(PathBuf::from),
            group_key_file: of_environment("DYNO_GROUP_KEY_FILE").map(PathBuf::from),
            insecure: of_environment("DYNO_INSECURE")
                .is_some_and(|value| !matches!(&*value, "0" | "false" | "no")),
        },
        host_group: of_environment("DYNO_GROUP").unwrap_or_else(|| crate::cli::GROUP.to_owned()),
    });
    let AgentAccessArgs { meeting, host_group } = met;
    let to_meet = move || {
        access(&meeting).map_err(|error| {
            let hint = error.downcast_ref::<Error>().map_or("", Error::hint).to_owned();
            (error.to_string(), hint)
        })
    };
    Some(Arc::new(NatsAgents::new(Box::new(to_meet), host_group, env!("CARGO_PKG_VERSION").to_owned())))
}

/// Converts an error between hosts to an error of the program.
pub(crate) fn as_error(error: FleetError) -> anyhow::Error {
    match error {
        FleetError::Usage { problem, hint } => usage(problem, hint),
        error => Error::Target(error.into()).into(),
    }
}

fn weights(text: Option<&str>) -> anyhow::Result<Weights> {
    match text.map(str::trim) {
        None | Some("equal") => Ok(Weights::Equal),
        Some("cpus") => Ok(Weights::Processors),
        Some(list) => {
            let parsed: Result<Vec<u32>, _> = list.split(',').map(|weight| weight.trim().parse()).collect();
            let wrong = |_| {
                usage(format!("--weights {list}: invalid weights"), "write --weights 2,1,1 or --weights cpus")
            };
            Ok(Weights::Given(parsed.map_err(wrong)?))
        }
    }
}

/// Content of the `--nats-auth` file.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Auth {
    token: Option<String>,
    user: Option<String>,
    password: Option<String>,
    nkey: Option<String>,
    ca: Option<PathBuf>,
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
}

/// Access to the NATS server, with secrets from the file or from the environment.
pub(crate) fn access(meeting: &Meeting) -> anyhow::Result<Access> {
    if meeting.nats.contains('@') {
        return Err(usage(
            "--nats: the address must not contain a user or a password, because every user of this host can \
                read it",
            "use DYNO_NATS_USER and DYNO_NATS_PASSWORD, DYNO_NATS_TOKEN, DYNO_NATS_NKEY, or --nats-auth FILE",
        ));
    }
    let auth = match &meeting.nats_auth {
        Some(path) => read_auth(path)?,
        None => Auth::default(),
    };
    let of_environment = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let token = auth.token.or_else(|| of_environment("DYNO_NATS_TOKEN"));
    let user = auth.user.or_else(|| of_environment("DYNO_NATS_USER"));
    let password = auth.password.or_else(|| of_environment("DYNO_NATS_PASSWORD"));
    let nkey = auth.nkey.or_else(|| of_environment("DYNO_NATS_NKEY"));
    if let Some(seed) = &nkey
        && !(seed.starts_with("SU") && seed.len() == 58)
    {
        // The NATS client would only give a short error; no message contains the seed itself.
        return Err(usage(
            "the nkey is not the seed of a user",
            "a user seed begins with SU and has 58 characters: `nk -gen user` creates one",
        ));
    }
    let user = match (user, password) {
        (Some(user), password) => Some((user, password.unwrap_or_default())),
        (None, Some(_)) => {
            return Err(usage(
                "NATS password without a user",
                "set DYNO_NATS_USER, or user in the file of --nats-auth",
            ));
        }
        (None, None) => None,
    };
    let certificate = match (auth.certificate, auth.key) {
        (Some(certificate), Some(key)) => Some((certificate, key)),
        (None, None) => None,
        _ => {
            return Err(usage(
                "certificate and key must be given together",
                "name both in the file of --nats-auth",
            ));
        }
    };
    let key = group_key(meeting)?;
    Ok(Access { url: meeting.nats.clone(), token, user, nkey, ca: auth.ca, certificate, key })
}

/// Warns of secret files that other users may read.
pub(crate) fn warn_open_secrets(meeting: &Meeting, talk: &Console) {
    let files = [("the group key", &meeting.group_key_file), ("the file of --nats-auth", &meeting.nats_auth)];
    for (what, path) in files {
        let words = path.as_deref().and_then(|path| private_file::open_secret_warning(what, path));
        words.into_iter().for_each(|words| talk.say(&format!("warning: {words}")));
    }
}

/// The group's key; `None` if the user disabled it.
fn group_key(meeting: &Meeting) -> anyhow::Result<Option<GroupKey>> {
    let of_environment = std::env::var("DYNO_GROUP_KEY").ok().filter(|value| !value.is_empty());
    let text = match (&meeting.group_key_file, of_environment) {
        (Some(path), _) => Some(std::fs::read_to_string(path).map_err(|error| {
            usage(format!("{} (--group-key-file) cannot be read: {error}", path.display()), "")
        })?),
        (None, text) => text,
    };
    let make = "`dyno agent --make-key` prints one; agents and commands of a group use the same key";
    match (text, meeting.insecure) {
        (Some(text), _) => match GroupKey::of(&text) {
            Some(key) => Ok(Some(key)),
            None => Err(usage("the group key is too short", make)),
        },
        (None, true) => Ok(None),
        (None, false) => Err(usage(
            "without a group key, anyone who reaches the NATS server can send commands and results",
            "give --group-key-file FILE or DYNO_GROUP_KEY (`dyno agent --make-key` prints a key), or \
                --insecure in a trusted network",
        )),
    }
}

/// How the `--nats-auth` file is written.
const AUTH_HINT: &str = "write lines such as token = \"…\", user = \"…\", password = \"…\", nkey = \"SU…\", ca = \"ca.pem\", \
    certificate = \"…\", key = \"…\"";

fn read_auth(path: &Path) -> Result<Auth, PlanErrors> {
    let file = PlanFile::open_input(path, "file of --nats-auth", AUTH_HINT)?;
    LocatedToml::parse(&file.name, &file.text, AUTH_HINT)?.read()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nats_auth_errors_have_a_place_and_hide_secrets() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("nats.toml");
        for (text, place) in [
            ("tokn = \"geheim\"\n", "1:1: tokn: unknown key; did you mean token?"),
            ("user = \"me\"\npassword = [\"geheim\"]\n", "2:12: password: not a text"),
            ("user = \"me\"\npassword = geheim\n", "2:12: not valid TOML: string values must be quoted"),
            ("geheim", "1:7: not valid TOML: "),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = read_auth(&path).map(|_| ()).unwrap_err().to_string();
            assert!(error.starts_with(&format!("{}:{place}", path.display())), "{error}");
            assert!(!error.contains("geheim"), "{error}");
        }
    }
}
