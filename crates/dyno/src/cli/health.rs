//! The options of `dyno health`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Health {
    /// The suite: its name, a prefix of it, or `last`.
    #[arg(value_name = "SUITE", default_value = "last")]
    pub(crate) suite: String,
    /// File that states the expectations.
    #[arg(long, value_name = "FILE", default_value = "expect.toml")]
    pub(crate) expect: PathBuf,
    /// Write the expectations file from this suite; choose one with good results.
    #[arg(long)]
    pub(crate) init: bool,
    /// Tolerance that --init adds to the spread of repeats, %.
    #[arg(long, value_name = "PERCENT", default_value_t = 10, requires = "init", value_parser = clap::value_parser!(u32).range(0..=90))]
    pub(crate) room: u32,
    /// Also write the result as a page.
    #[arg(long, short, value_name = "FILE", conflicts_with = "init")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite a file that exists already.
    #[arg(long, requires = "init")]
    pub(crate) force: bool,
}
