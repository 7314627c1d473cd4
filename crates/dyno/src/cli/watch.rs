//! The options of `dyno watch`.

use clap::Args;
use dyno_plan::TimeSpan;

use super::fleet::AgentAccessArgs;
use super::shared::MarkArgs;

#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// Database to observe [default: --target, or the plan's].
    #[arg(value_name = "TARGET")]
    pub(crate) url: Option<String>,
    /// Length of the watch; Ctrl-C ends it earlier and keeps the data.
    #[arg(long, alias = "for", value_name = "TIME", default_value = "10m")]
    pub(crate) time: TimeSpan,
    /// Time between two readings of the counters.
    #[arg(long, value_name = "TIME", default_value = "1s")]
    pub(crate) interval: TimeSpan,
    #[command(flatten)]
    pub(crate) marks: MarkArgs,
    #[command(flatten)]
    pub(crate) met: AgentAccessArgs,
}
