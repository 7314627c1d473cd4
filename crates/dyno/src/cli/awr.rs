//! The options of `dyno awr`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::shared::MarkArgs;

/// `dyno awr`: files to read, or a subcommand.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct AwrArgs {
    #[command(subcommand)]
    pub(crate) command: Option<AwrCommand>,
    #[command(flatten)]
    pub(crate) read: AwrReadArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AwrCommand {
    /// Compare two reports: figures, events, statements, segments, and changed parameters and plans.
    #[command(
        after_long_help = "Examples:\n  dyno awr diff monday.html tuesday.html\n  dyno awr diff before.txt after.html --json"
    )]
    Diff(Diff),
    /// Show reports in time order: gaps, restarts, levels, anomalies and what changed with them.
    #[command(
        after_long_help = "Reports are sorted by database, instance and time. The figures are divided into \
            levels. An anomaly deviates by more than 3.5 robust standard deviations (from the median \
            absolute deviation), both in its level and among the nearest 12 reports of it. At least 8 \
            reports are required.\n\n\
            Examples:\n  \
            dyno awr timeline reports/\n  \
            dyno awr timeline reports/ -o day.html\n  \
            dyno awr timeline reports/ --json"
    )]
    Timeline(TimelineArgs),
}

/// Two reports to be compared with each other.
#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// Show segment names in JSON; the terminal always shows them.
    #[arg(long)]
    pub(crate) object_names: bool,
    /// Also show differences that are not a change of one database: different databases or kinds of report,
    /// or a restart in between.
    #[arg(long)]
    pub(crate) anyway: bool,
    /// The first of the two reports.
    pub(crate) a: PathBuf,
    /// The second of the two reports.
    pub(crate) b: PathBuf,
}

/// Reports that cover a period.
#[derive(Debug, Args)]
pub(crate) struct TimelineArgs {
    /// Also write charts and flags to this file: a page (.html) or a picture (.svg).
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Show segment names on the page and in JSON; the terminal always shows them.
    #[arg(long)]
    pub(crate) object_names: bool,
    /// Report files, or directories that contain them.
    #[arg(required = true, value_name = "FILE|DIR")]
    pub(crate) files: Vec<PathBuf>,
}

/// What to read and how to show it.
#[derive(Debug, Args)]
pub(crate) struct AwrReadArgs {
    /// Report files, or directories that contain them.
    #[arg(required = true, value_name = "FILE|DIR")]
    pub(crate) files: Vec<PathBuf>,
    /// Columns to show, by name; `--columns list` shows the names.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) columns: Vec<String>,
    /// All columns that most reports have.
    #[arg(long, conflicts_with = "columns")]
    pub(crate) wide: bool,
    /// Format in which the lines are written.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
    /// Columns of another AWR parser, for spreadsheets made for it: awr-parser (CSV) or awr_info (bars).
    #[arg(long, value_enum, conflicts_with_all = ["columns", "wide", "format"])]
    pub(crate) compat: Option<Compat>,
    /// Store each report as a run record, for `list`, `compare`, `trend` and other commands.
    #[arg(long)]
    pub(crate) import: bool,
    /// With --import: the reports are steps of a rising load. The number of sessions is the number at the end
    /// of a file's name (awr.txt.32, ramp_32.html), else the sessions connected at the start of the interval.
    #[arg(long, requires = "import")]
    pub(crate) ramp: bool,
    #[command(flatten)]
    pub(crate) marks: MarkArgs,
    #[command(flatten)]
    pub(crate) show: AwrDisclosureArgs,
}

/// Another AWR parser whose layout is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Compat {
    /// The columns of flashdba's awr-parser.
    AwrParser,
    /// The columns of SLOB's awr_info.
    AwrInfo,
}

/// Which names and texts of the application are shown.
#[derive(Debug, Args)]
pub(crate) struct AwrDisclosureArgs {
    /// Include texts and modules of statements in JSON.
    #[arg(long)]
    pub(crate) sql_text: bool,
    /// Show owners, tables, tablespaces and files by name in JSON.
    #[arg(long)]
    pub(crate) object_names: bool,
}

/// The format in which lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A table for the terminal.
    Table,
    /// Lines of comma-separated values for spreadsheets.
    Csv,
    /// JSON for programs: everything that was read, with its position in the report.
    Json,
    /// A Markdown table for documents.
    Md,
}
