//! The options of `dyno calibrate`.

use std::path::PathBuf;

use clap::Args;
use dyno_calibrate::CalibrationPart;
use dyno_plan::{Bytes, TimeSpan};

use super::shared::MarkArgs;

#[derive(Debug, Args)]
pub(crate) struct Calibrate {
    /// Folder whose device is measured [default: the folder of the plan target's data; without a plan, the
    /// current one].
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    /// Run fewer and shorter steps, half a minute in total.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Measure only this part: memory, device or commit; can be repeated.
    #[arg(long, value_name = "PART", value_parser = part)]
    pub(crate) only: Vec<CalibrationPart>,
    /// Size of the test file [default: 4G, or 1G with --quick; at most a quarter of the free space].
    #[arg(long, value_name = "BYTES")]
    pub(crate) size: Option<Bytes>,
    /// Limit of the 99th percentile of latency for the highest request rate.
    #[arg(long, value_name = "TIME", default_value = "1ms")]
    pub(crate) p99: TimeSpan,
    /// Number of bytes that each commit writes.
    #[arg(long, value_name = "BYTES", default_value = "8K")]
    pub(crate) commit_size: Bytes,
    /// Length of each step [default: 4s, or 600ms with --quick].
    #[arg(long, value_name = "TIME")]
    pub(crate) step: Option<TimeSpan>,
    #[command(flatten)]
    pub(crate) marks: MarkArgs,
}

fn part(name: &str) -> Result<CalibrationPart, String> {
    let part_names = CalibrationPart::ALL.map(CalibrationPart::name).join(", ");
    CalibrationPart::from_name(name).ok_or_else(|| format!("use one of {part_names}"))
}
