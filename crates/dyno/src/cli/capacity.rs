//! The options of `dyno capacity`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct CapacityArgs {
    /// The measured capacity: the name of a suite, sweep or search, or runs.
    pub(crate) measured: String,
    /// Present use: watches and imported reports.
    #[arg(required = true, value_name = "USE")]
    pub(crate) use_of: Vec<String>,
    /// Exit code 1 if a component's peak use exceeds this share of its knee, or is unknown: `80%`.
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub(crate) over: Option<f64>,
    /// Also write the result as a page.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

fn percent(text: &str) -> Result<f64, String> {
    let number: Result<f64, _> = text.trim().trim_end_matches('%').trim().parse();
    let number = number.ok().filter(|percent| *percent > 0.0 && *percent <= 1_000.0);
    number.ok_or_else(|| "write a share between 0 and 1000 %, such as 80%".to_owned())
}
