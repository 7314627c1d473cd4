//! `dyno agent`: waits for controllers of distributed runs, or for runs that observe this host.

use std::path::PathBuf;

use dyno_campaign::{KnownTarget, reach_to_drive};
use dyno_engine::Cancel;
use dyno_fleet::{
    AgentEvent, AgentOptions, AgentPolicy, FleetTarget, GroupKey, ObserverOptions, Opened, Opener, observe,
    serve,
};
use dyno_plan::{HostUrl, Plan};
use dyno_workload::own::SentFolders;

use super::{agent_config, collect};
use crate::cli::AgentArgs;
use crate::engines::ENGINES;
use crate::exit::{Exit, usage};
use crate::talk::Console;
use crate::{fleet, signals};

/// Environment variables with the rank: Kubernetes Indexed Job, Slurm, Open MPI, MPICH.
const PLACES: [&str; 4] = ["JOB_COMPLETION_INDEX", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK"];

pub(super) fn run(args: &AgentArgs, talk: &Console) -> anyhow::Result<Exit> {
    if args.make_key {
        talk.show(&GroupKey::generate()?)?;
        return Ok(Exit::Done);
    }
    fleet::warn_open_secrets(&args.meeting, talk);
    let name = args.name.clone().unwrap_or_else(own_name);
    let cancel = Cancel::default();
    if let Err(error) = signals::watch(&cancel) {
        talk.say(&format!("warning: Ctrl-C ends the program at once: {error}"));
    }
    let tell = |event: &AgentEvent| say(event, &name, &args.under.group, talk);
    match args.observe_only {
        true => observe_only(args, &name, cancel, &tell),
        false => drive(args, &name, cancel, &tell),
    }
}

/// Serves this machine's counters to runs that observe it.
fn observe_only(
    args: &AgentArgs,
    name: &str,
    cancel: Cancel,
    tell: &(dyn Fn(&AgentEvent) + Sync),
) -> anyhow::Result<Exit> {
    if HostUrl::of_agent(name).is_none() {
        return Err(usage(
            format!("{name:?} cannot stand in agent://NAME, by which runs find this machine"),
            "--name NAME, of letters, digits, `.`, `_` and `-`",
        ));
    }
    let options = ObserverOptions {
        access: fleet::access(&args.meeting)?,
        group: args.under.group.clone(),
        name: name.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        cancel,
    };
    observe(&options, tell).map_err(fleet::as_error)?;
    Ok(Exit::Done)
}

/// Drives its share of the sessions of runs.
fn drive(
    args: &AgentArgs,
    name: &str,
    cancel: Cancel,
    tell: &(dyn Fn(&AgentEvent) + Sync),
) -> anyhow::Result<Exit> {
    let access = fleet::access(&args.meeting)?;
    let keep = match &args.keep {
        Some(keep) => keep.clone(),
        None => default_keep()?,
    };
    let place = args.rank.or_else(|| PLACES.iter().find_map(|name| std::env::var(name).ok()?.parse().ok()));
    let policy = policy(args)?;
    if access.key.is_none() {
        tell(&AgentEvent::Open(
            "no group key: everyone who reaches the NATS server is obeyed (--insecure)".into(),
        ));
    }
    if matches!(policy, AgentPolicy::Anything) {
        let open = "no list of targets: runs may reach and change any database from here (--insecure)";
        tell(&AgentEvent::Open(open.into()));
    }
    let options = AgentOptions {
        access,
        policy,
        group: args.under.group.clone(),
        name: name.to_owned(),
        place,
        keep,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        cancel,
    };
    serve(&options, &Targets, tell).map_err(fleet::as_error)?;
    Ok(Exit::Done)
}

/// What controllers may do from this host.
fn policy(args: &AgentArgs) -> anyhow::Result<AgentPolicy> {
    match &args.config {
        Some(path) => Ok(AgentPolicy::Listed(agent_config::read(path)?)),
        None if args.meeting.insecure => Ok(AgentPolicy::Anything),
        None => Err(usage(
            "this agent has no list of databases that runs may reach from here",
            "--config agent.toml with [[targets]] and url = \"postgres://dyno@db1/bench\"; or --insecure in a network without strangers",
        )),
    }
}

/// Folder next to the repository; several agents on one host need --keep.
fn default_keep() -> anyhow::Result<PathBuf> {
    let repository = dyno_record::repository::default_path().ok_or_else(|| {
        usage(
            "the user's data directory is not known (neither XDG_DATA_HOME nor HOME is set)",
            "give --keep FOLDER",
        )
    })?;
    Ok(repository.with_file_name("agent"))
}

fn own_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    if name.trim().is_empty() { format!("process {}", std::process::id()) } else { name.trim().to_owned() }
}

fn say(event: &AgentEvent, name: &str, group: &str, talk: &Console) {
    let line = match event {
        AgentEvent::Waits(0) => format!("{name} waits in group {group}"),
        AgentEvent::Waits(kept) => {
            format!(
                "{name} waits in group {group}; it keeps {kept} runs that nobody has: `dyno collect` fetches them"
            )
        }
        AgentEvent::Observes => {
            format!("{name} tells what this machine does, in group {group}: observe.hosts=agent://{name}")
        }
        AgentEvent::Observed(by) => format!("looked at by {by}"),
        AgentEvent::Reserved(by) => format!("reserved by {by}"),
        AgentEvent::Free => "free".to_owned(),
        AgentEvent::Alone(leader) => format!("warning: nothing is heard any more of {leader}"),
        AgentEvent::Leads(run, own, all) => format!("{run}: leads {own} of {all} sessions"),
        AgentEvent::CannotLead(run, why) => format!("warning: {run} cannot be led from here: {why}"),
        AgentEvent::HandedIn(run) => format!("{run}: handed in"),
        AgentEvent::Keeps(run) => format!(
            "warning: {run}: nobody took what was measured; it is kept, and `dyno collect` fetches it"
        ),
        AgentEvent::NotKept(run, why) => format!("warning: {run}: what was measured cannot be kept: {why}"),
        AgentEvent::Open(why) => format!("warning: {why}"),
        AgentEvent::Refused(why) => format!("warning: refused: {why}"),
    };
    talk.say(&line);
}

/// Connects to targets with this program's engines.
struct Targets;

impl Opener for Targets {
    fn open(
        &self,
        plan: &Plan,
        sent_targets: &[FleetTarget],
        workloads: (&[String], &SentFolders),
    ) -> Result<Opened, String> {
        let known_targets: Vec<KnownTarget> =
            sent_targets.iter().cloned().map(collect::known_target).collect();
        let reached = reach_to_drive(ENGINES, plan, &known_targets, workloads);
        let (targets, owns) = reached.map_err(|error| match error.hint() {
            "" => error.to_string(),
            hint => format!("{error} (hint: {hint})"),
        })?;
        Ok(Opened { targets, custom_workloads: owns })
    }
}
