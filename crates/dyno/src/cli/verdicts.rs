//! The options of commands that hold platforms against each other.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Scorecard {
    /// Platforms: `last`, suites with commas between them, variant:NAME, or one out of a document; NAME=… calls it so.
    #[arg(value_name = "PLATFORM", required = true, num_args = 2..)]
    pub(crate) platforms: Vec<String>,
    /// The figure of each test: most, optimum (the most within its limit of latency), alone (a single session's time).
    #[arg(long, value_name = "FIGURE", default_value = "most")]
    pub(crate) figure: String,
    /// Write it as a page, too; on paper it begins with two sheets for who has to decide.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// What platforms cost, as for `dyno price`: a platform is found by its name, variant or suite.
    #[arg(long, value_name = "PRICES", requires = "output")]
    pub(crate) prices: Option<PathBuf>,
    /// Who made it, as it stands on the first page of paper.
    #[arg(long, value_name = "NAME", requires = "output")]
    pub(crate) author: Option<String>,
    /// What it is called [default: its platforms].
    #[arg(long, value_name = "TEXT", requires = "output")]
    pub(crate) title: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Price {
    /// The file with what the platforms cost.
    #[arg(value_name = "PRICES", default_value = "prices.toml")]
    pub(crate) prices: PathBuf,
    /// Write an example of that file.
    #[arg(long, conflicts_with = "output")]
    pub(crate) init: bool,
    /// Overwrite a file that is there.
    #[arg(long, requires = "init")]
    pub(crate) force: bool,
    /// Write it as a page, too.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}
