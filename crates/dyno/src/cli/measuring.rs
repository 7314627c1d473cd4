//! Options of commands that measure: run, sweep, search, soak, ab.

use clap::Args;
use dyno_plan::TimeSpan;

use super::CommonArgs;
use super::fleet::DriverHostArgs;
use super::shared::{CompareRules, MarkArgs};

/// The length of each run's window.
#[derive(Debug, Clone, Args)]
pub(crate) struct WindowArgs {
    /// Length of each run's window: run.time.
    #[arg(long, value_name = "DURATION")]
    pub(crate) time: Option<TimeSpan>,
}

impl WindowArgs {
    /// The common options with this length of the window as a key of the plan.
    pub(crate) fn applied(&self, common: &CommonArgs) -> CommonArgs {
        let mut common = common.clone();
        common.set.extend(self.time.as_ref().map(|time| format!("run.time={time}")));
        common
    }
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    #[command(flatten)]
    pub(crate) marks: MarkArgs,
    #[command(flatten)]
    pub(crate) hosts: DriverHostArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SweepArgs {
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    /// Resume an interrupted sweep: the latest, or the one with this name.
    #[arg(long, value_name = "SWEEP", num_args = 0..=1)]
    pub(crate) resume: Option<Option<String>>,
    /// Only show the runs, their order and their duration.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// First drop existing data of another shape.
    #[arg(long)]
    pub(crate) replace: bool,
    #[command(flatten)]
    pub(crate) marks: MarkArgs,
    #[command(flatten)]
    pub(crate) hosts: DriverHostArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SearchOverArg {
    /// Number of sessions over all schemas.
    Sessions,
    /// Operations per second of an open loop.
    Rate,
}

impl From<SearchOverArg> for dyno_campaign::search::SearchDimension {
    fn from(over: SearchOverArg) -> Self {
        match over {
            SearchOverArg::Sessions => Self::Sessions,
            SearchOverArg::Rate => Self::Rate,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Latency limit, such as `p99 <= 2ms`; can be repeated; all must be met.
    #[arg(long, value_name = "LIMIT", required = true)]
    pub(crate) limit: Vec<dyno_analyze::Limit>,
    /// The load that the search raises.
    #[arg(long, value_enum, default_value_t = SearchOverArg::Sessions)]
    pub(crate) over: SearchOverArg,
    /// Initial load: sessions per schema, or operations per second [default: 1 or 100].
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub(crate) from: Option<u64>,
    /// The highest load to try [default: 1024 or 1000000].
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub(crate) max: Option<u64>,
    /// Number of runs at the lower and at the upper bound.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) confirm: u32,
    /// Distance of the bounds at which the search stops, % [default: 0 or 5].
    #[arg(long, value_parser = clap::value_parser!(u32).range(0..=100))]
    pub(crate) resolution: Option<u32>,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    /// Only show the runs and their duration.
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) marks: MarkArgs,
    #[command(flatten)]
    pub(crate) hosts: DriverHostArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SoakArgs {
    /// How long the setting is measured.
    #[arg(long, value_name = "DURATION", default_value = "8h")]
    pub(crate) time: TimeSpan,
    /// Only show the runs and their duration.
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) marks: MarkArgs,
    #[command(flatten)]
    pub(crate) hosts: DriverHostArgs,
}

#[derive(Debug, Args)]
pub(crate) struct AbArgs {
    /// Plan keys or plan of side A [default: the plan unchanged].
    #[arg(long, value_name = "SET", required_unless_present_any = ["setting", "only_restore"])]
    pub(crate) a: Option<String>,
    /// Plan keys or plan of side B [default: the plan unchanged].
    #[arg(long, value_name = "SET", required_unless_present_any = ["setting", "only_restore"])]
    pub(crate) b: Option<String>,
    /// Setting of the server with its value on side A and on side B; can be repeated. Dyno changes it,
    /// reads it back before each run, and restores it. An empty value is the present one.
    #[arg(long, value_name = "NAME=A,B")]
    pub(crate) setting: Vec<String>,
    /// Command that restarts the server and waits until it runs, for settings that need it.
    #[arg(long, value_name = "CMD")]
    pub(crate) restart_command: Option<String>,
    /// Only restore settings that an interrupted test left on the target.
    #[arg(long, conflicts_with_all = ["a", "b", "setting", "dry_run"])]
    pub(crate) only_restore: bool,
    /// The most runs of each side; the test stops earlier once it is decided or cannot be decided.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) pairs: u32,
    /// Make exactly the number of --pairs, and judge the sides once, at the end.
    #[arg(long)]
    pub(crate) fixed: bool,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    /// Only show the runs and their duration.
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) rules: CompareRules,
    #[command(flatten)]
    pub(crate) marks: MarkArgs,
    #[command(flatten)]
    pub(crate) hosts: DriverHostArgs,
}
