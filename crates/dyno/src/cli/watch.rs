//! The options of `dyno watch`.

use clap::Args;
use dyno_plan::Span;

use super::fleet::Met;
use super::shared::Marks;

#[derive(Debug, Args)]
pub(crate) struct Watch {
    /// The database [default: --target, or the plan's].
    #[arg(value_name = "TARGET")]
    pub(crate) url: Option<String>,
    /// How long; Ctrl-C ends it before and keeps what was seen.
    #[arg(long = "for", value_name = "TIME", default_value = "10m")]
    pub(crate) length: Span,
    /// How often counters are read.
    #[arg(long, value_name = "TIME", default_value = "1s")]
    pub(crate) interval: Span,
    #[command(flatten)]
    pub(crate) marks: Marks,
    #[command(flatten)]
    pub(crate) met: Met,
}
