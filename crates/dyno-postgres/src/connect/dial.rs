//! Connects to the server at one of its addresses before one deadline.

use std::time::Instant;

use super::config::PostgresConnectConfig;
use super::from_url::socket_dir;
use crate::wire::{Breaker, Socket};
use dyno_engine::TargetError;
use dyno_engine::net::{self, Address};

/// Connects to the first address that answers before `deadline`.
pub(super) fn dial<'a>(
    config: &'a PostgresConnectConfig,
    deadline: Instant,
    breaker: &Breaker,
) -> Result<(Socket, &'a Address), TargetError> {
    net::dial(&config.addresses, config.keepalive, deadline, breaker)
        .map_err(|tried| unreachable(config, &tried))
}

fn unreachable(config: &PostgresConnectConfig, tried: &str) -> TargetError {
    let port = config.port;
    let hint = match config.addresses.as_slice() {
        [Address::Unix(socket)] => format!(
            "check that the server runs, that its port is {port} and that its unix_socket_directories has {}",
            socket_dir(socket).display()
        ),
        [Address::Tcp(host, ..)] => format!(
            "check that the server runs on {host}, that its port is {port}, that its listen_addresses \
            covers this address, and that no firewall blocks the connection; \
            target.url of the plan or --target names the address"
        ),
        _ => format!(
            "no host was given, so Dyno tried the default addresses with port {port}: write \
            postgres://USER@HOST:PORT/DATABASE or ?host=/SOCKET/DIRECTORY"
        ),
    };
    TargetError::unreachable(format!("no PostgreSQL server can be reached: {}", tried)).hint(hint)
}
