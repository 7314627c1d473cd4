//! The options of `dyno study`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::shared::MarkArgs;

#[derive(Debug, Args)]
pub(crate) struct StudyArgs {
    #[command(subcommand)]
    pub(crate) command: StudyCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StudyCommand {
    /// List the ready studies and the helper scripts that they use.
    List(ListStudies),
    /// Show every command of a study in execution order, without running it.
    Plan(WhichStudy),
    /// Run the variants: apply, verify, restore the data's initial state, measure, revert.
    #[command(
        after_long_help = "Dyno shows the study's commands and asks for consent before it runs the first; \
            --allow-hooks gives consent. A device that contains anything is formatted only with --erase; a \
            device in use is never formatted.\n\n\
            Examples:\n  \
            dyno study run file-systems\n  \
            dyno study run file-systems --param device=/dev/sdb --erase /dev/sdb\n  \
            dyno study run ours.toml --allow-hooks -o ours.html"
    )]
    Run(RunStudy),
    /// Restore what an interrupted study has changed, then continue it.
    Resume(ResumeStudy),
    /// Show the table, plot, ranking and order of a study; write a page, Markdown or CSV with -o.
    #[command(
        after_long_help = "Examples:\n  dyno study report\n  dyno study report study-20261123-183926-3eb9 -o study.html -o study.md -o study.csv"
    )]
    Report(ReportStudy),
}

#[derive(Debug, Args)]
pub(crate) struct ListStudies {
    /// Show the file of this study or helper script.
    #[arg(long, value_name = "NAME")]
    pub(crate) show: Option<String>,
}

/// Which study, and its parameters.
#[derive(Debug, Clone, Args)]
pub(crate) struct WhichStudy {
    /// Study file (.toml), or the name of a ready study.
    #[arg(value_name = "STUDY")]
    pub(crate) study: String,
    /// Parameter of the study; can be repeated.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) param: Vec<String>,
    /// Folder in which the study creates its own [default: /var/lib/dyno/studies for root, else in the user's
    /// state directory].
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Device that may be formatted whatever it contains, unless it is in use.
    #[arg(long, value_name = "DEVICE")]
    pub(crate) erase: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RunStudy {
    #[command(flatten)]
    pub(crate) which: WhichStudy,
    /// First drop Dyno's data on the target.
    #[arg(long)]
    pub(crate) replace: bool,
    /// Write the report here when the study is done; the extension selects the format: .html, .md, .csv.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) marks: MarkArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ResumeStudy {
    /// The study [default: the latest interrupted one].
    #[arg(value_name = "STUDY")]
    pub(crate) study: Option<String>,
    /// Only restore everything, even if the study waits for a reboot.
    #[arg(long)]
    pub(crate) only_restore: bool,
    /// Write the report here when the study is done.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ReportStudy {
    /// The study to report [default: the latest].
    #[arg(value_name = "STUDY")]
    pub(crate) study: Option<String>,
    /// File to write; the extension selects the format: .html, .md, .csv.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Vec<PathBuf>,
}
