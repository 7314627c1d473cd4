//! Options of several driver hosts: where they meet, how many there are, and what an agent is.

use std::path::PathBuf;

use clap::Args;
use dyno_plan::Span;

/// Where they meet where nobody says so, and under which name.
pub(crate) const NATS: &str = "nats://127.0.0.1:4222";
pub(crate) const GROUP: &str = "dyno";

/// Where leader and agents meet.
#[derive(Debug, Clone, Args)]
pub(crate) struct Meeting {
    /// The NATS server where driver hosts meet: nats://HOST:4222, or tls://HOST:4222; never with a password in it.
    #[arg(
        long,
        value_name = "URL",
        env = "DYNO_NATS",
        default_value = NATS,
        help_heading = "Other hosts"
    )]
    pub(crate) nats: String,
    /// A TOML file with what the server wants of clients: token, or user and password, or nkey; ca, certificate, key.
    #[arg(long, value_name = "FILE", env = "DYNO_NATS_AUTH", help_heading = "Other hosts")]
    pub(crate) nats_auth: Option<PathBuf>,
    /// A file with the key of the group, which seals every message (`dyno agent --make-key`); or the key itself in DYNO_GROUP_KEY.
    #[arg(long, value_name = "FILE", env = "DYNO_GROUP_KEY_FILE", help_heading = "Other hosts")]
    pub(crate) group_key_file: Option<PathBuf>,
    /// Work without a group key: everyone who reaches the NATS server is obeyed and believed.
    #[arg(
        long,
        env = "DYNO_INSECURE",
        value_parser = clap::builder::BoolishValueParser::new(),
        action = clap::ArgAction::SetTrue,
        help_heading = "Other hosts"
    )]
    pub(crate) insecure: bool,
}

/// The group of agents, for those who have no other groups.
#[derive(Debug, Clone, Args)]
pub(crate) struct Group {
    /// The name under which they find each other there.
    #[arg(
        long,
        value_name = "NAME",
        env = "DYNO_GROUP",
        default_value = GROUP,
        help_heading = "Other hosts"
    )]
    pub(crate) group: String,
}

/// Where whoever leads meets agents.
#[derive(Debug, Clone, Args)]
pub(crate) struct Met {
    #[command(flatten)]
    pub(crate) meeting: Meeting,
    /// The group of agents, by the name that they wait under (`dyno agent --group`).
    #[arg(
        long,
        value_name = "NAME",
        env = "DYNO_GROUP",
        default_value = GROUP,
        help_heading = "Other hosts"
    )]
    pub(crate) host_group: String,
}

/// How many hosts drive, and how.
#[derive(Debug, Clone, Args)]
pub(crate) struct Hosts {
    /// Have so many driver hosts do the sessions, on each of which `dyno agent` waits; this process leads them and observes the database.
    #[arg(long, value_name = "COUNT", help_heading = "Other hosts")]
    pub(crate) hosts: Option<usize>,
    #[command(flatten)]
    pub(crate) met: Met,
    /// Shares of uneven hosts by rank, such as 2,1,1; or `cpus`, by their processors [default: all alike].
    #[arg(long, value_name = "WEIGHTS", help_heading = "Other hosts")]
    pub(crate) weights: Option<String>,
    /// How long to wait for agents that are not there yet.
    #[arg(long, value_name = "TIME", default_value = "30s", help_heading = "Other hosts")]
    pub(crate) wait_hosts: Span,
    /// How long nothing may be heard: then an agent stops its sessions, and the leader counts a host as lost.
    #[arg(long, value_name = "TIME", default_value = "10s", help_heading = "Other hosts")]
    pub(crate) heartbeat: Span,
    /// Let a run go on without a host that is lost; it is then short of that host, and never valid.
    #[arg(long, help_heading = "Other hosts")]
    pub(crate) allow_short: bool,
}

/// `dyno agent`.
#[derive(Debug, Args)]
pub(crate) struct Agent {
    #[command(flatten)]
    pub(crate) meeting: Meeting,
    #[command(flatten)]
    pub(crate) under: Group,
    /// What this host is called in records, and in `agent://NAME` [default: its name].
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// The databases that runs may reach from this host, with their passwords, and where they may write: a TOML file.
    #[arg(long, value_name = "FILE", env = "DYNO_AGENT_CONFIG", conflicts_with = "observe_only")]
    pub(crate) config: Option<PathBuf>,
    /// Print a new key for a group, and exit.
    #[arg(long)]
    pub(crate) make_key: bool,
    /// Only look at this machine, for runs that name it in observe.hosts; never drive sessions.
    #[arg(long, conflicts_with = "rank")]
    pub(crate) observe_only: bool,
    /// Its place among the agents, from 0 [default: that of a Kubernetes index, Slurm or MPI, if there is one].
    #[arg(long, value_name = "RANK")]
    pub(crate) rank: Option<u32>,
    /// Where it keeps what it measured until a leader or `dyno collect` has it [default: in the user's data directory].
    #[arg(long, value_name = "FOLDER", env = "DYNO_AGENT_KEEP")]
    pub(crate) keep: Option<PathBuf>,
}

/// `dyno collect`.
#[derive(Debug, Args)]
pub(crate) struct Collect {
    /// The run [default: all that are kept].
    #[arg(value_name = "RUN")]
    pub(crate) run: Option<String>,
    #[command(flatten)]
    pub(crate) meeting: Meeting,
    #[command(flatten)]
    pub(crate) under: Group,
    /// A folder that an agent kept runs in, copied from its host; several, if given several times. Then no agent is asked.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) from: Vec<PathBuf>,
}
