//! A server of pages, and requests to it byte by byte, so that a test can send what no browser would.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::sync::Arc;

use rustls::pki_types::{CertificateDer, ServerName, pem::PemObject as _};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::Value;

use super::{Desk, until};

/// A `dyno serve` at work.
pub struct Web {
    child: Child,
    pub address: String,
    pub token: String,
    /// How TLS is spoken with it, if it is.
    tls: Option<Arc<ClientConfig>>,
}

/// A way to a server, through TLS or not.
pub trait Way: Read + Write {}

impl<W: Read + Write> Way for W {}

/// What it answered.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
    /// The cookie that it gives, with its capitals.
    pub raw_cookie: Option<String>,
}

impl Web {
    /// Starts one on any free port.
    pub fn start(desk: &Desk, args: &[&str]) -> Self {
        Self::try_start(desk, args).expect("a server that says where it is")
    }

    /// The same of one that may refuse.
    pub fn try_start(desk: &Desk, args: &[&str]) -> Option<Self> {
        let free: &[&str] = if args.contains(&"--listen") { &[] } else { &["--listen", "127.0.0.1:0"] };
        let mut command = desk.command(&[&["serve"], free, args].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        let Some((_, address)) = url.trim().split_once("://") else {
            child.wait().unwrap();
            return None;
        };
        assert!(!url.contains("token"), "only a terminal is shown the token: {url}");
        let state = args.windows(2).find(|pair| pair[0] == "--state").map_or("runs.serve", |pair| pair[1]);
        let token = std::fs::read_to_string(desk.file(state).join("token")).unwrap_or_default();
        Some(Self { child, address: address.to_owned(), token: token.trim().to_owned(), tls: None })
    }

    /// From now on it is asked by TLS at `address`, whose certificate is of this authority: its own door, or a proxy's.
    pub fn by_tls(&mut self, address: &str, ca_cert: &str) {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(ca_cert.as_bytes()).unwrap()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config =
            ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        self.tls = Some(Arc::new(config.with_root_certificates(roots).with_no_client_auth()));
        address.clone_into(&mut self.address);
    }

    /// A connection.
    pub fn connect(&self) -> Box<dyn Way> {
        let stream = TcpStream::connect(&self.address).unwrap();
        let Some(config) = &self.tls else { return Box::new(stream) };
        let name = ServerName::try_from("localhost").unwrap();
        Box::new(StreamOwned::new(ClientConnection::new(Arc::clone(config), name).unwrap(), stream))
    }

    /// Where its pages come from, as browsers say it.
    pub fn origin(&self) -> String {
        format!("{}://{}", if self.tls.is_some() { "https" } else { "http" }, self.address)
    }

    /// Ends it as a machine would that loses it.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends a request with these lines in its head.
    pub fn send(&self, request: &str, head: &[&str], body: &str) -> Answer {
        let mut stream = self.connect();
        let mut text =
            format!("{request} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        if !head.iter().any(|line| line.starts_with("Host:")) {
            text.push_str(&format!("Host: {}\r\n", self.address));
        }
        head.iter().for_each(|line| text.push_str(&format!("{line}\r\n")));
        stream.write_all(format!("{text}\r\n{body}").as_bytes()).unwrap();
        let mut bytes = Vec::new();
        // Some close without a farewell of TLS.
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let given = head.lines().find(|line| line.to_ascii_lowercase().starts_with("set-cookie: "));
        let raw_cookie = given.and_then(|line| Some(line.split_once(": ")?.1.split(';').next()?.to_owned()));
        let head = head.to_ascii_lowercase();
        let body = if head.contains("transfer-encoding: chunked") { whole(body) } else { body.to_owned() };
        Answer { status, head, body, raw_cookie }
    }

    pub fn bearer(&self) -> String {
        format!("Authorization: Bearer {}", self.token)
    }

    /// Asks with the token.
    pub fn get(&self, path: &str) -> Answer {
        self.send(&format!("GET {path}"), &[&self.bearer()], "")
    }

    /// Sends JSON with the token.
    pub fn post(&self, path: &str, body: &Value) -> Answer {
        let head = [self.bearer(), "Content-Type: application/json".to_owned()];
        self.send(&format!("POST {path}"), &[&head[0], &head[1]], &body.to_string())
    }

    /// How a job stands.
    pub fn job(&self, id: &str) -> Value {
        self.get(&format!("/api/v1/jobs/{id}")).json()
    }

    /// Starts something, and gives its name.
    pub fn begin(&self, order: &Value) -> String {
        let answer = self.post("/api/v1/jobs", order);
        assert_eq!(answer.status, 201, "{answer:#?}");
        answer.json()["id"].as_str().unwrap().to_owned()
    }

    /// Waits until a job stands so.
    pub fn until(&self, id: &str, state: &str) {
        until(&format!("{id} to be {state}"), || self.job(id)["job"]["state"] == state);
    }

    /// Waits until the window of a job has an interval.
    pub fn until_measured(&self, id: &str) {
        until(&format!("the first interval of {id}"), || !self.job(id)["progress"]["last"].is_null());
    }
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What came in pieces, each behind its length.
fn whole(mut rest: &str) -> String {
    let mut whole = String::new();
    while let Some((length, behind)) = rest.split_once("\r\n") {
        let length = usize::from_str_radix(length.trim(), 16).unwrap_or(0);
        let Some(piece) = behind.get(..length).filter(|_| length > 0) else { break };
        whole.push_str(piece);
        rest = behind[length..].trim_start_matches("\r\n");
    }
    whole
}
