//! The options of `dyno workload`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use dyno_engine::executed_statements::StatementOrder;

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

#[derive(Debug, Args)]
pub(crate) struct ImportPgbench {
    /// Script files, each with its relative weight after an @.
    #[arg(value_name = "FILE[@WEIGHT]", required_unless_present = "builtin")]
    pub(crate) files: Vec<String>,
    /// Built-in script: tpcb-like, simple-update or select-only, or a prefix of its name.
    #[arg(long, short, value_name = "NAME[@WEIGHT]")]
    pub(crate) builtin: Vec<String>,
    /// Folder in which the workload is written.
    #[arg(long, value_name = "DIR")]
    pub(crate) into: PathBuf,
    /// Number of branches: the scripts' :scale, and the size of pgbench's tables.
    #[arg(long, short, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=20_000))]
    pub(crate) scale: u32,
    /// Use pgbench's existing tables: none are loaded or dropped.
    #[arg(long)]
    pub(crate) no_tables: bool,
    /// Value for a variable of the scripts.
    #[arg(long, short = 'D', value_name = "NAME=VALUE")]
    pub(crate) define: Vec<String>,
    /// Name of the workload [default: the folder's name].
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Overwrite files that exist already.
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ImportStatements {
    /// AWR or STATSPACK report of Oracle, whose top SQL is used instead of a target's.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["schema", "user"])]
    pub(crate) awr: Option<PathBuf>,
    /// Show and write the texts of statements, which may contain secrets; without it only ids and figures are
    /// shown.
    #[arg(long)]
    pub(crate) sql_text: bool,
    /// Folder in which the workload is written.
    #[arg(long, visible_alias = "out", value_name = "DIR", requires = "sql_text")]
    pub(crate) into: Option<PathBuf>,
    /// Maximum number of statements to take.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u8).range(1..=100))]
    pub(crate) top: u8,
    /// Measure by which statements are ordered.
    #[arg(long, value_name = "time|calls|reads", default_value = "time", value_parser = order)]
    pub(crate) order: StatementOrder,
    /// Minimum number of executions of each statement.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) min_calls: u64,
    /// Statements of this database (MySQL, MariaDB) or parsed in this schema (Oracle), instead of the
    /// target's own.
    #[arg(long, value_name = "NAME")]
    pub(crate) schema: Option<String>,
    /// Only statements of this user (PostgreSQL).
    #[arg(long, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// Include statements on catalogs and statistics.
    #[arg(long)]
    pub(crate) system: bool,
    /// Name of the workload [default: the folder's name].
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Overwrite files that exist already.
    #[arg(long)]
    pub(crate) force: bool,
}

fn order(name: &str) -> Result<StatementOrder, String> {
    StatementOrder::from_name(name).ok_or_else(|| "write time, calls or reads".to_owned())
}
