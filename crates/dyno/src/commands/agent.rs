//! `dyno agent`: waits for controllers of distributed runs, or for runs that observe this host.

use std::path::PathBuf;

use dyno_campaign::{KnownTarget, reach_to_drive};
use dyno_engine::Cancel;
use dyno_fleet::{
    AgentEvent, AgentOptions, AgentPolicy, FleetTarget, GroupKey, ObserverOptions, Opened, Opener, observe,
    serve,
};
use dyno_plan::{HostUrl, Plan};
use dyno_workload::custom::SentFolders;

use super::{agent_config, collect};
use crate::cli::AgentArgs;
use crate::console::Console;
use crate::engines::ENGINES;
use crate::exit::{Exit, usage};
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
            format!("{name:?} is not valid in agent://NAME, by which runs find this machine"),
            "give --name NAME with only letters, digits, `.`, `_` and `-`",
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
            "no group key: anyone who reaches the NATS server can send commands (--insecure)".into(),
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
            "give --config agent.toml with [[targets]] and url = \"postgres://dyno@db1/bench\"; or \
                --insecure in a trusted network",
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
                "{name} waits in group {group}; it stores {kept} runs that no controller has fetched: `dyno \
                    collect` fetches them"
            )
        }
        AgentEvent::Observes => {
            format!("{name} reports this machine's counters in group {group}: observe.hosts=agent://{name}")
        }
        AgentEvent::Observed(by) => format!("observed by {by}"),
        AgentEvent::Reserved(by) => format!("reserved by {by}"),
        AgentEvent::Free => "free".to_owned(),
        AgentEvent::Alone(leader) => format!("warning: no more messages from {leader}"),
        AgentEvent::Leads(run, own, all) => format!("{run}: drives {own} of {all} sessions"),
        AgentEvent::CannotLead(run, why) => format!("warning: {run} cannot be driven from here: {why}"),
        AgentEvent::HandedIn(run) => format!("{run}: results delivered"),
        AgentEvent::Keeps(run) => format!(
            "warning: {run}: no controller took the results; they are stored here, and `dyno collect` \
                fetches them"
        ),
        AgentEvent::NotKept(run, why) => format!("warning: {run}: the results cannot be stored: {why}"),
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
