//! Reaching the server at one of its endpoints, within one deadline.

use std::time::Instant;

use super::config::{ConnectConfig, Endpoint};
use dyno_engine::TargetError;
use dyno_engine::net::sockopt::Keepalive;
use dyno_engine::net::{self, Address, Breaker, Socket};

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
        Endpoint::Unix(path) => Address::Unix(path.clone()),
        Endpoint::Tcp(host, port) => Address::Tcp(host.clone(), *port, None),
    };
    let addresses: Vec<Address> = config.endpoints.iter().map(address).collect();
    let (socket, at) = net::dial(&addresses, Keepalive::SYSTEM, deadline, breaker)
        .map_err(|tried| unreachable(config, &tried))?;
    Ok(Reached { socket, endpoint: &config.endpoints[at] })
}

fn unreachable(config: &ConnectConfig, tried: &str) -> TargetError {
    let hint = match config.endpoints.as_slice() {
        [Endpoint::Unix(path)] => {
            format!("check that the server runs and that its setting socket is {}", path.display())
        }
        [Endpoint::Tcp(host, port)] => format!(
            "check that the server runs on {host}, that its port is {port}, that its bind_address covers this address \
             (and skip_networking is off), and that no firewall is between"
        ),
        _ => "no host was given, so the usual places were tried: write mysql://USER@HOST:PORT/DATABASE or ?socket=/PATH"
            .to_owned(),
    };
    let message = format!("no MySQL or MariaDB server can be reached: {tried}");
    TargetError::unreachable(message).hint(hint)
}
