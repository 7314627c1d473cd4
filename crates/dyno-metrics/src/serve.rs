//! Answers `GET /metrics`: as little of HTTP as scraping needs.
//!
//! One thread, one request at a time, each for a bounded time: a scrape takes milliseconds and comes every some seconds, and
//! whoever sends slowly or too much is cut off.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use crate::metrics::Metrics;
use crate::{OPENMETRICS, PLAIN};

/// Bytes that a request has at most.
const REQUEST_MAX: usize = 8_192;
/// How long a request and its answer may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Serves metrics until the process ends.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
}

impl Server {
    /// Listens on `address`, such as `127.0.0.1:9750` or `:9750`, the latter on this machine alone.
    ///
    /// # Errors
    /// Nobody can listen there.
    pub fn start(address: &str, metrics: Metrics) -> io::Result<Self> {
        let address = match address.strip_prefix(':') {
            Some(port) => format!("127.0.0.1:{port}"),
            None => address.to_owned(),
        };
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        std::thread::Builder::new().name("dyno-metrics".into()).spawn(move || {
            for stream in listener.incoming() {
                match stream {
                    // Whoever went away gets no answer.
                    Ok(stream) => drop(answer(stream, &metrics)),
                    // Out of descriptors, such as: it is tried again, without a turning loop.
                    Err(_) => std::thread::sleep(Duration::from_millis(100)),
                }
            }
        })?;
        Ok(Self { address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

fn answer(mut stream: TcpStream, metrics: &Metrics) -> io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    let request = request(&mut stream)?;
    let (status, kind, body) = match response(&request) {
        Response::Metrics if accepts_openmetrics(&request) => ("200 OK", OPENMETRICS, metrics.text()),
        Response::Metrics => ("200 OK", PLAIN, metrics.plain_text()),
        Response::Root => {
            let page = "<!doctype html><title>dyno</title><a href=\"/metrics\">metrics</a>\n";
            ("200 OK", "text/html; charset=utf-8", page.to_owned())
        }
        Response::NotFound => ("404 Not Found", "text/plain", "only /metrics is here\n".to_owned()),
        Response::NotAllowed => ("405 Method Not Allowed", "text/plain", "only GET is answered\n".to_owned()),
        Response::Bad => ("400 Bad Request", "text/plain", "this is no request\n".to_owned()),
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

    #[test]
    fn a_scrape_gets_open_metrics() {
        let server = Server::start("127.0.0.1:0", Metrics::new()).unwrap();
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream
            .write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: application/openmetrics-text\r\n\r\n")
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains("openmetrics-text"), "{head}");
        assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{head}");
        assert!(body.contains("dyno_phase{phase=\"idle\"} 1\n") && body.ends_with("# EOF\n"), "{body}");
    }
}
