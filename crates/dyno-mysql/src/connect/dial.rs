//! Reaching the server: every endpoint, every address of it, within one deadline.

use std::fmt::Write;
use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use super::config::{ConnectConfig, Endpoint};
use dyno_engine::error::{TargetError, TargetErrorKind};
use dyno_engine::net::sockopt::{self, Keepalive};
use dyno_engine::net::{Breaker, Socket};

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
    let breaks = breaker.breaks();
    let mut tried = String::new();
    let mut add = |place: &str, error: &io::Error| {
        let comma = if tried.is_empty() { "" } else { ", " };
        // Writing to a String cannot fail.
        let _ = match error.kind() {
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => {
                write!(tried, "{comma}{place} (no answer in time)")
            }
            _ => write!(tried, "{comma}{place} ({error})"),
        };
    };
    for endpoint in &config.endpoints {
        let connected = match endpoint {
            Endpoint::Unix(path) => left(deadline)
                .and_then(|left| sockopt::connect_unix(path, left))
                .map(Socket::from)
                .map_err(|error| (path.display().to_string(), error)),
            Endpoint::Tcp(host, port) => tcp(host, *port, deadline),
        };
        let ready = connected.and_then(|mut socket| {
            socket
                .set_deadline(Some(deadline))
                .and_then(|()| breaker.guard(&socket, breaks))
                .map(|()| socket)
                .map_err(|error| ("the socket".to_owned(), error))
        });
        match ready {
            Ok(socket) => return Ok(Reached { socket, endpoint }),
            Err((place, error)) => add(&place, &error),
        }
    }
    Err(unreachable(config, &tried))
}

fn left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

/// The first address of `host` that answers, or the last that did not and why.
fn tcp(host: &str, port: u16, deadline: Instant) -> Result<Socket, (String, io::Error)> {
    let named = |error| (host.to_owned(), error);
    let mut last = named(io::Error::new(io::ErrorKind::NotFound, "the name has no address"));
    for address in (host, port).to_socket_addrs().map_err(named)? {
        let connected =
            left(deadline).and_then(|left| TcpStream::connect_timeout(&address, left)).and_then(prepare);
        match connected {
            Ok(stream) => return Ok(stream.into()),
            Err(error) => last = (address.to_string(), error),
        }
    }
    Err(last)
}

fn prepare(stream: TcpStream) -> io::Result<TcpStream> {
    // An operation is one small packet each way: waiting to fill it would be the whole response time.
    stream.set_nodelay(true)?;
    // A server whose machine vanished never closes its connections; only keepalive notices.
    let system = Keepalive { enabled: true, idle_s: None, interval_s: None, count: None };
    sockopt::set_keepalive(&stream, system)?;
    Ok(stream)
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
    TargetError::new(TargetErrorKind::Unreachable, message).hint(hint)
}
