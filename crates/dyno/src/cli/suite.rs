//! The options of `dyno suite`.

use clap::{Args, Subcommand};
use dyno_campaign::suite::Depth;

use super::fleet::DriverHostArgs;
use super::shared::MarkArgs;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct SuiteArgs {
    #[command(subcommand)]
    pub(crate) command: Option<SuiteCommand>,
    #[command(flatten)]
    pub(crate) which: SuiteTestArgs,
    /// Two short steps of each test with little data, at most ten minutes in total: it does not show
    /// saturation, and lists what it cannot measure.
    #[arg(long, conflicts_with = "full")]
    pub(crate) quick: bool,
    /// Long windows and millions of rows; the decisive steps have five runs.
    #[arg(long)]
    pub(crate) full: bool,
    /// Resume an interrupted suite: the latest, or the one with this name.
    #[arg(long, value_name = "SUITE", num_args = 0..=1)]
    pub(crate) resume: Option<Option<String>>,
    /// End after this number of runs; `--resume` continues. This interleaves two suites, so that drift
    /// affects both equally.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) runs: Option<u32>,
    /// Only show the tests that would run, and the number and duration of their runs.
    #[arg(long, conflicts_with = "runs")]
    pub(crate) dry_run: bool,
    /// First drop other data of Dyno that conflicts with the tests.
    #[arg(long)]
    pub(crate) replace: bool,
    /// Keep the data of the tests instead of dropping it.
    #[arg(long)]
    pub(crate) keep_data: bool,
    /// Observe only the database and not its host, as for a managed database: observe.host=driver.
    #[arg(long)]
    pub(crate) database_only: bool,
    /// As root, write back and drop this host's page cache before each run of a test that reads from storage:
    /// run.drop_page_cache=true.
    #[arg(long)]
    pub(crate) drop_caches: bool,
    #[command(flatten)]
    pub(crate) marks: MarkArgs,
    #[command(flatten)]
    pub(crate) hosts: DriverHostArgs,
}

/// Selection of the tests to run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct SuiteTestArgs {
    /// Only tests of this group; can be repeated.
    #[arg(long, value_name = "GROUP")]
    pub(crate) group: Vec<String>,
    /// Only the test with this name; can be repeated.
    #[arg(long, value_name = "ID")]
    pub(crate) test: Vec<String>,
    /// Tests from this folder or its subfolders, instead of the built-in ones.
    #[arg(long, value_name = "DIR")]
    pub(crate) from: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SuiteCommand {
    /// List the tests: subject, unit, limit, and whether the target's engine supports each.
    List(SuiteTestArgs),
}

impl SuiteArgs {
    /// Depth of the suite: quick, standard or full.
    pub(crate) fn depth(&self) -> Depth {
        match (self.quick, self.full) {
            (true, _) => Depth::Quick,
            (_, true) => Depth::Full,
            _ => Depth::Usual,
        }
    }
}
