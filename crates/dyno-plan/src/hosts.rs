//! Hosts that a run observes besides the driver host: their roles and how Dyno reaches them.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::escape::{PATH, decode, encode};

mod error;
mod url;

pub use error::HostError;
pub(crate) use url::FORMS;
pub use url::{HostScheme, HostUrl};

/// The role of a host in a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HostRole {
    /// A database of the run runs on this host.
    #[default]
    Database,
}

crate::names! {
    /// The word used in plan files.
    HostRole { Database = "database" }
}

/// One host to observe: `{ role = "database", url = "ssh://db1" }`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostSpec {
    /// The role of the host in the run.
    pub role: HostRole,
    /// How Dyno reaches the host.
    pub url: HostUrl,
    /// The number of the target (from 1) whose database runs on it; absent for all targets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<u32>,
    /// Directory of the database's data on that host; absent to use what the database reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// Directory of its redo on that host; absent to use what the database reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redo: Option<String>,
    /// The environment variable with the password of the URL's user, for a node_exporter that asks for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password_env: Option<String>,
    /// The file whose first line is the password of the URL's user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password_file: Option<String>,
    /// A PEM file with the certificate authorities that may sign node_exporter's certificate; absent to use those of this host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca: Option<String>,
}

/// The words that describe a host.
pub(crate) const WORDS: &str =
    "allowed: role, url, target, data, redo, and of node_exporter password_env, password_file, ca";

/// Whether `name` is a valid name of an environment variable.
pub(crate) fn is_variable(name: &str) -> bool {
    let first = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    first && name.len() <= 255 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

impl HostSpec {
    /// The database's host at `url`; directories are those that the database reports.
    pub fn database(url: HostUrl) -> Self {
        Self {
            role: HostRole::Database,
            url,
            target: None,
            data: None,
            redo: None,
            password_env: None,
            password_file: None,
            ca: None,
        }
    }

    /// Whether the database of the target with index `place` (from 0) runs on it.
    pub fn is_of(&self, place: usize) -> bool {
        self.target.is_none_or(|target| target as usize == place + 1)
    }

    /// Sets the word called `name`.
    pub(crate) fn put(&mut self, name: &str, value: &str) -> Result<(), HostError> {
        let path = |value: &str| match value.starts_with('/') && !value.contains(['\0', '\n', '\r']) {
            true => Ok(Some(value.to_owned())),
            false => Err(HostError::new(format!("{name} is not a path"), "write an absolute path")),
        };
        match name {
            "role" => {
                self.role = HostRole::from_name(value).ok_or_else(|| {
                    HostError::new("unknown role", "write \"database\"; the driver host is always observed")
                })?;
            }
            "target" => {
                let number = value.parse().ok().filter(|number| (1..=100).contains(number));
                self.target = Some(number.ok_or_else(|| {
                    HostError::new(
                        "target is not the number of a target",
                        "write its position in \
                                                                            target.urls, starting at 1",
                    )
                })?);
            }
            "data" => self.data = path(value)?,
            "redo" => self.redo = path(value)?,
            "url" => self.url = value.parse()?,
            "password_env" if is_variable(value) => self.password_env = Some(value.to_owned()),
            "password_env" => {
                return Err(HostError::new(
                    "password_env is not the name of an environment variable",
                    "write the name of the variable that contains the password",
                ));
            }
            "password_file" | "ca" => {
                if value.is_empty() || value.contains(['\0', '\n', '\r']) {
                    return Err(HostError::new(format!("{name} is not a file"), "write the path of a file"));
                }
                let file = if name == "ca" { &mut self.ca } else { &mut self.password_file };
                *file = Some(value.to_owned());
            }
            _ => return Err(HostError::new("unknown field of a host", WORDS)),
        }
        Ok(())
    }

    /// Checks that its words are consistent.
    pub(crate) fn whole(self) -> Result<Self, HostError> {
        let has_password = self.password_env.is_some() || self.password_file.is_some();
        let wrong = |problem: &str, hint: &str| Err(HostError::new(problem, hint));
        if self.password_env.is_some() && self.password_file.is_some() {
            return wrong("both password_env and password_file are given", "remove one of them");
        }
        if has_password && !(self.url.is_exporter() && self.url.user.is_some()) {
            return wrong(
                "a password is given without a user of node_exporter",
                "write the user into the URL: node-exporter+https://USER@HOST:PORT",
            );
        }
        if self.url.is_exporter() && self.url.user.is_some() && !has_password {
            return wrong(
                "a user of node_exporter is given without a password",
                "give its source: password_env = \"VARIABLE\" or password_file = \"FILE\"",
            );
        }
        if self.ca.is_some() && self.url.scheme != HostScheme::NodeExporterTls {
            return wrong("ca is given without TLS", "write node-exporter+https://HOST:PORT");
        }
        Ok(self)
    }
}

impl FromStr for HostSpec {
    type Err = HostError;

    /// Reads a displayed host: a URL with words of the form `NAME=VALUE` around it; the role may stand without a name.
    fn from_str(text: &str) -> Result<Self, HostError> {
        let mut spec: Option<Self> = None;
        let mut rest = Vec::new();
        for word in text.split_ascii_whitespace() {
            match word.split_once('=') {
                Some((name, value)) => rest.push((name, value)),
                None if HostRole::from_name(word).is_some() => rest.push(("role", word)),
                None if spec.is_none() => spec = Some(Self::database(word.parse()?)),
                None => {
                    return Err(HostError::new(
                        "the entry has two URLs",
                        "write one host per entry of the list",
                    ));
                }
            }
        }
        let mut spec =
            spec.ok_or_else(|| HostError::new("the entry has no URL", format!("write {FORMS}")))?;
        for (name, value) in rest {
            let decoded =
                decode(value).ok_or_else(|| HostError::new(format!("invalid {name}"), "write % as %25"))?;
            spec.put(name, &decoded)?;
        }
        spec.whole()
    }
}

impl fmt::Display for HostSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.role.name(), self.url)?;
        if let Some(target) = self.target {
            write!(f, " target={target}")?;
        }
        let words = [
            ("data", &self.data),
            ("redo", &self.redo),
            ("password_env", &self.password_env),
            ("password_file", &self.password_file),
            ("ca", &self.ca),
        ];
        for (name, path) in words {
            if let Some(path) = path {
                write!(f, " {name}={}", encode(path, &PATH))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
