//! The options of `dyno capacity`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Capacity {
    /// What was measured: a suite, a sweep or a search by its name, or runs.
    pub(crate) measured: String,
    /// Present use: watches, and reports that were imported.
    #[arg(required = true, value_name = "USE")]
    pub(crate) use_of: Vec<String>,
    /// Exit code 1 where a component uses more than this share of its knee at the peak, or nobody knows: `80%`.
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub(crate) over: Option<f64>,
    /// Write it as a page, too.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

fn percent(text: &str) -> Result<f64, String> {
    let number: Result<f64, _> = text.trim().trim_end_matches('%').trim().parse();
    let number = number.ok().filter(|percent| *percent > 0.0 && *percent <= 1_000.0);
    number.ok_or_else(|| "write a share between 0 and 1000 %, such as 80%".to_owned())
}
