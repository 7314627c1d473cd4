//! Options for distributed runs: meeting point, number of driver hosts, and the agent's options.

use std::path::PathBuf;

use clap::Args;
use dyno_plan::TimeSpan;

/// Default URL of the NATS server.
pub(crate) const NATS: &str = "nats://127.0.0.1:4222";
pub(crate) const GROUP: &str = "dyno";

/// How controller and agents reach the NATS server.
#[derive(Debug, Clone, Args)]
pub(crate) struct Meeting {
    /// The NATS server that connects driver hosts: nats://HOST:4222, or tls://HOST:4222; without a password.
    #[arg(
        long,
        value_name = "URL",
        env = "DYNO_NATS",
        default_value = NATS,
        help_heading = "Other hosts"
    )]
    pub(crate) nats: String,
    /// TOML file with the server's credentials for clients: token, or user and password, or nkey; ca,
    /// certificate, key.
    #[arg(long, value_name = "FILE", env = "DYNO_NATS_AUTH", help_heading = "Other hosts")]
    pub(crate) nats_auth: Option<PathBuf>,
    /// File with the group's key, which encrypts every message (`dyno agent --make-key`); alternatively
    /// DYNO_GROUP_KEY holds the key.
    #[arg(long, value_name = "FILE", env = "DYNO_GROUP_KEY_FILE", help_heading = "Other hosts")]
    pub(crate) group_key_file: Option<PathBuf>,
    /// Work without a group key: anyone who reaches the NATS server can send commands and results.
    #[arg(
        long,
        env = "DYNO_INSECURE",
        value_parser = clap::builder::BoolishValueParser::new(),
        action = clap::ArgAction::SetTrue,
        help_heading = "Other hosts"
    )]
    pub(crate) insecure: bool,
}

/// The group of agents, for commands without other group options.
#[derive(Debug, Clone, Args)]
pub(crate) struct Group {
    /// Name under which controller and agents of a group find each other.
    #[arg(
        long,
        value_name = "NAME",
        env = "DYNO_GROUP",
        default_value = GROUP,
        help_heading = "Other hosts"
    )]
    pub(crate) group: String,
}

/// How a controller reaches agents.
#[derive(Debug, Clone, Args)]
pub(crate) struct AgentAccessArgs {
    #[command(flatten)]
    pub(crate) meeting: Meeting,
    /// Group of agents, by the name that they use (`dyno agent --group`).
    #[arg(
        long,
        value_name = "NAME",
        env = "DYNO_GROUP",
        default_value = GROUP,
        help_heading = "Other hosts"
    )]
    pub(crate) host_group: String,
}

/// Number of driver hosts, and their settings.
#[derive(Debug, Clone, Args)]
pub(crate) struct DriverHostArgs {
    /// Number of driver hosts for the sessions; each must run `dyno agent`. This process is the controller
    /// and observes the database.
    #[arg(long, value_name = "COUNT", help_heading = "Other hosts")]
    pub(crate) hosts: Option<usize>,
    #[command(flatten)]
    pub(crate) met: AgentAccessArgs,
    /// Relative weights of the hosts, in order of rank, such as 2,1,1; or `cpus`, by their processors
    /// [default: equal shares].
    #[arg(long, value_name = "WEIGHTS", help_heading = "Other hosts")]
    pub(crate) weights: Option<String>,
    /// Maximum time to wait for missing agents.
    #[arg(long, value_name = "TIME", default_value = "30s", help_heading = "Other hosts")]
    pub(crate) wait_hosts: TimeSpan,
    /// Heartbeat timeout: after this time without a message an agent stops its sessions, and the controller
    /// treats the host as lost.
    #[arg(long, value_name = "TIME", default_value = "10s", help_heading = "Other hosts")]
    pub(crate) heartbeat: TimeSpan,
    /// Continue a run after a host is lost; the run then lacks that host and is never valid.
    #[arg(long, help_heading = "Other hosts")]
    pub(crate) allow_short: bool,
}

/// Options of `dyno agent` on a driver host.
#[derive(Debug, Args)]
pub(crate) struct AgentArgs {
    #[command(flatten)]
    pub(crate) meeting: Meeting,
    #[command(flatten)]
    pub(crate) under: Group,
    /// Name of this host in records, and in `agent://NAME` [default: its host name].
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// TOML file with the databases that runs may reach from this host, their passwords, and where runs may
    /// write.
    #[arg(long, value_name = "FILE", env = "DYNO_AGENT_CONFIG", conflicts_with = "observe_only")]
    pub(crate) config: Option<PathBuf>,
    /// Print a new key for a group, and exit.
    #[arg(long)]
    pub(crate) make_key: bool,
    /// Only observe this machine, for runs that name it in observe.hosts; never drive sessions.
    #[arg(long, conflicts_with = "rank")]
    pub(crate) observe_only: bool,
    /// Rank among the agents, from 0 [default: the index given by Kubernetes, Slurm or MPI, if any].
    #[arg(long, value_name = "RANK")]
    pub(crate) rank: Option<u32>,
    /// Folder that stores results until a controller or `dyno collect` has fetched them [default: in the
    /// user's data directory].
    #[arg(long, value_name = "FOLDER", env = "DYNO_AGENT_KEEP")]
    pub(crate) keep: Option<PathBuf>,
}

/// Options of `dyno collect` for results kept by agents.
#[derive(Debug, Args)]
pub(crate) struct Collect {
    /// The run to collect [default: all runs that agents store].
    #[arg(value_name = "RUN")]
    pub(crate) run: Option<String>,
    #[command(flatten)]
    pub(crate) meeting: Meeting,
    #[command(flatten)]
    pub(crate) under: Group,
    /// Folder in which an agent stored runs, copied from its host; can be repeated. No agent is contacted
    /// then.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) from: Vec<PathBuf>,
}
