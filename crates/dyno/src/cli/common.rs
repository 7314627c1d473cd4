//! Options that all commands share.

use std::path::PathBuf;

use clap::Args;

/// The plan file if none is named.
pub(crate) const DEFAULT_PLAN: &str = "dyno.toml";

/// Options that all commands share.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct CommonArgs {
    /// Plan file with the settings of the test.
    #[arg(long, global = true, value_name = "FILE", default_value = DEFAULT_PLAN, env = "DYNO_PLAN")]
    pub(crate) plan: PathBuf,
    /// Database URL, instead of the plan's target.url; without a password. Repeat it for several targets at
    /// once.
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) target: Vec<String>,
    /// Sets a key of the plan and overrides the file; can be repeated.
    #[arg(long = "set", global = true, value_name = "SECTION.KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// The file that stores all runs [default: in the user's data directory].
    #[arg(long, global = true, value_name = "FILE", env = "DYNO_REPOSITORY")]
    pub(crate) repository: Option<PathBuf>,
    /// Run the plan's own commands (its hooks) without asking, and remember this consent.
    #[arg(long, global = true)]
    pub(crate) allow_hooks: bool,
    /// Run a workload that changes data not created by Dyno, without asking, and remember this consent.
    #[arg(long, global = true)]
    pub(crate) allow_writes: bool,
    /// Serve measurements as OpenMetrics while the command runs, at an address such as 127.0.0.1:9750, or
    /// :9750 for this machine only.
    #[arg(long, global = true, value_name = "ADDRESS", help_heading = "Watching")]
    pub(crate) metrics: Option<String>,
    /// File whose first line is the token that a scraper of --metrics must send; alternatively
    /// DYNO_METRICS_TOKEN holds the token.
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        requires = "metrics",
        help_heading = "Watching",
        hide_short_help = true
    )]
    pub(crate) metrics_token_file: Option<PathBuf>,
    /// Serve --metrics beyond this machine without a token, to anyone who can reach the address.
    #[arg(long, global = true, requires = "metrics", help_heading = "Watching", hide_short_help = true)]
    pub(crate) metrics_open: bool,
    /// Mark each run's window in the Grafana at this address; DYNO_GRAFANA_TOKEN holds a service account
    /// token.
    #[arg(long, global = true, value_name = "URL", help_heading = "Watching")]
    pub(crate) annotate: Option<String>,
    /// Send durations and a trace of each run to the OpenTelemetry collector at this address over HTTP.
    #[cfg(feature = "otlp")]
    #[arg(long, global = true, value_name = "URL", help_heading = "Watching")]
    pub(crate) otlp: Option<String>,
    /// Append events to FILE, one JSON object per line, for another program to read (as `dyno serve` does). A
    /// named pipe that you own also works while a program reads it. Links such as /dev/stdout are refused,
    /// and so are files of other users in a shared folder.
    #[arg(long, global = true, value_name = "FILE", hide_short_help = true)]
    pub(crate) events: Option<PathBuf>,
    /// Write JSON to stdout; messages stay on stderr.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Show lines of progress instead of the full screen.
    #[arg(long, global = true)]
    pub(crate) plain: bool,
    /// Show no messages except errors.
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Show more messages about each step.
    #[arg(long, short, global = true)]
    pub(crate) verbose: bool,
}
