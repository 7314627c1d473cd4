//! Reaching the server at one of its endpoints, within one deadline.

use std::time::Instant;

use super::config::{ConnectConfig, Endpoint};
use crate::wire::{Breaker, Socket};
use dyno_engine::TargetError;
use dyno_engine::net::{self, Address};

/// A connected socket, and the endpoint that it reached.
pub(super) struct Reached<'a> {
    pub(super) socket: Socket,
    pub(super) endpoint: &'a Endpoint,
}

/// Connects to the first endpoint and address that answers before `deadline`.
pub(super) fn dial<'a>(
    config: &'a ConnectConfig,
    deadline: Instant,
    breaker: &Breaker,
) -> Result<Reached<'a>, TargetError> {
    let address = |endpoint: &Endpoint| match endpoint {
        Endpoint::Unix(dir) => Address::Unix(dir.join(format!(".s.PGSQL.{}", config.port))),
        Endpoint::Tcp { host, address } => Address::Tcp(host.clone(), config.port, *address),
    };
    let addresses: Vec<Address> = config.endpoints.iter().map(address).collect();
    let (socket, at) = net::dial(&addresses, config.keepalive, deadline, breaker)
        .map_err(|tried| unreachable(config, &tried))?;
    Ok(Reached { socket, endpoint: &config.endpoints[at] })
}

fn unreachable(config: &ConnectConfig, tried: &str) -> TargetError {
    let port = config.port;
    let hint = match config.endpoints.as_slice() {
        [Endpoint::Unix(dir)] => format!(
            "check that the server runs, that its port is {port} and that its unix_socket_directories has {}",
            dir.display()
        ),
        [Endpoint::Tcp { host, .. }] => format!(
            "check that the server runs on {host}, that its port is {port}, that its listen_addresses covers this address, and that no firewall is between"
        ),
        _ => format!(
            "no host was given, so the usual places were tried with port {port}: write postgres://USER@HOST:PORT/DATABASE or ?host=/SOCKET/DIRECTORY"
        ),
    };
    TargetError::unreachable(format!("no PostgreSQL server can be reached: {}", tried)).hint(hint)
}
