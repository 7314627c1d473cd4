//! The options of `dyno serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Where to listen: ADDRESS:PORT; port 0 is any free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7878")]
    pub(crate) listen: SocketAddr,
    /// A further name by which browsers know this server; can be given many times.
    #[arg(long = "host", value_name = "NAME")]
    pub(crate) hosts: Vec<String>,
    /// The list of databases that may be measured from the pages; without it, those of --target.
    #[arg(long, value_name = "FILE")]
    pub(crate) targets: Option<PathBuf>,
    /// Where the token and what was started are kept [default: beside the repository].
    #[arg(long, value_name = "DIR")]
    pub(crate) state: Option<PathBuf>,
    /// Add a token for NAME with the role view, run or administer, print it, and exit; the server need not be restarted.
    #[arg(long, value_name = "NAME=ROLE", conflicts_with = "remove_token")]
    pub(crate) add_token: Option<String>,
    /// Remove the token of NAME, whose browsers are then logged out, and exit.
    #[arg(long, value_name = "NAME")]
    pub(crate) remove_token: Option<String>,
    /// Show only: nothing can be started, stopped or changed.
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Let plans that are started here have commands (hooks), which run as this user.
    #[arg(long, conflicts_with = "read_only")]
    pub(crate) allow_commands: bool,
    /// The certificate for TLS, PEM, with those that lead to its issuer.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Its key, PEM.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// A proxy in front of it speaks TLS with the browsers; --host says by which name.
    #[arg(long, requires = "hosts", conflicts_with = "tls_cert")]
    pub(crate) behind_proxy: bool,
}
