//! The options of `dyno workload`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use dyno_engine::seen::Order;

#[derive(Debug, Subcommand)]
pub(crate) enum Workload {
    /// Read a workload and show what it does: transactions, statements, draws, and some values; with --target, whether every
    /// statement can be prepared there.
    #[command(
        after_long_help = "Nothing is executed on the target, and nothing of the folder but its SQL ever is. Its tables have to be there: \
            the SQL of [setup] makes them.\n\n\
            Examples:\n  dyno workload check shop\n  dyno workload check shop --draws 20\n  \
            dyno workload check shop --target postgres://dyno@db1/bench --explain\n  \
            dyno workload check shop --target postgres://dyno@db1/bench --json\n\n\
            Exit codes: 0 all is well, 2 the folder is wrong, 3 the target refuses a statement or cannot be reached."
    )]
    Check(CheckWorkload),
}

#[derive(Debug, Args)]
pub(crate) struct CheckWorkload {
    /// The folder of the workload.
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// How many transactions are drawn and shown.
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub(crate) draws: usize,
    /// The seed that they are drawn with.
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Show how the target would do each statement, with values that are drawn; it does none.
    #[arg(long)]
    pub(crate) explain: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ImportPgbench {
    /// Scripts, each with how often it comes against the others behind an @.
    #[arg(value_name = "FILE[@WEIGHT]", required_unless_present = "builtin")]
    pub(crate) files: Vec<String>,
    /// A script that is built in: tpcb-like, simple-update or select-only, or how its name begins.
    #[arg(long, short, value_name = "NAME[@WEIGHT]")]
    pub(crate) builtin: Vec<String>,
    /// The folder to write.
    #[arg(long, value_name = "DIR")]
    pub(crate) into: PathBuf,
    /// Branches: the scripts' :scale, and the size of pgbench's tables.
    #[arg(long, short, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=20_000))]
    pub(crate) scale: u32,
    /// Take pgbench's tables as they are: none are loaded or dropped.
    #[arg(long)]
    pub(crate) no_tables: bool,
    /// A variable of the scripts with its value.
    #[arg(long, short = 'D', value_name = "NAME=VALUE")]
    pub(crate) define: Vec<String>,
    /// The workload's name [default: the folder's].
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Overwrite files that are there.
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ImportStatements {
    /// An AWR or STATSPACK report of Oracle's, whose top SQL is taken instead of a target's.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["schema", "user"])]
    pub(crate) awr: Option<PathBuf>,
    /// Show and write the texts of statements, which may hold secrets; without it only ids and figures are shown.
    #[arg(long)]
    pub(crate) sql_text: bool,
    /// The folder to write.
    #[arg(long, visible_alias = "out", value_name = "DIR", requires = "sql_text")]
    pub(crate) into: Option<PathBuf>,
    /// Statements at most.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u8).range(1..=100))]
    pub(crate) top: u8,
    /// What they are ordered by.
    #[arg(long, value_name = "time|calls|reads", default_value = "time", value_parser = order)]
    pub(crate) order: Order,
    /// Executions of each at least.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) min_calls: u64,
    /// Statements of this database (MySQL, MariaDB), or of those parsed in this schema (Oracle), instead of the target's own.
    #[arg(long, value_name = "NAME")]
    pub(crate) schema: Option<String>,
    /// Statements of this user alone (PostgreSQL).
    #[arg(long, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// Take statements on catalogs and statistics, too.
    #[arg(long)]
    pub(crate) system: bool,
    /// The workload's name [default: the folder's].
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Overwrite files that are there.
    #[arg(long)]
    pub(crate) force: bool,
}

fn order(name: &str) -> Result<Order, String> {
    Order::from_name(name).ok_or_else(|| "write time, calls or reads".to_owned())
}
