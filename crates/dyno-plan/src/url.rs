//! Where a database is: the URL of a target, without secrets.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A target's URL: `scheme:rest`, such as `sqlite:/data/dyno.db?journal=wal` or
/// `postgres://dyno@db1:5432/bench?sslmode=verify-full`.
///
/// It cannot hold a password: a URL with one is refused when it is read, so that none can reach a record, a log or a
/// process title. [`TargetUrl::user`], `host`, `port`, `path` and parameters are percent-decoded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct TargetUrl {
    /// The engine: `sqlite`, `postgres`.
    pub scheme: String,
    /// The user name, if the URL names one.
    pub user: Option<String>,
    /// The host: a name, an address, or none.
    pub host: Option<String>,
    /// The port, if given.
    pub port: Option<u16>,
    /// What follows the authority without its slash (the database), or all after `sqlite:` (the file, or `:memory:`).
    pub path: String,
    /// The parameters after `?`, in order.
    pub params: Vec<(String, String)>,
}

/// A URL that cannot be used; never repeats a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// There is no `scheme:`.
    #[error("{0:?} has no engine: write sqlite:PATH or postgres://USER@HOST/DATABASE")]
    NoScheme(String),
    /// The URL holds a password.
    #[error(
        "the URL holds a password: take it out and give it by target.password_env, target.password_file or the prompt"
    )]
    Password,
    /// A part cannot be read.
    #[error("{part} {text:?} cannot be read in the URL")]
    Part {
        /// Which part.
        part: &'static str,
        /// Its text.
        text: String,
    },
}

impl TargetUrl {
    /// The value of parameter `name`, the last one if given twice.
    pub fn param(&self, name: &str) -> Option<&str> {
        self.params.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

fn decode(part: &'static str, text: &str) -> Result<String, UrlError> {
    let wrong = || UrlError::Part { part, text: text.to_owned() };
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        if *first != b'%' {
            bytes.push(*first);
            rest = tail;
            continue;
        }
        let hex = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok()).ok_or_else(wrong)?;
        bytes.push(u8::from_str_radix(hex, 16).map_err(|_| wrong())?);
        rest = &tail[2..];
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

fn encode(text: &str, keep: &[u8]) -> String {
    let mut out = String::with_capacity(text.len());
    for &byte in text.as_bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || keep.contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

impl std::str::FromStr for TargetUrl {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        let (scheme, rest) = text.split_once(':').ok_or_else(|| UrlError::NoScheme(text.to_owned()))?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let params = query
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| {
                let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
                Ok((decode("parameter", key)?, decode("parameter", value)?))
            })
            .collect::<Result<Vec<_>, UrlError>>()?;
        if params
            .iter()
            .any(|(key, _)| key.eq_ignore_ascii_case("password") || key.eq_ignore_ascii_case("sslpassword"))
        {
            return Err(UrlError::Password);
        }
        let Some(authority_path) = rest.strip_prefix("//").filter(|_| scheme != "sqlite") else {
            let path = decode("path", rest)?;
            return Ok(Self { scheme: scheme.to_owned(), user: None, host: None, port: None, path, params });
        };
        let (authority, path) = authority_path.split_once('/').unwrap_or((authority_path, ""));
        let (user, host_port) = match authority.rsplit_once('@') {
            Some((user, _)) if user.contains(':') => return Err(UrlError::Password),
            Some((user, host_port)) => (Some(decode("user", user)?), host_port),
            None => (None, authority),
        };
        let (host, port) = match host_port.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, Some(port)),
            _ => (host_port, None),
        };
        let port = port
            .map(|port| port.parse().map_err(|_| UrlError::Part { part: "port", text: port.to_owned() }))
            .transpose()?;
        let host = decode("host", host.trim_start_matches('[').trim_end_matches(']'))?;
        let host = (!host.is_empty()).then_some(host);
        Ok(Self { scheme: scheme.to_owned(), user, host, port, path: decode("database", path)?, params })
    }
}

impl fmt::Display for TargetUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.scheme)?;
        if self.scheme == "sqlite" {
            write!(f, "{}", encode(&self.path, b"/:"))?;
        } else {
            write!(f, "//")?;
            if let Some(user) = &self.user {
                write!(f, "{}@", encode(user, b""))?;
            }
            match &self.host {
                Some(host) if host.contains(':') => write!(f, "[{host}]")?,
                Some(host) => write!(f, "{}", encode(host, b""))?,
                None => {}
            }
            if let Some(port) = self.port {
                write!(f, ":{port}")?;
            }
            write!(f, "/{}", encode(&self.path, b""))?;
        }
        for (i, (key, value)) in self.params.iter().enumerate() {
            let mark = if i == 0 { '?' } else { '&' };
            write!(f, "{mark}{}={}", encode(key, b""), encode(value, b"/:"))?;
        }
        Ok(())
    }
}

impl TryFrom<String> for TargetUrl {
    type Error = UrlError;

    fn try_from(text: String) -> Result<Self, UrlError> {
        text.parse()
    }
}

impl From<TargetUrl> for String {
    fn from(url: TargetUrl) -> Self {
        url.to_string()
    }
}
