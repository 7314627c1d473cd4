//! The options with which a server starts.

use std::net::SocketAddr;
use std::path::PathBuf;

use dyno_plan::Engines;

use crate::connection::ConnectionLimits;
use crate::targets::ServeTargetList;

#[derive(Debug, Clone)]
pub struct Setup {
    /// The address to listen on; port 0 selects any free port.
    pub listen: SocketAddr,
    /// Additional host names for browsers, with the port if it is not the default one: `dyno.example.org`.
    pub hosts: Vec<String>,
    /// Whether a proxy in front of the server terminates TLS.
    pub behind_proxy: bool,
    /// The server's certificate and key; absent without TLS of its own.
    pub tls: Option<TlsFiles>,
    /// The file that stores all runs.
    pub repository: PathBuf,
    /// The folder for the server's token and jobs.
    pub state: PathBuf,
    /// Databases and hosts that jobs may use.
    pub targets: ServeTargetList,
    /// Whether the server starts and changes nothing.
    pub read_only: bool,
    /// Whether jobs may run commands.
    pub allow_commands: bool,
    /// This program, which child processes execute.
    pub program: PathBuf,
    /// The engines that plans may use.
    pub engines: Engines,
    pub limits: ConnectionLimits,
    /// Ready workloads that users can choose.
    pub workloads: Vec<ReadyWorkload>,
}

/// A built-in workload that users can choose.
#[derive(Debug, Clone, Copy)]
pub struct ReadyWorkload {
    /// Its name, as in `dyno init --workload`.
    pub name: &'static str,
    /// A description for users.
    pub about: &'static str,
}

/// The files of a certificate and its key.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// The certificate and its chain, PEM.
    pub certificate: PathBuf,
    /// The private key, PEM.
    pub key: PathBuf,
}
