//! A `dyno serve`, and raw HTTP requests to it, so that a test can send what no browser would.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::sync::Arc;

use rustls::pki_types::{CertificateDer, ServerName, pem::PemObject as _};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::Value;

use super::json::ExpectJson;
use super::{TestEnv, wait_until};

/// A `dyno serve` in progress.
pub struct WebServer {
    child: Child,
    pub address: String,
    pub token: String,
    /// TLS configuration, if it is used.
    tls: Option<Arc<ClientConfig>>,
}

/// A connection to a server, with or without TLS.
pub trait WebStream: Read + Write {}

impl<W: Read + Write> WebStream for W {}

#[derive(Debug)]
pub struct WebResponse {
    pub status: u16,
    pub head: String,
    pub body: String,
    /// The cookie that it sets, in its original case.
    pub raw_cookie: Option<String>,
}

impl WebServer {
    /// Starts one on any free port.
    pub fn start(desk: &TestEnv, args: &[&str]) -> Self {
        Self::try_start(desk, args).expect("a server that says where it is")
    }

    /// Starts one that may refuse to start.
    pub fn try_start(desk: &TestEnv, args: &[&str]) -> Option<Self> {
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

    /// Uses TLS at `address` from now on, with a certificate of this authority: the server's own address, or
    /// a proxy's.
    pub fn use_tls(&mut self, address: &str, ca_cert: &str) {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(ca_cert.as_bytes()).unwrap()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config =
            ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        self.tls = Some(Arc::new(config.with_root_certificates(roots).with_no_client_auth()));
        address.clone_into(&mut self.address);
    }

    pub fn connect(&self) -> Box<dyn WebStream> {
        let stream = TcpStream::connect(&self.address).unwrap();
        let Some(config) = &self.tls else { return Box::new(stream) };
        let name = ServerName::try_from("localhost").unwrap();
        Box::new(StreamOwned::new(ClientConnection::new(Arc::clone(config), name).unwrap(), stream))
    }

    /// Origin of its pages as browsers send it.
    pub fn origin(&self) -> String {
        format!("{}://{}", if self.tls.is_some() { "https" } else { "http" }, self.address)
    }

    /// Kills it, like a machine failure.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends a request with these header lines.
    pub fn send(&self, request: &str, head: &[&str], body: &str) -> WebResponse {
        let mut stream = self.connect();
        let mut text =
            format!("{request} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        if !head.iter().any(|line| line.starts_with("Host:")) {
            text.push_str(&format!("Host: {}\r\n", self.address));
        }
        head.iter().for_each(|line| text.push_str(&format!("{line}\r\n")));
        stream.write_all(format!("{text}\r\n{body}").as_bytes()).unwrap();
        let mut bytes = Vec::new();
        // Some servers close without a TLS close notification.
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let cookie_line = head.lines().find(|line| line.to_ascii_lowercase().starts_with("set-cookie: "));
        let raw_cookie =
            cookie_line.and_then(|line| Some(line.split_once(": ")?.1.split(';').next()?.to_owned()));
        let head = head.to_ascii_lowercase();
        let body =
            if head.contains("transfer-encoding: chunked") { decode_chunked(body) } else { body.to_owned() };
        WebResponse { status, head, body, raw_cookie }
    }

    pub fn bearer(&self) -> String {
        format!("Authorization: Bearer {}", self.token)
    }

    pub fn get(&self, path: &str) -> WebResponse {
        self.send(&format!("GET {path}"), &[&self.bearer()], "")
    }

    /// Sends JSON with the token.
    pub fn post(&self, path: &str, body: &Value) -> WebResponse {
        let head = [self.bearer(), "Content-Type: application/json".to_owned()];
        self.send(&format!("POST {path}"), &[&head[0], &head[1]], &body.to_string())
    }

    pub fn job(&self, id: &str) -> Value {
        self.get(&format!("/api/v1/jobs/{id}")).json()
    }

    /// Starts a job and returns its name.
    pub fn start_job(&self, order: &Value) -> String {
        let answer = self.post("/api/v1/jobs", order);
        assert_eq!(answer.status, 201, "{answer:#?}");
        answer.json()["id"].text().to_owned()
    }

    /// Waits until a job has this state.
    pub fn wait_for_job(&self, id: &str, state: &str) {
        wait_until(&format!("{id} to be {state}"), || self.job(id)["job"]["state"] == state);
    }

    /// Waits until the window of a job has an interval.
    pub fn wait_until_measured(&self, id: &str) {
        wait_until(&format!("the first interval of {id}"), || !self.job(id)["progress"]["last"].is_null());
    }
}

impl WebResponse {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}

impl Drop for WebServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Decodes a chunked body, where a length precedes each chunk.
fn decode_chunked(mut rest: &str) -> String {
    let mut whole = String::new();
    while let Some((length, behind)) = rest.split_once("\r\n") {
        let length = usize::from_str_radix(length.trim(), 16).unwrap_or(0);
        let Some(piece) = behind.get(..length).filter(|_| length > 0) else { break };
        whole.push_str(piece);
        rest = behind[length..].trim_start_matches("\r\n");
    }
    whole
}
