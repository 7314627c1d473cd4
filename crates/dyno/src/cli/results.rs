//! What commands that read results take: list, show, compare, trend, import, report; and whose plans become ours.

use std::path::PathBuf;

use clap::Args;

use super::shared::{CompareRules, DateOrder, DecimalMark, DialectArgs, Marks, Separator};

#[derive(Debug, Args)]
pub(crate) struct List {
    /// At most so many runs.
    #[arg(long, short = 'n', default_value_t = 20)]
    pub(crate) limit: usize,
    /// Only runs that came to this: valid, invalid, interrupted, failed, running.
    #[arg(long)]
    pub(crate) status: Option<String>,
    /// Sweeps, searches, soaks and A/B comparisons instead of runs.
    #[arg(long, conflicts_with_all = ["status", "sweep"])]
    pub(crate) sweeps: bool,
    /// Only runs of this sweep, search, soak or A/B comparison: its name, the beginning of it, or `last`.
    #[arg(long, value_name = "SWEEP")]
    pub(crate) sweep: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// Which runs.
    #[arg(default_value = "last")]
    pub(crate) runs: Vec<String>,
    /// Only the table of results and the audit's findings.
    #[arg(long)]
    pub(crate) table: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// The sets, the first of which is what the others are held against.
    #[arg(required = true, num_args = 2.., value_name = "RUNS")]
    pub(crate) sides: Vec<String>,
    #[command(flatten)]
    pub(crate) rules: CompareRules,
    /// Write it as a file, too: a page, or in the format of its ending (html, md, csv, json, xlsx).
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Trend {
    /// The runs, as for compare [default: all of the plan and target of --like].
    #[arg(value_name = "RUNS")]
    pub(crate) runs: Option<String>,
    /// The run whose plan and target are followed.
    #[arg(long, value_name = "RUN", default_value = "last", conflicts_with = "runs")]
    pub(crate) like: String,
    /// The measure [default: ops_per_s; of imported reports, which count no operations, logical_reads_per_s].
    #[arg(long, value_name = "MEASURE")]
    pub(crate) metric: Option<String>,
    /// At most so many runs, the latest.
    #[arg(long, short = 'n', default_value_t = 300)]
    pub(crate) limit: usize,
    /// Largest chance at which a change still counts as one.
    #[arg(long, value_name = "P", default_value_t = 0.02)]
    pub(crate) significance: f64,
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The file: a table, whose first line names the columns (`#` begins a comment line), or a log of a known tool.
    pub(crate) file: PathBuf,
    /// What a column is, `COLUMN=FIELD[:UNIT][@TARGET]`; can be given many times.
    #[arg(long, value_name = "COLUMN=FIELD")]
    pub(crate) map: Vec<String>,
    #[command(flatten)]
    pub(crate) marks: Marks,
    #[command(flatten)]
    pub(crate) dialect: DialectArgs,
    /// The product that the figures are of: `Oracle`.
    #[arg(long, value_name = "NAME")]
    pub(crate) product: Option<String>,
    /// Only show what would be stored.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ImportMetrics {
    /// The run beside which they are shown, or several: `last`, an id, a sweep, `tag:NAME`.
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// Files of comma-separated values.
    #[arg(value_name = "FILE", required_unless_present = "remove")]
    pub(crate) files: Vec<PathBuf>,
    /// What stands between two cells.
    #[arg(long, value_name = "NAME", default_value = "comma")]
    pub(crate) separator: Separator,
    /// What stands before the fraction of a number [default: a point, and no marks of thousands].
    #[arg(long, value_name = "NAME")]
    pub(crate) decimal_mark: Option<DecimalMark>,
    /// The order of day and month in dates such as 3/4/2026.
    #[arg(long, value_name = "ORDER")]
    pub(crate) date_order: Option<DateOrder>,
    /// The time zone of times that name none: UTC, +02:00, Europe/Berlin.
    #[arg(long, value_name = "ZONE")]
    pub(crate) time_zone: Option<String>,
    /// How long each period is that a value is of, from its time on [default: what the file says, else the shortest time between two].
    #[arg(long, value_name = "TIME")]
    pub(crate) period: Option<String>,
    /// The metric, where the file does not name it.
    #[arg(long, value_name = "NAME")]
    pub(crate) metric: Option<String>,
    /// Take out again what was imported for the run.
    #[arg(long, conflicts_with_all = ["files", "dry_run"])]
    pub(crate) remove: bool,
    /// Only show what would be stored.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ImportSlob {
    /// The slob.conf or pgio.conf.
    pub(crate) file: PathBuf,
    /// The plan to write [default: stdout].
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite a plan that is there.
    #[arg(long)]
    pub(crate) force: bool,
    /// Schemas: the argument of runit.sh, or its -s [default: 1, for pgio what the file says].
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) schemas: Option<u32>,
    /// Sessions on each schema: -t of runit.sh [default: what the file says].
    #[arg(long, short = 't', visible_alias = "threads", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) sessions: Option<u32>,
    /// Leave out lines that are not understood and unknown parameters, and say which, instead of refusing the file.
    #[arg(long)]
    pub(crate) lenient: bool,
    /// Whose file it is [default: told by its parameters].
    #[arg(long, value_name = "slob|pgio")]
    pub(crate) kit: Option<dyno_plan::conf::Kit>,
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// Which run.
    #[arg(default_value = "last", value_name = "RUN")]
    pub(crate) run: String,
    /// The file to write [default: stdout].
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The overview that the record of a long run holds, instead of every interval.
    #[arg(long)]
    pub(crate) overview: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Which runs and sweeps.
    #[arg(default_value = "last", value_name = "RUN")]
    pub(crate) runs: Vec<String>,
    /// The file to write, `-` for stdout [default: report.html for HTML, else stdout].
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The format [default: by the ending of the file, else html].
    #[arg(long, value_name = "html|md|csv|json|xlsx|svg|png")]
    pub(crate) format: Option<String>,
    /// Who made it, as it stands on the first page of paper.
    #[arg(long, value_name = "NAME")]
    pub(crate) author: Option<String>,
    /// What it is called [default: its runs and their database].
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// What platforms cost, as for `dyno price`, on the first pages of paper: a platform is found by its variant or suite.
    #[arg(long, value_name = "PRICES")]
    pub(crate) prices: Option<PathBuf>,
    /// Only this chart, for svg and png: throughput, petal, cpu, histogram, ...
    #[arg(long, value_name = "NAME")]
    pub(crate) chart: Option<String>,
}
