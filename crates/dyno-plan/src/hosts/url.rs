//! The URL of a host: its address and the way in which Dyno observes it.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::HostError;
use crate::escape::{ADDRESS, WORD, decode, encode};

/// How Dyno observes a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HostScheme {
    /// Through OpenSSH's client with the user's configuration.
    Ssh,
    /// Over HTTP, from Prometheus' node_exporter.
    NodeExporter,
    /// Over HTTPS, from Prometheus' node_exporter.
    NodeExporterTls,
    /// Through a `dyno agent` on the host.
    Agent,
}

crate::names! {
    /// The scheme of the URL.
    HostScheme {
        Ssh = "ssh",
        NodeExporter = "node-exporter",
        NodeExporterTls = "node-exporter+https",
        Agent = "agent"
    }
}

/// The address of a host and how Dyno observes it: `ssh://dba@db1:22`, `node-exporter://db1:9100`, `agent://db1`, `agent`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct HostUrl {
    /// How Dyno observes the host.
    pub scheme: HostScheme,
    /// The user on that host, if the URL names one.
    pub user: Option<String>,
    /// Its name, its address (IPv6 without brackets), or its alias in the user's configuration of ssh. For an agent: the name
    /// it was started with, or empty for the only agent of its group.
    pub host: String,
    /// The port number, if the URL names one.
    pub port: Option<u16>,
}

/// The forms of host URLs.
pub(crate) const FORMS: &str = "`ssh://USER@HOST:PORT`, `node-exporter://HOST:PORT`, `node-exporter+https://USER@HOST:PORT`, `agent://NAME` or `agent`";

/// Whether it may be the name of a host or user; a leading hyphen would make it an option of a program.
fn is_name(text: &str) -> bool {
    let may = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '%');
    !text.is_empty() && text.len() <= 255 && !text.starts_with('-') && text.chars().all(may)
}

impl HostUrl {
    /// The agent with this name; `None` if the name cannot be part of a URL.
    pub fn of_agent(name: &str) -> Option<Self> {
        let host = is_name(name).then(|| name.to_owned())?;
        Some(Self { scheme: HostScheme::Agent, user: None, host, port: None })
    }

    /// Whether Dyno observes it through node_exporter.
    pub fn is_exporter(&self) -> bool {
        matches!(self.scheme, HostScheme::NodeExporter | HostScheme::NodeExporterTls)
    }
}

impl FromStr for HostUrl {
    type Err = HostError;

    fn from_str(text: &str) -> Result<Self, HostError> {
        let wrong =
            |part: &str, hint: &str| HostError::new(format!("{part} of the URL cannot be read"), hint);
        if text == HostScheme::Agent.name() {
            return Ok(Self { scheme: HostScheme::Agent, user: None, host: String::new(), port: None });
        }
        let (scheme, rest) = text
            .split_once("://")
            .ok_or_else(|| HostError::new("not the URL of a host", format!("write {FORMS}")))?;
        let scheme = HostScheme::from_name(scheme)
            .ok_or_else(|| HostError::new("unknown way to observe a host", format!("write {FORMS}")))?;
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (user, address) = match rest.rsplit_once('@') {
            Some((user, _)) if user.contains(':') => {
                return Err(HostError {
                    is_secret: true,
                    ..HostError::new(
                        "the URL contains a password",
                        "remove it: for node_exporter use password_env or password_file; for ssh, which \
                         cannot prompt here, use a key in an ssh agent or a key without a passphrase",
                    )
                });
            }
            Some((user, address)) => (Some(user), address),
            None => (None, rest),
        };
        let user = match user.map(|user| decode(user).filter(|user| is_name(user))) {
            Some(None) => return Err(wrong("the user", "write letters, digits, `.`, `_` and `-`")),
            Some(_) if scheme == HostScheme::Agent => {
                return Err(wrong("the user", "an agent has no user: write agent://NAME"));
            }
            Some(user) => user,
            None => None,
        };
        let (host, port) = match address.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((host, "")) => (host, None),
            Some((host, rest)) => {
                (host, Some(rest.strip_prefix(':').ok_or_else(|| wrong("the host", "write [ADDRESS]:PORT"))?))
            }
            None => match address.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (address, None),
            },
        };
        let host = decode(host).filter(|host| is_name(host)).ok_or_else(|| {
            wrong("the host", "write one name or address; an IPv6 address in brackets, such as [::1]:22")
        })?;
        let port = match port.map(|port| port.parse().ok().filter(|port| *port > 0)) {
            Some(None) => return Err(wrong("the port", "write an integer from 1 to 65535")),
            Some(Some(_)) if scheme == HostScheme::Agent => {
                return Err(wrong(
                    "the port",
                    "Dyno reaches an agent through the NATS server: write \
                                              agent://NAME",
                ));
            }
            Some(port) => port,
            None => None,
        };
        Ok(Self { scheme, user, host, port })
    }
}

impl fmt::Display for HostUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.is_empty() {
            return f.write_str(self.scheme.name());
        }
        write!(f, "{}://", self.scheme.name())?;
        if let Some(user) = &self.user {
            write!(f, "{}@", encode(user, &WORD))?;
        }
        match self.host.contains(':') {
            true => write!(f, "[{}]", encode(&self.host, &ADDRESS))?,
            false => write!(f, "{}", encode(&self.host, &WORD))?,
        }
        match self.port {
            Some(port) => write!(f, ":{port}"),
            None => Ok(()),
        }
    }
}

impl TryFrom<String> for HostUrl {
    type Error = HostError;

    fn try_from(text: String) -> Result<Self, HostError> {
        text.parse()
    }
}

impl From<HostUrl> for String {
    fn from(url: HostUrl) -> Self {
        url.to_string()
    }
}
