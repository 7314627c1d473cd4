//! Options of `dyno prove`.

use clap::{Args, Subcommand};
use dyno_plan::TimeSpan;

#[derive(Debug, Subcommand)]
pub(crate) enum Prove {
    /// Prove that recorded figures are correct, using a scripted database with known figures.
    #[command(
        after_long_help = "Needs no database. About 30 short runs drive a scripted database in memory that \
            counts every operation itself. Each recorded figure (counts, rows, errors, counters, \
            percentiles, every bucket of every histogram) must equal the scripted one.\n\n\
            Examples:\n  \
            dyno prove window\n  \
            dyno prove window --all\n  \
            dyno prove window --json > proof.json"
    )]
    Window(ProveWindow),
    /// Prove that the table contains every update of a run exactly once. Needs loaded data.
    #[command(
        after_long_help = "Runs the plan (with updates only, if the plan has none) and reads the version of \
            every row before and after. The increase of the versions is compared with the commits that the \
            database acknowledged. The run is stored like any other. Reading all rows warms caches, so the \
            run does not measure a cold cache.\n\n\
            Examples:\n  \
            dyno prove updates\n  \
            dyno prove updates --target postgres://dyno@db1/bench --set run.sessions_per_schema=16\n  \
            dyno prove updates --set workload.drive=server --set run.time=10s"
    )]
    Updates,
    /// Prove that acknowledged commits survive a killed server. PostgreSQL, with loaded data.
    #[command(
        after_long_help = "Updates run until your command kills the server without a shutdown. When the \
            server is back, every commit that it acknowledged must be present. Operations in progress at \
            that moment have an unknown outcome and are never counted as lost. To prove the effect of fsync \
            = off and of write caches, kill the machine, not only the server.\n\
            Commands run through sh; a command that leaves a server running must redirect its output (pg_ctl \
            -l FILE).\n\n\
            Examples:\n  \
            dyno prove durability --kill-command 'ssh db1 pkill -9 postgres' --restart-command 'ssh db1 systemctl start postgresql'\n  \
            dyno prove durability --kill-command 'virsh reset db1' --restart-wait 5m --after 1m"
    )]
    Durability(ProveDurability),
}

#[derive(Debug, Args)]
pub(crate) struct ProveDurability {
    /// Command that kills the server without a shutdown; runs through `sh -c`.
    #[arg(long, value_name = "CMD")]
    pub(crate) kill_command: String,
    /// Command that starts the server again; runs through `sh -c`. Without it, Dyno waits until the server is
    /// back.
    #[arg(long, value_name = "CMD")]
    pub(crate) restart_command: Option<String>,
    /// How long updates run before the server is killed.
    #[arg(long, value_name = "DURATION", default_value = "10s")]
    pub(crate) after: TimeSpan,
    /// Maximum wait for the server to return, including recovery.
    #[arg(long, value_name = "DURATION", default_value = "60s")]
    pub(crate) restart_wait: TimeSpan,
}

#[derive(Debug, Args)]
pub(crate) struct ProveWindow {
    /// Show every figure, not only one line for each scenario and the figures that differ.
    #[arg(long)]
    pub(crate) all: bool,
}
