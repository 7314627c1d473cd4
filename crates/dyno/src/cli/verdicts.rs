//! Options of commands that compare platforms.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct ScorecardArgs {
    /// Platforms: `last`, suites separated by commas, variant:NAME, or one from a document; NAME=… renames
    /// it.
    #[arg(value_name = "PLATFORM", required = true, num_args = 2..)]
    pub(crate) platforms: Vec<String>,
    /// Figure of each test: most, optimum (the most within its latency limit), alone (a single session's
    /// time).
    #[arg(long, value_name = "FIGURE", default_value = "most")]
    pub(crate) figure: String,
    /// Also write the result as a page; in print it begins with a two-page summary for decision makers.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// File with platform prices as for `dyno price`: a platform is found by its name, variant or suite.
    #[arg(long, value_name = "PRICES", requires = "output")]
    pub(crate) prices: Option<PathBuf>,
    /// Author named on the first printed page.
    #[arg(long, value_name = "NAME", requires = "output")]
    pub(crate) author: Option<String>,
    /// Title of the page [default: its platforms].
    #[arg(long, value_name = "TEXT", requires = "output")]
    pub(crate) title: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct PriceArgs {
    /// File with the prices of the platforms.
    #[arg(value_name = "PRICES", default_value = "prices.toml")]
    pub(crate) prices: PathBuf,
    /// Write an example of that file.
    #[arg(long, conflicts_with = "output")]
    pub(crate) init: bool,
    /// Overwrite a file that exists already.
    #[arg(long, requires = "init")]
    pub(crate) force: bool,
    /// Also write the result as a page.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}
