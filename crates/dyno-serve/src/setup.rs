//! What a server is told when it starts.

use std::net::SocketAddr;
use std::path::PathBuf;

use dyno_plan::Engines;

use crate::connection::ConnectionLimits;
use crate::targets::Targets;

/// What a server is told when it starts.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Where it listens; port 0 is any free one.
    pub listen: SocketAddr,
    /// Further names by which browsers may know it, with a port where that is not the usual one: `dyno.example.org`.
    pub hosts: Vec<String>,
    /// Whether a proxy in front of it speaks TLS with the browsers.
    pub behind_proxy: bool,
    /// Its certificate and key, for TLS of its own.
    pub tls: Option<TlsFiles>,
    /// The file that keeps all runs.
    pub repository: PathBuf,
    /// The directory of its token and of what was started here.
    pub state: PathBuf,
    /// Databases that may be measured from here.
    pub targets: Targets,
    /// Whether nothing may be started or changed.
    pub read_only: bool,
    /// Whether plans that are started here may have commands.
    pub allow_commands: bool,
    /// This program, which children run.
    pub program: PathBuf,
    /// The engines that plans may name.
    pub engines: Engines,
    /// Limits on connections.
    pub limits: ConnectionLimits,
    /// Ready workloads that may be chosen.
    pub workloads: Vec<ReadyWorkload>,
}

/// A ready workload.
#[derive(Debug, Clone, Copy)]
pub struct ReadyWorkload {
    /// Its name, as `dyno init --workload` takes it.
    pub name: &'static str,
    /// What it is about.
    pub about: &'static str,
}

/// Certificate and key.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// The certificate and those that lead to its issuer, PEM.
    pub certificate: PathBuf,
    /// Its key, PEM.
    pub key: PathBuf,
}
