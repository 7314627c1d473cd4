//! The options of `dyno study`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::shared::Marks;

#[derive(Debug, Args)]
pub(crate) struct Study {
    #[command(subcommand)]
    pub(crate) command: StudyCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StudyCommand {
    /// The ready studies, with the shell pieces that they use.
    List(ListStudies),
    /// Every command of a study in the order in which it would run; none is run.
    Plan(WhichStudy),
    /// Go through the variants: apply, verify, bring the data to its state, measure, revert.
    #[command(
        after_long_help = "The study's commands are shown and asked for before the first of them runs; --allow-hooks agrees. A device that holds anything is \
            formatted only with --erase, and one that is in use never.\n\nExamples:\n  dyno study run file-systems\n  dyno study run file-systems --param device=/dev/sdb --erase /dev/sdb\n  \
            dyno study run ours.toml --allow-hooks -o ours.html"
    )]
    Run(RunStudy),
    /// Put back what a study that was cut off has changed, then go on with it.
    Resume(ResumeStudy),
    /// The table, plot, ranking and order of a study; as a page, Markdown or CSV with -o.
    #[command(
        after_long_help = "Examples:\n  dyno study report\n  dyno study report study-20261123-183926-3eb9 -o study.html -o study.md -o study.csv"
    )]
    Report(ReportStudy),
}

#[derive(Debug, Args)]
pub(crate) struct ListStudies {
    /// Show the file of this study, or of this shell piece.
    #[arg(long, value_name = "NAME")]
    pub(crate) show: Option<String>,
}

/// Which study, and with which values.
#[derive(Debug, Clone, Args)]
pub(crate) struct WhichStudy {
    /// A file (.toml), or the name of a ready study.
    #[arg(value_name = "STUDY")]
    pub(crate) study: String,
    /// A parameter of the study; several, if given several times.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) param: Vec<String>,
    /// The folder in which the study gets one of its own [default: /var/lib/dyno/studies of root, else in the user's state directory].
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// This device may be formatted whatever it holds, unless it is in use.
    #[arg(long, value_name = "DEVICE")]
    pub(crate) erase: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RunStudy {
    #[command(flatten)]
    pub(crate) which: WhichStudy,
    /// Drop data of Dyno's that is on the target before.
    #[arg(long)]
    pub(crate) replace: bool,
    /// Write the report here once it is done; the end of the name says how: .html, .md, .csv.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) marks: Marks,
}

#[derive(Debug, Args)]
pub(crate) struct ResumeStudy {
    /// The study [default: the latest that was cut off].
    #[arg(value_name = "STUDY")]
    pub(crate) study: Option<String>,
    /// Only put everything back, also where the machine was to be started anew.
    #[arg(long)]
    pub(crate) only_restore: bool,
    /// Write the report here once it is done.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ReportStudy {
    /// The study [default: the latest].
    #[arg(value_name = "STUDY")]
    pub(crate) study: Option<String>,
    /// A file to write; the end of its name says how: .html, .md, .csv.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Vec<PathBuf>,
}
