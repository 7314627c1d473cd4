//! Answers `GET /metrics`: as little of HTTP as scraping needs.
//!
//! Each connection has a short-lived thread and a bounded time. When too many are open, the oldest is closed, so that idle ones
//! keep no scraper out.

use std::collections::VecDeque;
use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::metrics::Metrics;
use crate::{OPENMETRICS, PLAIN};

/// Bytes that a request has at most.
const REQUEST_MAX: usize = 8_192;
/// How long a request and its answer may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// Connections at once.
const CONNECTIONS_MAX: usize = 32;

/// Who may read the metrics.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct MetricsAccess {
    /// The token that a request has to send as a bearer's.
    pub token: Option<String>,
    /// Whether everyone who reaches an address beyond this machine may read them without one.
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
    /// The address is open to other machines, and nothing says that they may read there.
    #[error("{0} is open to other machines, which would read the metrics without a token")]
    Open(SocketAddr),
    /// Nobody can listen there.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Serves metrics until the process ends.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
}

/// What every connection needs.
#[derive(Debug)]
struct Shared {
    metrics: Metrics,
    access: MetricsAccess,
    address: SocketAddr,
    /// Connections that are being answered, the oldest first.
    open: Mutex<VecDeque<(u64, TcpStream)>>,
}

impl Server {
    /// Listens on `address`, such as `127.0.0.1:9750` or `:9750`, the latter on this machine alone.
    ///
    /// # Errors
    /// Nobody can listen there, or the address is open to other machines without a token or their leave.
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
        let shared = Arc::new(Shared { metrics, access, address, open: Mutex::default() });
        std::thread::Builder::new().name("dyno-metrics".into()).spawn(move || accept(&listener, &shared))?;
        Ok(Self { address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for (number, stream) in (0..).zip(listener.incoming()) {
        // Accepting fails while the process has no free descriptors. The pause keeps this loop from using a whole processor.
        let Ok(stream) = stream else {
            std::thread::sleep(Duration::from_millis(100));
            continue;
        };
        let Ok(kept) = stream.try_clone() else { continue };
        {
            let mut open = shared.open();
            if open.len() >= CONNECTIONS_MAX
                && let Some((_, oldest)) = open.pop_front()
            {
                let _ = oldest.shutdown(Shutdown::Both);
            }
            open.push_back((number, kept));
        }
        let own = Arc::clone(shared);
        let work = move || {
            // A client that went away gets no answer.
            let _ = answer(stream, &own);
            own.open().retain(|(other, _)| *other != number);
        };
        if std::thread::Builder::new().name("dyno-metrics".into()).spawn(work).is_err() {
            shared.open().retain(|(other, _)| *other != number);
        }
    }
}

impl Shared {
    fn open(&self) -> MutexGuard<'_, VecDeque<(u64, TcpStream)>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why a request is not answered; absent where it is.
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
                _ => Some(("401 Unauthorized", "send the token of --metrics-token-file as a bearer's\n")),
            };
        }
        // A page of another site whose name was made to point here sends that name.
        let host = header("host")?;
        (!is_own_host(&host, self.address))
            .then_some(("421 Misdirected Request", "this server has another name\n"))
    }
}

/// Whether both are the same, in a time that says nothing of where they differ.
fn is_equal(one: &str, other: &str) -> bool {
    let differs = one.bytes().zip(other.bytes()).fold(0, |differs, (a, b)| differs | (a ^ b));
    one.len() == other.len() && differs == 0
}

/// Whether `Host` names an address, and not a name that somebody else may have made to point here.
fn is_own_host(host: &str, address: SocketAddr) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.parse() == Ok(address.port()) => name,
        _ => host,
    };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok()
}

fn answer(mut stream: TcpStream, shared: &Shared) -> io::Result<()> {
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
        (None, Response::NotFound) => ("404 Not Found", "text/plain", "only /metrics is here\n".to_owned()),
        (None, Response::NotAllowed) => {
            ("405 Method Not Allowed", "text/plain", "only GET is answered\n".to_owned())
        }
        (None, Response::Bad) => ("400 Bad Request", "text/plain", "this is no request\n".to_owned()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}

/// A request up to the end of its head.
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

/// Whether the one who asks takes the newer of the two formats.
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

/// What a request's first line asks for.
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
    fn only_what_scrapes_is_answered() {
        let of = |request: &str| response(request.as_bytes());
        assert_eq!(of("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"), Response::Metrics);
        assert_eq!(of("GET /metrics?x=1 HTTP/1.0\r\n\r\n"), Response::Metrics);
        assert_eq!(of("GET /etc/passwd HTTP/1.1\r\n\r\n"), Response::NotFound);
        assert_eq!(of("POST /metrics HTTP/1.1\r\n\r\n"), Response::NotAllowed);
        for bad in ["", "GET", "GET /metrics", "GET metrics HTTP/1.1\r\n", "\u{0}\u{1}", "GET / HTTP/1.1 x"] {
            assert_eq!(of(bad), Response::Bad, "{bad:?}");
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
    fn a_scrape_gets_open_metrics() {
        let server = start(MetricsAccess::default());
        let answer = ask(&server, "Host: localhost\r\nAccept: application/openmetrics-text\r\n");
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains("openmetrics-text"), "{head}");
        assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{head}");
        assert!(body.contains("dyno_phase{phase=\"idle\"} 1\n") && body.ends_with("# EOF\n"), "{body}");
    }

    #[test]
    fn other_names_and_missing_tokens_are_refused() {
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
    fn address_beyond_this_machine_needs_a_token_or_leave() {
        let start = |access: MetricsAccess| Server::start("0.0.0.0:0", Metrics::new(), access);
        let refused = start(MetricsAccess::default()).unwrap_err();
        assert!(matches!(refused, ServeMetricsError::Open(_)), "{refused}");
        assert!(start(MetricsAccess { token: Some("t".into()), open: false }).is_ok());
        assert!(start(MetricsAccess { token: None, open: true }).is_ok());
    }

    #[test]
    fn idle_connections_keep_no_scraper_out() {
        let server = start(MetricsAccess::default());
        let held: Vec<TcpStream> =
            (0..3 * CONNECTIONS_MAX).map(|_| TcpStream::connect(server.address()).unwrap()).collect();
        assert!(ask(&server, "Host: localhost\r\n").starts_with("HTTP/1.1 200"));
        drop(held);
    }
}
