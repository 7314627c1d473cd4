//! Reaching the server: every endpoint, every address of it, within one deadline.

use std::fmt::Write;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::path::Path;
use std::time::{Duration, Instant};

use super::config::{ConnectConfig, Endpoint};
use crate::wire::{Breaker, Socket};
use dyno_engine::error::{TargetError, TargetErrorKind};
use dyno_engine::net::sockopt;

/// A connected socket, and the endpoint that it reached.
pub(super) struct Reached<'a> {
    pub(super) socket: Socket,
    pub(super) endpoint: &'a Endpoint,
}

/// What was tried and how it failed.
#[derive(Default)]
struct Tried(String);

impl Tried {
    fn add(&mut self, place: &str, error: &io::Error) {
        let comma = if self.0.is_empty() { "" } else { ", " };
        // Writing to a String cannot fail.
        let _ = match error.kind() {
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => {
                write!(self.0, "{comma}{place} (no answer in time)")
            }
            _ => write!(self.0, "{comma}{place} ({error})"),
        };
    }
}

/// Connects to the first endpoint and address that answers before `deadline`.
pub(super) fn dial<'a>(
    config: &'a ConnectConfig,
    deadline: Instant,
    breaker: &Breaker,
) -> Result<Reached<'a>, TargetError> {
    let breaks = breaker.breaks();
    let mut tried = Tried::default();
    for endpoint in &config.endpoints {
        let socket = match endpoint {
            Endpoint::Unix(dir) => unix(dir, config.port, deadline, &mut tried),
            Endpoint::Tcp { host, address } => tcp(config, host, *address, deadline, &mut tried),
        };
        let Some(mut socket) = socket else { continue };
        let ready = socket.set_deadline(Some(deadline)).and_then(|()| breaker.guard(&socket, breaks));
        match ready {
            Ok(()) => return Ok(Reached { socket, endpoint }),
            Err(error) => tried.add("the socket", &error),
        }
    }
    Err(unreachable(config, &tried))
}

fn left(deadline: Instant) -> Result<Duration, io::Error> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

fn unix(dir: &Path, port: u16, deadline: Instant, tried: &mut Tried) -> Option<Socket> {
    let path = dir.join(format!(".s.PGSQL.{port}"));
    match left(deadline).and_then(|left| sockopt::connect_unix(&path, left)) {
        Ok(stream) => Some(stream.into()),
        Err(error) => {
            tried.add(&path.display().to_string(), &error);
            None
        }
    }
}

fn tcp(
    config: &ConnectConfig,
    host: &str,
    address: Option<IpAddr>,
    deadline: Instant,
    tried: &mut Tried,
) -> Option<Socket> {
    let addresses = match address {
        Some(address) => vec![SocketAddr::new(address, config.port)],
        None => match (host, config.port).to_socket_addrs() {
            Ok(found) => found.collect(),
            Err(error) => {
                tried.add(host, &error);
                return None;
            }
        },
    };
    for address in addresses {
        let connected = left(deadline)
            .and_then(|left| TcpStream::connect_timeout(&address, left))
            .and_then(|stream| prepare(stream, config));
        match connected {
            Ok(stream) => return Some(stream.into()),
            Err(error) => tried.add(&address.to_string(), &error),
        }
    }
    None
}

fn prepare(stream: TcpStream, config: &ConnectConfig) -> io::Result<TcpStream> {
    // An operation is one small packet each way: waiting to fill it would be the whole response time.
    stream.set_nodelay(true)?;
    sockopt::set_keepalive(&stream, config.keepalive)?;
    Ok(stream)
}

fn unreachable(config: &ConnectConfig, tried: &Tried) -> TargetError {
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
    TargetError::new(
        TargetErrorKind::Unreachable,
        format!("no PostgreSQL server can be reached: {}", tried.0),
    )
    .hint(hint)
}
