//! Options of commands that read results: list, show, compare, trend, report.

use std::path::PathBuf;

use clap::Args;

use super::shared::CompareRules;

#[derive(Debug, Args)]
pub(crate) struct List {
    /// Maximum number of runs to list.
    #[arg(long, short = 'n', default_value_t = 20)]
    pub(crate) limit: usize,
    /// Only runs with this status: running, unknown, valid, imported, invalid, interrupted, failed.
    #[arg(long)]
    pub(crate) status: Option<String>,
    /// List sweeps, searches, soaks and A/B tests instead of runs.
    #[arg(long, conflicts_with_all = ["status", "sweep"])]
    pub(crate) sweeps: bool,
    /// Only runs of this sweep, search, soak or A/B test: its name, a prefix of it, or `last`.
    #[arg(long, value_name = "SWEEP")]
    pub(crate) sweep: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Runs to show, by name or selector.
    #[arg(default_value = "last")]
    pub(crate) runs: Vec<String>,
    /// Show only the result table and the audit's findings.
    #[arg(long)]
    pub(crate) table: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// Sets of runs; each is compared with the first.
    #[arg(required = true, num_args = 2.., value_name = "RUNS")]
    pub(crate) sides: Vec<String>,
    #[command(flatten)]
    pub(crate) rules: CompareRules,
    /// Show all rows, also those that do not differ by more than the margin.
    #[arg(long)]
    pub(crate) full: bool,
    /// Also write the comparison to a file; the extension selects the format (html, md, csv, json, xlsx).
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct TrendArgs {
    /// The runs, as for compare [default: all runs with the plan and target of --like].
    #[arg(value_name = "RUNS")]
    pub(crate) runs: Option<String>,
    /// The run whose plan and target select the history.
    #[arg(long, value_name = "RUN", default_value = "last", conflicts_with = "runs")]
    pub(crate) like: String,
    /// The measure [default: ops_per_s; logical_reads_per_s for imported reports, which count no operations].
    #[arg(long, value_name = "MEASURE")]
    pub(crate) metric: Option<String>,
    /// Maximum number of runs; the latest are used.
    #[arg(long, short = 'n', default_value_t = 300)]
    pub(crate) limit: usize,
    /// Highest probability of chance at which a change is reported.
    #[arg(long, value_name = "P", default_value_t = 0.02)]
    pub(crate) significance: f64,
    /// Limit for the latest change, such as `ops_per_s >= -5%`: exit code 1 if it is not kept, 5 if the runs do
    /// not decide.
    #[arg(long, value_name = "GATE")]
    pub(crate) gate: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// Run to export, by name or selector.
    #[arg(default_value = "last", value_name = "RUN")]
    pub(crate) run: String,
    /// The file to write [default: stdout].
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Export the overview in a long run's record, instead of every interval.
    #[arg(long)]
    pub(crate) overview: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Runs and sweeps to report, by name or selector.
    #[arg(default_value = "last", value_name = "RUN")]
    pub(crate) runs: Vec<String>,
    /// The file to write, `-` for stdout [default: report.html for HTML, else stdout].
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Format of the report [default: from the file's extension, else html].
    #[arg(long, value_name = "html|md|csv|json|xlsx|svg|png")]
    pub(crate) format: Option<String>,
    /// Author named on the first printed page.
    #[arg(long, value_name = "NAME")]
    pub(crate) author: Option<String>,
    /// Title of the report [default: its runs and their database].
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// File with platform prices as for `dyno price`, for the first printed pages: a platform is found by its
    /// variant or suite.
    #[arg(long, value_name = "PRICES")]
    pub(crate) prices: Option<PathBuf>,
    /// Only this chart, for svg and png: throughput, petal, cpu, histogram, ...
    #[arg(long, value_name = "NAME")]
    pub(crate) chart: Option<String>,
}
