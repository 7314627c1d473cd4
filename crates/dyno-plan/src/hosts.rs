//! Machines that a run looks at beside the one that drives it: what each is to the run, and how it is reached.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::escape::{ADDRESS, PATH, WORD, decode, encode};

/// Which part a machine has in a run that a plan names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HostRole {
    /// A database of the run works on it.
    #[default]
    Database,
}

/// How a machine is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HostScheme {
    /// Through OpenSSH's client, with the user's own configuration.
    Ssh,
    /// Through Prometheus' node_exporter.
    NodeExporter,
    /// Through a `dyno agent` on it.
    Agent,
}

crate::names! {
    /// The word in plans.
    HostRole { Database = "database" }
    /// The scheme of its URL.
    HostScheme { Ssh = "ssh", NodeExporter = "node-exporter", Agent = "agent" }
}

/// Where a machine is and how it is looked at: `ssh://dba@db1:22`, `node-exporter://db1:9100`, `agent`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct HostUrl {
    /// How it is looked at.
    pub scheme: HostScheme,
    /// The user there, if it names one.
    pub user: Option<String>,
    /// Its name, its address (IPv6 without brackets) or the name that the user's configuration of ssh has for it; empty for an
    /// agent.
    pub host: String,
    /// The port, if it names one.
    pub port: Option<u16>,
}

/// One machine to look at: `{ role = "database", url = "ssh://db1" }`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostSpec {
    /// Its part in the run.
    pub role: HostRole,
    /// How it is reached.
    pub url: HostUrl,
    /// The number of the target (from 1) whose database works on it; absent is all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<u32>,
    /// Where the database's data is there; absent is what the database says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// Where its redo is there; absent is what the database says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redo: Option<String>,
}

/// What is wrong with the words of a machine, and the way out; repeats nothing of a URL, in which a password may stand.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}: {hint}")]
pub struct HostError {
    /// What is wrong.
    pub problem: String,
    /// The way out.
    pub hint: String,
    /// Whether it is that a password stands there.
    pub is_secret: bool,
}

impl HostError {
    pub(crate) fn new(problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { problem: problem.into(), hint: hint.into(), is_secret: false }
    }
}

/// How URLs of machines are written.
pub(crate) const FORMS: &str = "`ssh://USER@HOST:PORT`, `node-exporter://HOST:PORT` or `agent`";

impl HostSpec {
    /// The database's machine at `url`, with all else left to what the database says.
    pub fn database(url: HostUrl) -> Self {
        Self { role: HostRole::Database, url, target: None, data: None, redo: None }
    }

    /// Whether the database of the target at `place` (from 0) works on it.
    pub fn is_of(&self, place: usize) -> bool {
        self.target.is_none_or(|target| target as usize == place + 1)
    }

    /// Puts the word called `name` into it.
    pub(crate) fn put(&mut self, name: &str, value: &str) -> Result<(), HostError> {
        let path = |value: &str| match value.starts_with('/') && !value.contains(['\0', '\n', '\r']) {
            true => Ok(Some(value.to_owned())),
            false => Err(HostError::new(format!("its {name} is no place"), "write the whole path, from /")),
        };
        match name {
            "role" => {
                self.role = HostRole::from_name(value).ok_or_else(|| {
                    HostError::new(
                        "there is no such role",
                        "write \"database\"; the driving machine is always looked at",
                    )
                })?;
            }
            "target" => {
                let number = value.parse().ok().filter(|number| (1..=100).contains(number));
                self.target = Some(number.ok_or_else(|| {
                    HostError::new("its target is no number of one", "write its place in target.urls, from 1")
                })?);
            }
            "data" => self.data = path(value)?,
            "redo" => self.redo = path(value)?,
            "url" => self.url = value.parse()?,
            _ => {
                return Err(HostError::new(
                    "a machine has no such word",
                    "allowed: role, url, target, data, redo",
                ));
            }
        }
        Ok(())
    }
}

impl FromStr for HostSpec {
    type Err = HostError;

    /// Reads what was shown: a URL, and words of the form `NAME=VALUE` around it; the role may stand alone.
    fn from_str(text: &str) -> Result<Self, HostError> {
        let mut spec: Option<Self> = None;
        let mut rest = Vec::new();
        for word in text.split_ascii_whitespace() {
            match word.split_once('=') {
                Some((name, value)) => rest.push((name, value)),
                None if HostRole::from_name(word).is_some() => rest.push(("role", word)),
                None if spec.is_none() => spec = Some(Self::database(word.parse()?)),
                None => {
                    return Err(HostError::new("it has two URLs", "write one machine a word of the list"));
                }
            }
        }
        let mut spec = spec.ok_or_else(|| HostError::new("it has no URL", format!("write {FORMS}")))?;
        for (name, value) in rest {
            let decoded = decode(value)
                .ok_or_else(|| HostError::new(format!("its {name} cannot be read"), "write % as %25"))?;
            spec.put(name, &decoded)?;
        }
        Ok(spec)
    }
}

impl fmt::Display for HostSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.role.name(), self.url)?;
        if let Some(target) = self.target {
            write!(f, " target={target}")?;
        }
        for (name, path) in [("data", &self.data), ("redo", &self.redo)] {
            if let Some(path) = path {
                write!(f, " {name}={}", encode(path, &PATH))?;
            }
        }
        Ok(())
    }
}

/// Whether it may be the name of a host or of a user: what begins with a hyphen would be an option of a program.
fn is_name(text: &str) -> bool {
    let may = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '%');
    !text.is_empty() && text.len() <= 255 && !text.starts_with('-') && text.chars().all(may)
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
            .ok_or_else(|| HostError::new("it is no URL of a machine", format!("write {FORMS}")))?;
        let scheme =
            HostScheme::from_name(scheme).filter(|scheme| *scheme != HostScheme::Agent).ok_or_else(|| {
                HostError::new("a machine is not looked at in such a way", format!("write {FORMS}"))
            })?;
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (user, address) = match rest.rsplit_once('@') {
            Some((user, _)) if user.contains(':') => {
                return Err(HostError {
                    is_secret: true,
                    ..HostError::new(
                        "the URL holds a password",
                        "take it out: ssh asks nobody here, so give it a key that an agent holds or that has no passphrase",
                    )
                });
            }
            Some((user, address)) => (Some(user), address),
            None => (None, rest),
        };
        let user = match user.map(|user| decode(user).filter(|user| is_name(user))) {
            Some(None) => return Err(wrong("the user", "write letters, digits, `.`, `_` and `-`")),
            Some(user) if scheme == HostScheme::Ssh => user,
            Some(_) => return Err(wrong("the user", "node_exporter knows no users: leave it out")),
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
            Some(None) => return Err(wrong("the port", "write a whole number from 1 to 65535")),
            Some(port) => port,
            None => None,
        };
        Ok(Self { scheme, user, host, port })
    }
}

impl fmt::Display for HostUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.scheme == HostScheme::Agent {
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

#[cfg(test)]
mod tests;
