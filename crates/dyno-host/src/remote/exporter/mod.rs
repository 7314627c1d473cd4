//! Reads a machine through Prometheus node_exporter. Its counters come from the kernel's files, under other
//! names. What it does not report is absent, with a reason.

mod access;
mod counters;
mod description;
mod text;

use std::io::Read as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dyno_plan::HostScheme;

use super::{
    HostAccess, HostDescription, HostPlace, HostSource, Now, RemoteTime, SourceError, SourceErrorKind,
    TimedHostSnapshot,
};
use crate::counted::HostCounterReader;
use crate::files::Root;
use crate::locate::Location;
use crate::tree::HostFileTree;
use text::ExporterSamples;

/// Largest answer in bytes: ordinary answers have 60 KB, those of machines with thousands of devices a few
/// MB.
const BYTES_MAX: u64 = 16 << 20;
/// The most devices and interfaces that are counted separately.
const NAMES_MAX: usize = 1_000;
/// The default port of node_exporter.
const PORT: u16 = 9_100;

/// A machine that answers over HTTP.
pub(super) struct NodeExporterSource {
    /// The machine's name in errors.
    name: String,
    url: String,
    /// Keeps the connection open between requests, where the server allows it.
    agent: ureq::Agent,
    /// The `Authorization` header of every request. Never printed.
    authorization: Option<String>,
    now: Now,
    root: Root,
    counted: HostCounterReader,
}

impl NodeExporterSource {
    pub(super) fn new(way: &HostAccess, now: &Now) -> Result<Self, SourceError> {
        let url = &way.url;
        let name = url.to_string();
        let host = if url.host.contains(':') { format!("[{}]", url.host) } else { url.host.clone() };
        let http = if url.scheme == HostScheme::NodeExporterTls { "https" } else { "http" };
        Ok(Self {
            url: format!("{http}://{host}:{}/metrics", url.port.unwrap_or(PORT)),
            agent: access::agent(way, &name)?,
            authorization: access::authorization(way),
            name,
            now: Now::clone(now),
            root: Root::Fetched(Arc::new(HostFileTree::default())),
            counted: HostCounterReader::new(&[], None, NAMES_MAX),
        })
    }

    fn wrong(&self, kind: SourceErrorKind, words: &str) -> SourceError {
        SourceError::new(kind, format!("{}: {words}", self.name))
    }

    /// One answer, and the times before and after it.
    fn scrape(&self, patience: Duration) -> Result<(ExporterSamples, TimedHostSnapshot), SourceError> {
        let mut request = self.agent.get(&self.url).header("Accept", "text/plain;version=0.0.4");
        if let Some(authorization) = &self.authorization {
            request = request.header("Authorization", authorization);
        }
        let within = Some(patience.max(Duration::from_millis(1)));
        let asked_ns = (self.now)();
        let answer = request.config().timeout_global(within).build().call();
        let mut answer = answer.map_err(|error| self.failed(&error))?;
        let mut bytes = Vec::new();
        let read = answer.body_mut().as_reader().take(BYTES_MAX + 1).read_to_end(&mut bytes);
        let answered_ns = (self.now)();
        if let Err(error) = read {
            let kind = match error.kind() {
                std::io::ErrorKind::TimedOut => SourceErrorKind::Late,
                _ => SourceErrorKind::Unreachable,
            };
            return Err(self.wrong(kind, &format!("its answer ended early: {error}")));
        }
        if bytes.len() as u64 > BYTES_MAX {
            let words = format!("it sent more than {} MiB", BYTES_MAX >> 20);
            return Err(self.wrong(SourceErrorKind::Nonsense, &words).hint(NOT_IT));
        }
        let samples = ExporterSamples::of(&String::from_utf8_lossy(&bytes));
        if samples.value("node_time_seconds").is_none() && samples.value("node_boot_time_seconds").is_none() {
            return Err(self
                .wrong(SourceErrorKind::Nonsense, "the server that answers is not a node_exporter")
                .hint(NOT_IT));
        }
        let far =
            samples.value("node_time_seconds").filter(|time_s| (0.0..9e9).contains(time_s)).map(|time_s| {
                // A number of this size has a resolution of a quarter of a microsecond.
                let ns = (time_s * 1e9) as u64;
                RemoteTime { begin_ns: ns, end_ns: ns, resolution_ns: 1_000 }
            });
        // Its collectors run in parallel, each at a time of its own.
        Ok((
            samples,
            TimedHostSnapshot {
                asked_ns,
                answered_ns,
                far,
                within_far: false,
                ..TimedHostSnapshot::default()
            },
        ))
    }

    fn failed(&self, error: &ureq::Error) -> SourceError {
        let (kind, hint) = match error {
            ureq::Error::Timeout(_) => (SourceErrorKind::Late, ""),
            ureq::Error::StatusCode(401 | 403) => (SourceErrorKind::Denied, NOT_LET_IN),
            ureq::Error::StatusCode(400) => (SourceErrorKind::Nonsense, BY_TLS),
            ureq::Error::Rustls(_) | ureq::Error::Tls(_) => (SourceErrorKind::Unproven, NOT_PROVEN),
            ureq::Error::Io(error) if is_of_tls(error) => (SourceErrorKind::Unproven, NOT_PROVEN),
            ureq::Error::StatusCode(_) => (SourceErrorKind::Nonsense, NOT_IT),
            ureq::Error::HostNotFound => (SourceErrorKind::Unreachable, "check its name"),
            _ => (
                SourceErrorKind::Unreachable,
                "check that node_exporter runs there, its address and port, and that no firewall blocks it",
            ),
        };
        self.wrong(kind, &error.to_string()).hint(hint)
    }
}

/// Whether a connection ended because of a TLS error.
fn is_of_tls(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::InvalidData
}

const NOT_LET_IN: &str = "write the user into the URL, and the source of the password beside it: \
                          password_env = \"VARIABLE\" or password_file = \"FILE\"";
const BY_TLS: &str = "if it uses TLS, write node-exporter+https://HOST:PORT";
const NOT_PROVEN: &str = "name the authority of its certificate, ca = \"FILE\", and the host as in the \
                          certificate; without TLS, write node-exporter://HOST:PORT";
const NOT_IT: &str = "name the address and port of Prometheus' node_exporter, 9100 by default";

impl HostSource for NodeExporterSource {
    fn describe(&mut self, places: &[HostPlace], patience: Duration) -> Result<HostDescription, SourceError> {
        let (samples, _) = self.scrape(patience)?;
        let (tree, mut missing) = description::tree(&samples, places);
        self.root = Root::Fetched(Arc::new(tree));
        let located: Vec<Location> =
            places.iter().map(|(name, path)| Location::find(&self.root, name, path.as_ref())).collect();
        self.counted = HostCounterReader::new(&located, Some(counters::TICKS_PER_S), NAMES_MAX);
        let snapshot = counters::snapshot(&samples, &mut self.counted, &self.root);
        missing.extend(description::missing(&snapshot));
        let mut host = crate::facts::of_places(&self.root, &located);
        description::complete(&mut host, &samples);
        Ok(HostDescription {
            host,
            missing,
            boot: samples.value("node_boot_time_seconds").map(|s| format!("{s:.0}")),
        })
    }

    fn clock(&mut self, patience: Duration) -> Result<TimedHostSnapshot, SourceError> {
        Ok(self.scrape(patience)?.1)
    }

    fn read(&mut self, patience: Duration) -> Result<TimedHostSnapshot, SourceError> {
        let until = Instant::now() + patience;
        let (samples, reading) = self.scrape(until.saturating_duration_since(Instant::now()))?;
        let snapshot = counters::snapshot(&samples, &mut self.counted, &self.root);
        Ok(TimedHostSnapshot { snapshot, ..reading })
    }
}

#[cfg(test)]
mod tests;
