//! The options of `dyno suite`.

use clap::{Args, Subcommand};
use dyno_campaign::suite::Depth;

use super::fleet::Hosts;
use super::shared::Marks;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Suite {
    #[command(subcommand)]
    pub(crate) command: Option<SuiteCommand>,
    #[command(flatten)]
    pub(crate) which: Which,
    /// Two short steps of each test with little data, at most ten minutes for all of them: says nothing of saturation, and names what it
    /// cannot measure.
    #[arg(long, conflicts_with = "full")]
    pub(crate) quick: bool,
    /// Long windows and millions of rows; the steps that count have five runs.
    #[arg(long)]
    pub(crate) full: bool,
    /// Go on with a suite that was cut off: the latest, or the one of this name.
    #[arg(long, value_name = "SUITE", num_args = 0..=1)]
    pub(crate) resume: Option<Option<String>>,
    /// End after so many runs; `--resume` goes on. So two suites go on by turns, and what drifts meets both alike.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) runs: Option<u32>,
    /// Drop other data of Dyno's that is in the way first.
    #[arg(long)]
    pub(crate) replace: bool,
    /// Leave the data of the tests where it is.
    #[arg(long)]
    pub(crate) keep_data: bool,
    /// Look at the database alone, and at nothing of its host, as of a managed one: observe.host=driver.
    #[arg(long)]
    pub(crate) database_only: bool,
    /// Write back and drop this host's page cache before each run of a test that reads from storage, as root:
    /// run.drop_page_cache=true.
    #[arg(long)]
    pub(crate) drop_caches: bool,
    #[command(flatten)]
    pub(crate) marks: Marks,
    #[command(flatten)]
    pub(crate) hosts: Hosts,
}

/// Which tests.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct Which {
    /// Tests of this group; several, if given several times.
    #[arg(long, value_name = "GROUP")]
    pub(crate) group: Vec<String>,
    /// The test of this name; several, if given several times.
    #[arg(long, value_name = "ID")]
    pub(crate) test: Vec<String>,
    /// Tests of this folder, or of the folders in it, instead of those inside the program.
    #[arg(long, value_name = "DIR")]
    pub(crate) from: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SuiteCommand {
    /// The tests: what each is about, its unit and its limit, and whether the target's engine has the notion.
    List(Which),
}

impl Suite {
    /// How deeply it goes.
    pub(crate) fn depth(&self) -> Depth {
        match (self.quick, self.full) {
            (true, _) => Depth::Quick,
            (_, true) => Depth::Full,
            _ => Depth::Usual,
        }
    }
}
