//! Answers `GET /metrics` with the small part of HTTP that scrapers need.
//!
//! Each connection has a short-lived thread and a time limit. When too many connections are open, the server
//! closes the oldest, so idle connections cannot block a scraper.

use std::collections::VecDeque;
use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::metrics::Metrics;
use crate::{OPENMETRICS, PLAIN};

/// Maximum size of a request, bytes.
const REQUEST_MAX: usize = 8_192;
/// Maximum time for a request and its answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// Maximum number of connections open at the same time.
const CONNECTIONS_MAX: usize = 32;

/// Who may read the metrics, and whether a token is needed.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct MetricsAccess {
    /// The bearer token that a request must send; absent if none is needed.
    pub token: Option<String>,
    /// Whether an address that other machines can reach may be served without a token.
    pub open: bool,
}

impl std::fmt::Debug for MetricsAccess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MetricsAccess")
            .field("has_token", &self.token.is_some())
            .field("open", &self.open)
            .finish()
    }
}

/// Why metrics cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeMetricsError {
    /// The address is reachable from other machines, and access has neither a token nor `open`.
    #[error("{0} is open to other machines, which would read the metrics without a token")]
    Open(SocketAddr),
    /// The server cannot listen on this address.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Serves metrics until the process ends.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
}

/// State that all connections share.
#[derive(Debug)]
struct MetricsServerState {
    metrics: Metrics,
    access: MetricsAccess,
    address: SocketAddr,
    /// Connections that are being answered, oldest first.
    open: Mutex<VecDeque<(u64, TcpStream)>>,
}

impl Server {
    /// Listens on `address`, such as `127.0.0.1:9750`; `:9750` listens on the loopback address only.
    ///
    /// # Errors
    /// The address cannot be used; or other machines can reach it, and `access` has neither a token nor
    /// `open`.
    pub fn start(address: &str, metrics: Metrics, access: MetricsAccess) -> Result<Self, ServeMetricsError> {
        let address = match address.strip_prefix(':') {
            Some(port) => format!("127.0.0.1:{port}"),
            None => address.to_owned(),
        };
        let addresses: Vec<SocketAddr> = address.to_socket_addrs()?.collect();
        let public = addresses.iter().find(|address| !address.ip().is_loopback());
        if let Some(public) = public.filter(|_| access.token.is_none() && !access.open) {
            return Err(ServeMetricsError::Open(*public));
        }
        let listener = TcpListener::bind(&addresses[..])?;
        let address = listener.local_addr()?;
        let shared = Arc::new(MetricsServerState { metrics, access, address, open: Mutex::default() });
        std::thread::Builder::new().name("dyno-metrics".into()).spawn(move || accept(&listener, &shared))?;
        Ok(Self { address })
    }

    /// The address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

fn accept(listener: &TcpListener, shared: &Arc<MetricsServerState>) {
    for (number, stream) in (0..).zip(listener.incoming()) {
        // Accepting fails while the process has no free file descriptors. The pause prevents a busy loop.
        let Ok(stream) = stream else {
            std::thread::sleep(Duration::from_millis(100));
            continue;
        };
        let Ok(kept) = stream.try_clone() else { continue };
        {
            let mut open = shared.open.lock();
            if open.len() >= CONNECTIONS_MAX
                && let Some((_, oldest)) = open.pop_front()
            {
                let _ = oldest.shutdown(Shutdown::Both);
            }
            open.push_back((number, kept));
        }
        let worker_shared = Arc::clone(shared);
        let work = move || {
            // The client may have disconnected; then nobody needs the answer.
            let _ = answer(stream, &worker_shared);
            worker_shared.open.lock().retain(|(other, _)| *other != number);
        };
        if std::thread::Builder::new().name("dyno-metrics".into()).spawn(work).is_err() {
            shared.open.lock().retain(|(other, _)| *other != number);
        }
    }
}

impl MetricsServerState {
    /// Returns the status and text of a refusal; absent if the request is allowed.
    fn refusal(&self, request: &[u8]) -> Option<(&'static str, &'static str)> {
        let text = String::from_utf8_lossy(request);
        let header = |name: &str| {
            text.lines()
                .skip(1)
                .filter_map(|line| line.split_once(':'))
                .find_map(|(known, value)| known.eq_ignore_ascii_case(name).then(|| value.trim().to_owned()))
        };
        if let Some(token) = &self.access.token {
            let authorization = header("authorization").unwrap_or_default();
            let shown =
                authorization.split_once(' ').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
            return match shown {
                Some((_, shown)) if is_equal(shown.trim(), token) => None,
                _ => Some(("401 Unauthorized", "send the token of --metrics-token-file as a bearer token\n")),
            };
        }
        // Guards against DNS rebinding: a page of another site sends that site's name as `Host`.
        let host = header("host")?;
        (!is_own_host(&host, self.address))
            .then_some(("421 Misdirected Request", "this server has another name\n"))
    }
}

/// Compares in constant time, so that timing does not reveal where the texts differ.
fn is_equal(left: &str, other: &str) -> bool {
    let differs = left.bytes().zip(other.bytes()).fold(0, |differs, (a, b)| differs | (a ^ b));
    left.len() == other.len() && differs == 0
}

/// Whether `Host` is `localhost` or an IP address, rather than a name that somebody could point at this
/// server.
fn is_own_host(host: &str, address: SocketAddr) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.parse() == Ok(address.port()) => name,
        _ => host,
    };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok()
}

fn answer(mut stream: TcpStream, shared: &MetricsServerState) -> io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    let request = request(&mut stream)?;
    let metrics = &shared.metrics;
    let (status, kind, body) = match (shared.refusal(&request), response(&request)) {
        (Some((status, words)), _) => (status, "text/plain", words.to_owned()),
        (None, Response::Metrics) if accepts_openmetrics(&request) => ("200 OK", OPENMETRICS, metrics.text()),
        (None, Response::Metrics) => ("200 OK", PLAIN, metrics.plain_text()),
        (None, Response::Root) => {
            let page = "<!doctype html><title>dyno</title><a href=\"/metrics\">metrics</a>\n";
            ("200 OK", "text/html; charset=utf-8", page.to_owned())
        }
        (None, Response::NotFound) => ("404 Not Found", "text/plain", "only /metrics exists\n".to_owned()),
        (None, Response::NotAllowed) => {
            ("405 Method Not Allowed", "text/plain", "only GET is allowed\n".to_owned())
        }
        (None, Response::Bad) => ("400 Bad Request", "text/plain", "not a valid request\n".to_owned()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}

/// Reads a request up to the end of its headers.
fn request(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let until = Instant::now() + PATIENCE;
    let (mut request, mut part) = (Vec::new(), [0; 1_024]);
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || request.len() >= REQUEST_MAX {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut part)? {
            0 => break,
            read => request.extend_from_slice(&part[..read]),
        }
    }
    Ok(request)
}

/// Whether the client accepts the OpenMetrics format.
fn accepts_openmetrics(request: &[u8]) -> bool {
    let request = String::from_utf8_lossy(request).to_ascii_lowercase();
    request.lines().any(|line| line.starts_with("accept:") && line.contains("application/openmetrics-text"))
}

#[derive(Debug, PartialEq, Eq)]
enum Response {
    Metrics,
    Root,
    NotFound,
    NotAllowed,
    Bad,
}

/// Decides the response from the request line.
fn response(request: &[u8]) -> Response {
    let line = request.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let mut words = std::str::from_utf8(line).unwrap_or_default().split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Response::Bad;
    };
    if !version.starts_with("HTTP/1.") || !target.starts_with('/') {
        return Response::Bad;
    }
    match (method, target.split('?').next().unwrap_or_default()) {
        ("GET", "/metrics") => Response::Metrics,
        ("GET", "/") => Response::Root,
        ("GET", _) => Response::NotFound,
        _ => Response::NotAllowed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_server_answers_only_scrape_requests() {
        let parsed = |request: &str| response(request.as_bytes());
        assert_eq!(parsed("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"), Response::Metrics);
        assert_eq!(parsed("GET /metrics?x=1 HTTP/1.0\r\n\r\n"), Response::Metrics);
        assert_eq!(parsed("GET /etc/passwd HTTP/1.1\r\n\r\n"), Response::NotFound);
        assert_eq!(parsed("POST /metrics HTTP/1.1\r\n\r\n"), Response::NotAllowed);
        for bad in ["", "GET", "GET /metrics", "GET metrics HTTP/1.1\r\n", "\u{0}\u{1}", "GET / HTTP/1.1 x"] {
            assert_eq!(parsed(bad), Response::Bad, "{bad:?}");
        }
    }

    fn ask(server: &Server, head: &str) -> String {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.write_all(format!("GET /metrics HTTP/1.1\r\n{head}\r\n").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn start(access: MetricsAccess) -> Server {
        Server::start("127.0.0.1:0", Metrics::new(), access).unwrap()
    }

    #[test]
    fn scrape_returns_openmetrics_text() {
        let server = start(MetricsAccess::default());
        let answer = ask(&server, "Host: localhost\r\nAccept: application/openmetrics-text\r\n");
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        assert!(head.contains("openmetrics-text"), "{head}");
        assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{head}");
        assert!(body.contains("dyno_phase{phase=\"idle\"} 1\n"), "{body}");
        assert!(body.ends_with("# EOF\n"), "{body}");
    }

    #[test]
    fn metrics_server_refuses_foreign_hosts_and_missing_tokens() {
        let server = start(MetricsAccess::default());
        let port = server.address().port();
        for host in
            [format!("127.0.0.1:{port}"), format!("[::1]:{port}"), "LOCALHOST".into(), "10.0.0.7".into()]
        {
            assert!(ask(&server, &format!("Host: {host}\r\n")).starts_with("HTTP/1.1 200"), "{host}");
        }
        for host in
            ["evil.example", "evil.example:80", &format!("evil.example:{port}"), "localhost.evil.example"]
        {
            assert!(ask(&server, &format!("Host: {host}\r\n")).starts_with("HTTP/1.1 421"), "{host}");
        }
        let server = start(MetricsAccess { token: Some("t0ken".into()), open: false });
        for head in
            ["", "Authorization: Bearer t0keN\r\n", "Authorization: Basic t0ken\r\n", "X: Bearer t0ken\r\n"]
        {
            assert!(ask(&server, head).starts_with("HTTP/1.1 401"), "{head}");
        }
        assert!(
            ask(&server, "authorization: bearer t0ken\r\nHost: any.example\r\n").starts_with("HTTP/1.1 200")
        );
        assert!(
            !format!("{:?}", MetricsAccess { token: Some("t0ken".into()), open: false }).contains("t0ken")
        );
    }

    #[test]
    fn non_loopback_address_needs_token_or_permission() {
        let start = |access: MetricsAccess| Server::start("0.0.0.0:0", Metrics::new(), access);
        let refused = start(MetricsAccess::default()).unwrap_err();
        assert!(matches!(refused, ServeMetricsError::Open(_)), "{refused}");
        assert!(start(MetricsAccess { token: Some("t".into()), open: false }).is_ok());
        assert!(start(MetricsAccess { token: None, open: true }).is_ok());
    }

    #[test]
    fn idle_connections_do_not_block_scrapes() {
        let server = start(MetricsAccess::default());
        let held: Vec<TcpStream> =
            (0..3 * CONNECTIONS_MAX).map(|_| TcpStream::connect(server.address()).unwrap()).collect();
        assert!(ask(&server, "Host: localhost\r\n").starts_with("HTTP/1.1 200"));
        drop(held);
    }
}
