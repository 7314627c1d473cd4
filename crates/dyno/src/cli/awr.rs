//! The options of `dyno awr`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::shared::Marks;

/// `dyno awr`: files to read, or one of its own commands.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Awr {
    #[command(subcommand)]
    pub(crate) command: Option<AwrCommand>,
    #[command(flatten)]
    pub(crate) read: Read,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AwrCommand {
    /// Two reports side by side: figures, events, statements, segments, and parameters and plans that changed.
    #[command(
        after_long_help = "Examples:\n  dyno awr diff monday.html tuesday.html\n  dyno awr diff before.txt after.html --json"
    )]
    Diff(Diff),
    /// Reports in the order of time: gaps, restarts, levels of load, what stands out and what moved with it.
    #[command(
        after_long_help = "Reports are put in order by database, instance and time. Figures keep levels; what stands out does so by more than \
            3.5 robust standard deviations (from the median absolute deviation) both in its level and among the nearest 12 reports of it. It takes \
            at least 8 reports.\n\n\
            Examples:\n  dyno awr timeline reports/\n  dyno awr timeline reports/ -o day.html\n  dyno awr timeline reports/ --json"
    )]
    Timeline(TimelineArgs),
}

/// Two reports.
#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// In JSON, segments by name; in the terminal they always are.
    #[arg(long)]
    pub(crate) object_names: bool,
    /// Show differences of what is no change of one database, too: other databases or kinds of report, a restart between.
    #[arg(long)]
    pub(crate) anyway: bool,
    /// The first report.
    pub(crate) a: PathBuf,
    /// The second.
    pub(crate) b: PathBuf,
}

/// Reports of a stretch of time.
#[derive(Debug, Args)]
pub(crate) struct TimelineArgs {
    /// Also write charts and flags to this file: a page (.html) or a picture (.svg).
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// In the page and in JSON, segments by name; in the terminal they always are.
    #[arg(long)]
    pub(crate) object_names: bool,
    /// Reports, or directories of them.
    #[arg(required = true, value_name = "FILE|DIR")]
    pub(crate) files: Vec<PathBuf>,
}

/// What to read and how to show it.
#[derive(Debug, Args)]
pub(crate) struct Read {
    /// Reports, or directories of them.
    #[arg(required = true, value_name = "FILE|DIR")]
    pub(crate) files: Vec<PathBuf>,
    /// Which columns, by name; `--columns list` shows the names.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) columns: Vec<String>,
    /// All columns that most reports have.
    #[arg(long, conflicts_with = "columns")]
    pub(crate) wide: bool,
    /// How to write them.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
    /// The columns of an older reader, for spreadsheets made for it: awr-parser (CSV) or awr_info (bars).
    #[arg(long, value_enum, conflicts_with_all = ["columns", "wide", "format"])]
    pub(crate) compat: Option<Compat>,
    /// Store each report as a run record, for `list`, `compare`, `trend` and the rest.
    #[arg(long)]
    pub(crate) import: bool,
    /// With --import: the reports are steps of a load that rises. Sessions are the number that a file's name ends with
    /// (awr.txt.32, ramp_32.html), else those connected when the interval began.
    #[arg(long, requires = "import")]
    pub(crate) ramp: bool,
    #[command(flatten)]
    pub(crate) marks: Marks,
    #[command(flatten)]
    pub(crate) show: Shown,
}

/// An older reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Compat {
    /// flashdba's awr-parser.
    AwrParser,
    /// SLOB's awr_info.
    AwrInfo,
}

/// What of the application's names and texts is shown.
#[derive(Debug, Args)]
pub(crate) struct Shown {
    /// In JSON, texts and modules of statements too.
    #[arg(long)]
    pub(crate) sql_text: bool,
    /// In JSON, owners, tables, tablespaces and files by name.
    #[arg(long)]
    pub(crate) object_names: bool,
}

/// How lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Table,
    /// For spreadsheets.
    Csv,
    /// For programs: everything that was read, with where it stood.
    Json,
    /// For documents: Markdown.
    Md,
}
