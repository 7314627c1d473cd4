//! What commands that measure take: run, sweep, search, soak, ab.

use clap::Args;
use dyno_plan::Span;

use super::fleet::Hosts;
use super::shared::{CompareRules, Marks};

#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) marks: Marks,
    #[command(flatten)]
    pub(crate) hosts: Hosts,
}

#[derive(Debug, Args)]
pub(crate) struct Sweep {
    /// Go on with a sweep that was cut off: the latest, or the one of this name.
    #[arg(long, value_name = "SWEEP", num_args = 0..=1)]
    pub(crate) resume: Option<Option<String>>,
    /// Only say which runs it would do, in which order, and how long they take.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Drop data of another shape that is there first.
    #[arg(long)]
    pub(crate) replace: bool,
    #[command(flatten)]
    pub(crate) marks: Marks,
    #[command(flatten)]
    pub(crate) hosts: Hosts,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Over {
    /// Sessions over all schemas.
    Sessions,
    /// Operations per second of an open loop.
    Rate,
}

impl From<Over> for dyno_campaign::search::Over {
    fn from(over: Over) -> Self {
        match over {
            Over::Sessions => Self::Sessions,
            Over::Rate => Self::Rate,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Search {
    /// What must be kept, such as `p99 <= 2ms`; all of them, if given several times.
    #[arg(long, value_name = "LIMIT", required = true)]
    pub(crate) limit: Vec<dyno_analyze::Limit>,
    /// What rises.
    #[arg(long, value_enum, default_value_t = Over::Sessions)]
    pub(crate) over: Over,
    /// The load to begin with: sessions per schema, or operations per second [default: 1 or 100].
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub(crate) from: Option<u64>,
    /// The highest load to try [default: 1024 or 1000000].
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub(crate) max: Option<u64>,
    /// Runs of each end before it is believed.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) confirm: u32,
    /// Ends that are this close together are close enough, % [default: 0 or 5].
    #[arg(long, value_parser = clap::value_parser!(u32).range(0..=100))]
    pub(crate) resolution: Option<u32>,
    #[command(flatten)]
    pub(crate) marks: Marks,
    #[command(flatten)]
    pub(crate) hosts: Hosts,
}

#[derive(Debug, Args)]
pub(crate) struct Soak {
    /// How long.
    #[arg(long, value_name = "DURATION", default_value = "8h")]
    pub(crate) time: Span,
    #[command(flatten)]
    pub(crate) marks: Marks,
    #[command(flatten)]
    pub(crate) hosts: Hosts,
}

#[derive(Debug, Args)]
pub(crate) struct Ab {
    /// Side A.
    #[arg(long, value_name = "SET")]
    pub(crate) a: String,
    /// Side B.
    #[arg(long, value_name = "SET")]
    pub(crate) b: String,
    /// How many runs of each side.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) pairs: u32,
    #[command(flatten)]
    pub(crate) rules: CompareRules,
    #[command(flatten)]
    pub(crate) marks: Marks,
    #[command(flatten)]
    pub(crate) hosts: Hosts,
}
