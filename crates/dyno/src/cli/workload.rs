//! The options of `dyno workload`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum WorkloadCommand {
    /// Check a workload and show its transactions, statements, generators and sample values.
    #[command(
        after_long_help = "With --target, every statement is prepared there; nothing is executed. Nothing in \
            the folder except SQL is ever executed. The tables must exist: the SQL of [setup] creates them.\n\n\
            Examples:\n  \
            dyno workload check shop\n  \
            dyno workload check shop --draws 20\n  \
            dyno workload check shop --target postgres://dyno@db1/bench --explain\n  \
            dyno workload check shop --target postgres://dyno@db1/bench --json\n\n\
            Exit codes: 0 no problem found, 2 the folder is invalid, 3 the target refuses a statement or \
            cannot be reached."
    )]
    Check(CheckWorkload),
}

#[derive(Debug, Args)]
pub(crate) struct CheckWorkload {
    /// Folder that contains the workload.
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Number of sample transactions to show.
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub(crate) draws: usize,
    /// Seed for the sample transactions.
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Show the target's execution plan for each statement with sample values; nothing is executed.
    #[arg(long)]
    pub(crate) explain: bool,
}
