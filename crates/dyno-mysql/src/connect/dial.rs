//! Connects to the server at one of its addresses before one deadline.

use std::time::Instant;

use super::config::MySqlConnectConfig;
use dyno_engine::TargetError;
use dyno_engine::net::sockopt::Keepalive;
use dyno_engine::net::{self, Address, Breaker, Socket};

/// Connects to the first address that answers before `deadline`.
pub(super) fn dial<'a>(
    config: &'a MySqlConnectConfig,
    deadline: Instant,
    breaker: &Breaker,
) -> Result<(Socket, &'a Address), TargetError> {
    net::dial(&config.addresses, Keepalive::FREQUENT, deadline, breaker)
        .map_err(|tried| unreachable(config, &tried))
}

fn unreachable(config: &MySqlConnectConfig, tried: &str) -> TargetError {
    let hint = match config.addresses.as_slice() {
        [Address::Unix(path)] => {
            format!("check that the server runs and that its setting socket is {}", path.display())
        }
        [Address::Tcp(host, port, _)] => format!(
            "check that the server runs on {host}, that its port is {port}, that its bind_address covers \
            this address (and skip_networking is off), and that no firewall blocks the connection; \
            target.url of the plan or --target names the address"
        ),
        _ => "no host was given, so Dyno tried the default addresses: write \
            mysql://USER@HOST:PORT/DATABASE or ?socket=/PATH"
            .to_owned(),
    };
    let message = format!("no MySQL or MariaDB server can be reached: {tried}");
    TargetError::unreachable(message).hint(hint)
}
