//! The options of `dyno serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Address on which to listen: ADDRESS:PORT; port 0 selects any free port.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7878")]
    pub(crate) listen: SocketAddr,
    /// Further host name by which browsers reach this server; can be repeated.
    #[arg(long = "host", value_name = "NAME")]
    pub(crate) hosts: Vec<String>,
    /// List of databases that may be measured from the pages [default: those of --target].
    #[arg(long, value_name = "FILE")]
    pub(crate) targets: Option<PathBuf>,
    /// Folder for the token and for started runs [default: next to the repository].
    #[arg(long, value_name = "DIR")]
    pub(crate) state: Option<PathBuf>,
    /// Add a token for NAME with the role view, run or administer, print it, and exit; the server need not be
    /// restarted.
    #[arg(long, value_name = "NAME=ROLE", conflicts_with = "remove_token")]
    pub(crate) add_token: Option<String>,
    /// Remove the token of NAME, log out its browsers, and exit.
    #[arg(long, value_name = "NAME")]
    pub(crate) remove_token: Option<String>,
    /// Show results only: nothing can be started, stopped or changed.
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Allow commands (hooks) in plans started here; they run as this user.
    #[arg(long, conflicts_with = "read_only")]
    pub(crate) allow_commands: bool,
    /// Certificate for TLS in PEM format, with its chain of issuers.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Private key of the certificate, in PEM format.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// A proxy in front of the server handles TLS for browsers; --host states its name.
    #[arg(long, requires = "hosts", conflicts_with = "tls_cert")]
    pub(crate) behind_proxy: bool,
}
