//! The options of `dyno import`, and its names of earlier versions.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use dyno_engine::executed_statements::StatementOrder;
use dyno_import::{DateOrder, DecimalMark, Separator};

use super::CliCommand;
use super::notation::{DATE_ORDERS, DECIMAL_MARKS, DialectArgs, SEPARATORS, one_of};
use super::shared::MarkArgs;

/// `dyno import`: a command; or a file, as in earlier versions.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    mut_args(|arg| arg.hide(true).required(false))
)]
pub(crate) struct ImportArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ImportCommand>,
    #[command(flatten)]
    pub(crate) results: Option<ImportResults>,
    /// The name of an earlier version by which the command was called.
    #[arg(skip)]
    pub(crate) old_name: Option<&'static str>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ImportCommand {
    /// Import results of other tools, or the records in a report.
    #[command(
        after_long_help = "The file is a table with one record per line, a log of a known tool, or a report \
            of Dyno. Each --map states the meaning of a column: COLUMN=FIELD, followed by :UNIT if it is not \
            the field's own, and by @TARGET for one of several databases. FIELD is sessions, ops (a total), \
            ops_per_s, rows_per_s, seconds, service_mean_us, service_p99_us, variant, tag, started_at, a key \
            of the plan (workload.update_pct), a metric (logical_reads_per_s), any other name with a unit \
            (tpcc_per_s:1/s), or label. Units: us ms s, 1/s blocks/s rows/s bytes/s KB/s MB/s MiB/s GB/s, %, \
            count blocks rows bytes sessions. Columns that are not mapped are skipped; an empty cell stays \
            absent. Without --map, the output of sysbench, pgbench, `pgbench -l`, HammerDB (TPROC-C), go-tpc \
            (TPC-C) and BenchBase (summary.json) is recognized. Semicolons, tabs, decimal commas, grouped \
            digits and dates are recognized if the whole table shows what they mean; ambiguous cells are \
            refused with the option that decides. --set adds what the file does not contain: --set \
            workload.work_unit=256 --set run.time=180s.\n\n\
            Examples:\n  \
            dyno import results slob.csv --map sessions=sessions --map ops=ops --map lio_per_s=logical_reads_per_s --map variant=variant \\\n    \
            --set run.time=180s --set workload.work_unit=256 --tag slob --dry-run\n  \
            dyno import results pdbs.csv --map sessions=sessions --map ops=ops_per_s --map ops_pdb1=ops_per_s@pdb1 --map ops_pdb2=ops_per_s@pdb2\n  \
            dyno import results sysbench.log --tag sysbench --product MySQL\n  \
            dyno import results report.html"
    )]
    Results(ImportResults),
    /// Convert slob.conf (SLOB) or pgio.conf to a plan.
    #[command(
        after_long_help = "Reads the files of SLOB 2.0 to 2.5 and of pgio. The plan goes to stdout, or to \
            the file after -o. A comment for each parameter states that its meaning is the same, what \
            differs by design, or why a plan has no counterpart. Passwords are never copied.\n\
            runit.sh takes schemas and sessions as arguments: give them as --schemas and --sessions.\n\n\
            Examples:\n  \
            dyno import slob slob.conf --schemas 4 -o dyno.toml\n  \
            dyno import slob slob.conf -s 4 -t 32 --target oracle://dyno@db1:1521/ORCLPDB1 -o dyno.toml\n  \
            dyno import slob pgio.conf --target postgres://pgio@db1/pgio > pgio.toml\n  \
            dyno import slob slob.conf --json"
    )]
    Slob(ImportSlob),
    /// Convert pgbench scripts to a custom workload.
    #[command(after_long_help = "Every command of a script is converted, or the script is refused with the \
        position. Differences are printed and noted in the folder; for example, statements of a pipeline are \
        sent one after the other. For scripts on pgbench's own tables, the workload describes these tables, \
        so that they are loaded in bulk. The folder is an ordinary workload that you can edit.\n\n\
        Examples:\n  \
        dyno import pgbench --builtin tpcb-like --scale 10 --into tpcb\n  \
        dyno import pgbench pay.sql@9 look.sql -D customers=1000 --into bank\n  \
        dyno import pgbench -b simple-update@3 -b select-only@7 --into mixed\n  \
        dyno load --set workload.folder=tpcb; dyno run --set workload.folder=tpcb")]
    Pgbench(ImportPgbench),
    /// Draft a custom workload from the top statements of a database.
    #[command(after_long_help = "The statements come from pg_stat_statements (PostgreSQL), the digests of \
        performance_schema (MySQL, MariaDB), V$SQLSTATS (Oracle; no management pack), or the top SQL of an \
        AWR report. Each becomes a transaction with its share of the executions. The statements contain no \
        values: the draft draws them by the database's statistics and up to 1,000 rows of each column. It has \
        a `todo` where these tell nothing, and `dyno workload check` lists them. Statements that a workload \
        cannot contain are counted, with the reason.\n\
        Texts may contain secrets: they are shown and written only with --sql-text, with values of columns \
        that have few. No statement is executed.\n\n\
        Examples:\n  \
        dyno import statements --target postgres://dyno@db1/shop\n  \
        dyno import statements --target postgres://dyno@db1/shop --sql-text --into shop --writes\n  \
        dyno import statements --target mysql://dyno@db1/shop --sql-text --into shop --top 10 --order calls\n  \
        dyno import statements --awr awrrpt_1_100_101.html --sql-text --into shop\n  \
        dyno workload check shop")]
    Statements(ImportStatements),
    /// Import a cloud provider's database metrics (CSV) for the time of a run.
    #[command(
        after_long_help = "For databases whose host cannot be observed, such as RDS and Aurora. The metrics \
            are shown with the run and not used in its figures. The file has one row for each value, or one \
            column for each metric:\n\n  \
            time,metric,statistic,value,unit,instance,period\n  \
            2026-11-25T08:00:00Z,CPUUtilization,Average,41.7,Percent,db1,60\n\n  \
            Timestamp,CPUUtilization,ReadIOPS\n  \
            2026/11/25 08:00:00,41.7,1250\n\n\
            Only the columns time and value (or Average, Maximum, Minimum, Sum, SampleCount, p99 …) are \
            required. Header lines with Label, Statistic, Unit and Period, as consoles export them, are \
            recognized; an empty value is skipped. A time is the beginning of its period; a time without a \
            time zone needs --time-zone. Figures cover only periods wholly in the run's window; other rows \
            are counted and skipped. Importing a metric again replaces it.\n\n\
            With the AWS command line:\n  \
            aws cloudwatch get-metric-statistics --namespace AWS/RDS --metric-name ReadIOPS --dimensions Name=DBInstanceIdentifier,Value=db1 \\\n    \
            --statistics Average Maximum --period 60 --start-time 2026-11-25T08:00:00Z --end-time 2026-11-25T09:00:00Z |\n    \
            jq -r '.Label as $m | [\"time\",\"metric\",\"Average\",\"Maximum\",\"unit\"], (.Datapoints[] | [.Timestamp,$m,.Average,.Maximum,.Unit]) | @csv' > reads.csv\n\n\
            Examples:\n  \
            dyno import metrics last reads.csv cpu.csv\n  \
            dyno import metrics sweep:last rds.csv --time-zone Europe/Berlin --period 60s\n  \
            dyno import metrics last --remove"
    )]
    Metrics(ImportMetrics),
}

/// Names of earlier versions.
#[derive(Debug, Subcommand)]
pub(crate) enum OldImportCommand {
    /// Old name of `dyno import slob`, whose help has examples.
    #[command(name = "import-slob", hide = true)]
    Slob(ImportSlob),
    /// Old name of `dyno import pgbench`, whose help has examples.
    #[command(name = "import-pgbench", hide = true)]
    Pgbench(ImportPgbench),
    /// Old name of `dyno import statements`, whose help has examples.
    #[command(name = "import-statements", hide = true)]
    Statements(ImportStatements),
    /// Old name of `dyno import metrics`, whose help has examples.
    #[command(name = "import-metrics", hide = true)]
    Metrics(ImportMetrics),
}

impl CliCommand {
    /// The command under its present name.
    pub(super) fn renamed(self) -> Self {
        let (old_name, command) = match self {
            Self::OldImport(OldImportCommand::Slob(args)) => ("import-slob", ImportCommand::Slob(args)),
            Self::OldImport(OldImportCommand::Pgbench(args)) => {
                ("import-pgbench", ImportCommand::Pgbench(args))
            }
            Self::OldImport(OldImportCommand::Statements(args)) => {
                ("import-statements", ImportCommand::Statements(args))
            }
            Self::OldImport(OldImportCommand::Metrics(args)) => {
                ("import-metrics", ImportCommand::Metrics(args))
            }
            Self::Import(ImportArgs { results: Some(args), .. }) => {
                ("import FILE", ImportCommand::Results(args))
            }
            other => return other,
        };
        Self::Import(ImportArgs { command: Some(command), results: None, old_name: Some(old_name) })
    }
}

// Names the argument that clap looks for, as it does not look into groups below.
#[derive(Debug, Args)]
#[group(args = ["file"])]
pub(crate) struct ImportResults {
    /// File to import: a table whose first line names the columns (`#` begins a comment line), or a log of a
    /// known tool.
    pub(crate) file: PathBuf,
    /// Meaning of a column, `COLUMN=FIELD[:UNIT][@TARGET]`; can be repeated.
    #[arg(long, value_name = "COLUMN=FIELD")]
    pub(crate) map: Vec<String>,
    #[command(flatten)]
    pub(crate) marks: MarkArgs,
    #[command(flatten)]
    pub(crate) dialect: DialectArgs,
    /// Product to which the figures belong: `Oracle`.
    #[arg(long, value_name = "NAME")]
    pub(crate) product: Option<String>,
    /// Only show what would be stored.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ImportMetrics {
    /// The run, or several runs, with which the metrics are shown: `last`, an id, a sweep, `tag:NAME`.
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// Files with one row per value or one column per metric.
    #[arg(value_name = "FILE", required_unless_present = "remove")]
    pub(crate) files: Vec<PathBuf>,
    /// Separator between two cells of a row.
    #[arg(long, value_name = "NAME", default_value = "comma", value_parser = one_of(&SEPARATORS))]
    pub(crate) separator: Separator,
    /// Decimal mark of numbers [default: a point, without thousands separators].
    #[arg(long, value_name = "NAME", value_parser = one_of(&DECIMAL_MARKS))]
    pub(crate) decimal_mark: Option<DecimalMark>,
    /// Order of day and month in dates such as 3/4/2026.
    #[arg(long, value_name = "ORDER", value_parser = one_of(&DATE_ORDERS))]
    pub(crate) date_order: Option<DateOrder>,
    /// Time zone of times without one: UTC, +02:00, Europe/Berlin.
    #[arg(long, value_name = "ZONE")]
    pub(crate) time_zone: Option<String>,
    /// Length of the period that begins at each value's time [default: from the file, else the shortest time
    /// between two values].
    #[arg(long, value_name = "TIME")]
    pub(crate) period: Option<String>,
    /// Name of the metric, if the file does not state it.
    #[arg(long, value_name = "NAME")]
    pub(crate) metric: Option<String>,
    /// Remove the metrics imported for the run.
    #[arg(long, conflicts_with_all = ["files", "dry_run"])]
    pub(crate) remove: bool,
    /// Only show what would be stored.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ImportSlob {
    /// The slob.conf or pgio.conf to convert.
    pub(crate) file: PathBuf,
    /// The plan file to write [default: stdout].
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite a plan that exists already.
    #[arg(long)]
    pub(crate) force: bool,
    /// Number of schemas: the argument of runit.sh, or its -s [default: 1; for pgio, from the file].
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) schemas: Option<u32>,
    /// Sessions on each schema: -t of runit.sh [default: from the file].
    #[arg(long, short = 't', visible_alias = "threads", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) sessions: Option<u32>,
    /// Skip unknown parameters and lines that cannot be parsed, and list them, instead of refusing the file.
    #[arg(long)]
    pub(crate) lenient: bool,
    /// Tool that the file belongs to [default: detected from its parameters].
    #[arg(long, value_name = "slob|pgio")]
    pub(crate) kit: Option<dyno_import::kits::Kit>,
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
    /// Let the workload write: sets `writes = true`.
    #[arg(long, requires = "into")]
    pub(crate) writes: bool,
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
