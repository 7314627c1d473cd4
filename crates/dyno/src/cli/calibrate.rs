//! The options of `dyno calibrate`.

use std::path::PathBuf;

use clap::Args;
use dyno_calibrate::Part;
use dyno_plan::{Bytes, Span};

use super::shared::Marks;

#[derive(Debug, Args)]
pub(crate) struct Calibrate {
    /// The folder whose device is measured [default: where the data of the plan's target lies; without a plan the current one].
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    /// Fewer and shorter steps, half a minute in all.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Only this part: memory, device, commit; several, if given several times.
    #[arg(long, value_name = "PART", value_parser = part)]
    pub(crate) only: Vec<Part>,
    /// Size of the file that is read and written [default: 4G, or 1G with --quick; a quarter of what is free at most].
    #[arg(long, value_name = "BYTES")]
    pub(crate) size: Option<Bytes>,
    /// The bound of the 99th percentile of latency under which the most requests are sought.
    #[arg(long, value_name = "TIME", default_value = "1ms")]
    pub(crate) p99: Span,
    /// Bytes of one commit.
    #[arg(long, value_name = "BYTES", default_value = "8K")]
    pub(crate) commit_size: Bytes,
    /// Length of each step [default: 4s, or 600ms with --quick].
    #[arg(long, value_name = "TIME")]
    pub(crate) step: Option<Span>,
    #[command(flatten)]
    pub(crate) marks: Marks,
}

fn part(name: &str) -> Result<Part, String> {
    let known = Part::ALL.map(Part::name).join(", ");
    Part::from_name(name).ok_or_else(|| format!("there are: {known}"))
}
