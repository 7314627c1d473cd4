//! Connects to a server: tries every address of its name within one deadline.

use std::fmt::Write as _;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::breaker::Breaker;
use super::socket::Socket;
use super::sockopt::{self, Keepalive};

/// An address of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A Unix socket at this path.
    Unix(PathBuf),
    /// A port of a host by name or address; with an address, the name is not resolved.
    Tcp(String, u16, Option<IpAddr>),
}

/// The addresses that were tried, and how each failed.
#[derive(Default)]
struct Tried(String);

impl Tried {
    fn add(&mut self, address: &str, error: &io::Error) {
        let comma = if self.0.is_empty() { "" } else { ", " };
        let why = match error.kind() {
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => "no answer in time".to_owned(),
            _ => error.to_string(),
        };
        // Writing to a String cannot fail.
        let _ = write!(self.0, "{comma}{address} ({why})");
    }
}

/// Connects to the first of `addresses` that answers before `deadline`; returns the socket and that address.
///
/// # Errors
/// No address answers; the message lists each with its failure.
pub fn dial<'a>(
    addresses: &'a [Address],
    keepalive: Keepalive,
    deadline: Instant,
    breaker: &Breaker,
) -> Result<(Socket, &'a Address), String> {
    let breaks = breaker.breaks();
    let mut tried = Tried::default();
    for address in addresses {
        let Some(mut socket) = reach(address, keepalive, deadline, &mut tried) else { continue };
        let ready = socket.set_deadline(Some(deadline)).and_then(|()| breaker.guard(&socket, breaks));
        match ready {
            Ok(()) => return Ok((socket, address)),
            Err(error) => tried.add("the socket", &error),
        }
    }
    Err(tried.0)
}

fn time_left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

fn reach(address: &Address, keepalive: Keepalive, deadline: Instant, tried: &mut Tried) -> Option<Socket> {
    let resolved = match address {
        Address::Unix(path) => {
            let connected = time_left(deadline).and_then(|left| sockopt::connect_unix(path, left));
            return connected
                .map(Socket::from)
                .map_err(|error| tried.add(&path.display().to_string(), &error))
                .ok();
        }
        Address::Tcp(_, port, Some(ip)) => vec![SocketAddr::new(*ip, *port)],
        Address::Tcp(host, port, None) => {
            let addresses = (host.as_str(), *port).to_socket_addrs();
            addresses.map_err(|error| tried.add(host, &error)).ok()?.collect()
        }
    };
    resolved.iter().find_map(|address| {
        let connected = time_left(deadline)
            .and_then(|left| TcpStream::connect_timeout(address, left))
            .and_then(|stream| prepare(stream, keepalive));
        connected.map(Socket::from).map_err(|error| tried.add(&address.to_string(), &error)).ok()
    })
}

fn prepare(stream: TcpStream, keepalive: Keepalive) -> io::Result<TcpStream> {
    // An operation is one small packet each way, and waiting to fill a packet would dominate the response
    // time.
    stream.set_nodelay(true)?;
    sockopt::set_keepalive(&stream, keepalive)?;
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_answering_address_is_used_and_failures_are_reported() {
        let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = server.local_addr().unwrap().port();
        let nowhere = Address::Unix("/there/is/no/such.sock".into());
        let reachable =
            Address::Tcp("a name that is not looked up".into(), port, Some([127, 0, 0, 1].into()));
        let deadline = Instant::now() + Duration::from_secs(60);
        let candidates = [nowhere, reachable];
        let dial = |addresses| dial(addresses, Keepalive::FREQUENT, deadline, &Breaker::default());
        assert_eq!(dial(&candidates).unwrap().1, &candidates[1]);
        let tried = dial(&candidates[..1]).unwrap_err();
        assert!(tried.starts_with("/there/is/no/such.sock (No such file"), "{tried}");
    }

    #[test]
    fn idle_connection_sends_keepalive_within_a_minute() {
        let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(server.local_addr().unwrap()).unwrap();
        let stream = prepare(stream, Keepalive::FREQUENT).unwrap();
        // Linux lists a connection with its timer: 02 is keep-alive, followed by hundredths of a second.
        let local = format!("0100007F:{:04X}", stream.local_addr().unwrap().port());
        let connections = std::fs::read_to_string("/proc/net/tcp").unwrap();
        let fields = connections.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let connection = fields.into_iter().find(|fields| fields[1] == local).expect("it is listed");
        let (kind, rest) = connection[5].split_once(':').unwrap();
        let hundredths = u64::from_str_radix(rest, 16).unwrap();
        assert!(kind == "02", "{connection:?}");
        assert!(hundredths <= 6_000, "{connection:?}");
    }
}
