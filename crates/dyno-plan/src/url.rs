//! The URL of a target, without passwords.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::{EngineSpec, Engines, UrlForm, UrlParameterWords};
pub use crate::escape::decode;
use crate::escape::{ADDRESS, PATH, WORD, encode};

/// A target's URL: `scheme:rest`, such as `sqlite:/data/dyno.db?journal=wal` or
/// `postgres://dyno@db1:5432/bench?sslmode=verify-full`.
///
/// [`TargetUrl::read`] parses the user's text and needs the engines. The displayed URL has one canonical form, so records can
/// be read without the engines.
///
/// A URL with a password is refused when it is read, so no password can reach a record, a log or a process title. `user`,
/// `host`, `path` and parameters are percent-decoded; displaying the URL encodes them again. The displayed URL reads back as
/// the same value.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct TargetUrl {
    /// Name of the engine, such as `postgres`.
    pub scheme: String,
    /// The user name, if the URL names one.
    pub user: Option<String>,
    /// The host: a name, an address (IPv6 without brackets), or the directory of a Unix socket; absent if the URL has none.
    pub host: Option<String>,
    /// The port number, if the URL names one.
    pub port: Option<u16>,
    /// Whether it names a file, `scheme:path`, instead of a server.
    pub is_file: bool,
    /// What follows the authority without the slash (the database), or all text after `scheme:` (the file).
    pub path: String,
    /// The parameters after `?`, in order.
    pub params: Vec<(String, String)>,
}

/// A URL that cannot be used. The message repeats only the scheme and names of parameters, because a misspelled URL can
/// contain a password anywhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// There is no scheme before a colon.
    #[error("the URL has no engine: write SCHEME:PATH or SCHEME://USER@HOST/DATABASE")]
    NoScheme,
    /// The URL holds a password.
    #[error(
        "the URL contains a password: remove it and use target.password_env, target.password_file or the \
         prompt"
    )]
    Password,
    /// A parameter is given twice.
    #[error("the URL gives the parameter {name} twice: remove one of them")]
    Twice {
        /// Its name, if it looks like one.
        name: String,
    },
    /// The URL names no file.
    #[error("the URL names no file: {allowed}")]
    NoFile {
        /// The text that is allowed there.
        allowed: &'static str,
    },
    /// A part cannot be parsed.
    #[error("{part} of the URL cannot be read: {allowed}")]
    Part {
        /// The part, such as `the port`.
        part: &'static str,
        /// The text that is allowed there.
        allowed: &'static str,
    },
}

const ENCODING: &str =
    "write % as %25, and other characters as they are or as %XX of their UTF-8 bytes, none zero";
const PORT: &str = "write an integer from 1 to 65535";
const SERVER: &str = "write SCHEME://USER@HOST:PORT/DATABASE?NAME=VALUE, with @ in any other place as %40";
const HOST: &str = "write one name or address; an IPv6 address in brackets, such as [::1]:5432";

impl TargetUrl {
    /// The value of parameter `name`.
    pub fn param(&self, name: &str) -> Option<&str> {
        self.params.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Adds these parameters, except those that the URL already has.
    #[must_use]
    pub fn with(mut self, params: &[(&str, &str)]) -> Self {
        for (name, value) in params {
            if self.param(name).is_none() {
                self.params.push(((*name).to_owned(), (*value).to_owned()));
            }
        }
        self
    }
}

impl UrlError {
    fn part(part: &'static str, allowed: &'static str) -> Self {
        Self::Part { part, allowed }
    }

    /// The problem and the hint; the error's text contains both.
    pub(crate) fn problem_and_hint(&self) -> (String, String) {
        let text = self.to_string();
        let (problem, hint) = text.split_once(": ").unwrap_or((&text, ""));
        (problem.to_owned(), hint.to_owned())
    }
}

/// User, host, port and path of a URL.
type Address = (Option<String>, Option<String>, Option<u16>, String);

/// Percent-decodes one part of the URL.
fn decoded(part: &'static str, text: &str) -> Result<String, UrlError> {
    decode(text).ok_or_else(|| UrlError::part(part, ENCODING))
}

/// Whether a parameter with this name would hold a secret.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["password", "passwd", "pwd", "secret"].iter().any(|word| name.contains(word)) || name == "pass"
}

fn read_params(query: &str) -> Result<Vec<(String, String)>, UrlError> {
    let mut params: Vec<(String, String)> = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let name = decoded("a parameter", name)?;
        if is_secret(&name) {
            return Err(UrlError::Password);
        }
        if params.iter().any(|(known, _)| *known == name) {
            let name = crate::error::shown_key(&name).unwrap_or("of one name").to_owned();
            return Err(UrlError::Twice { name });
        }
        params.push((name, decoded("a parameter", value)?));
    }
    Ok(params)
}

/// Reads the file after the scheme; `write` is the hint. Two slashes would start a host, so a path may begin with three but not two.
fn read_file(rest: &str, write: &'static str) -> Result<Address, UrlError> {
    let path = match rest.strip_prefix("//") {
        Some(absolute) if absolute.starts_with('/') => absolute,
        Some(_) => return Err(UrlError::NoFile { allowed: write }),
        None => rest,
    };
    if path.is_empty() {
        return Err(UrlError::NoFile { allowed: write });
    }
    Ok((None, None, None, decoded("the file", path)?))
}

/// Reads a server, written `USER@HOST:PORT/DATABASE`.
fn read_server(place: &str) -> Result<Address, UrlError> {
    let (authority, path) = place.split_once('/').unwrap_or((place, ""));
    if path.contains('@') {
        // An unescaped `/` in a password would put the rest of the password into the database's name.
        return Err(if authority.contains(':') {
            UrlError::Password
        } else {
            UrlError::part("the server", SERVER)
        });
    }
    let (user, address) = match authority.rsplit_once('@') {
        Some((user, _)) if user.contains(':') => return Err(UrlError::Password),
        Some((user, address)) => (Some(decoded("the user", user)?).filter(|user| !user.is_empty()), address),
        None => (None, authority),
    };
    let (host, port) = read_address(address)?;
    Ok((user, host, port, decoded("the database", path)?))
}

/// Reads `HOST:PORT`, `[IPV6]:PORT`, or either part of it.
fn read_address(address: &str) -> Result<(Option<String>, Option<u16>), UrlError> {
    let wrong_host = || UrlError::part("the host", HOST);
    let (host, port) = match address.strip_prefix('[') {
        Some(bracketed) => {
            let (host, behind) = bracketed.split_once(']').ok_or_else(wrong_host)?;
            let port = behind.strip_prefix(':').or(behind.is_empty().then_some("")).ok_or_else(wrong_host)?;
            if host.is_empty() {
                return Err(wrong_host());
            }
            (host, port)
        }
        None => address.split_once(':').unwrap_or((address, "")),
    };
    if host.contains([',', '[', ']']) || port.contains(':') {
        return Err(wrong_host());
    }
    let port = match port {
        "" => None,
        digits => {
            let number = digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok()).flatten();
            Some(number.filter(|&port: &u16| port > 0).ok_or_else(|| UrlError::part("the port", PORT))?)
        }
    };
    let host = decoded("the host", host)?;
    Ok(((!host.is_empty()).then_some(host), port))
}

impl TargetUrl {
    /// Reads the user's text: aliases of an engine become its name, and a file is accepted if the engine has files.
    ///
    /// # Errors
    /// The text is not a URL, or contains a password.
    pub fn read(text: &str, engines: Engines) -> Result<Self, UrlError> {
        let (scheme, rest) = text.trim().split_once(':').ok_or(UrlError::NoScheme)?;
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"+-.".contains(&b);
        if !scheme.starts_with(|c: char| c.is_ascii_alphabetic()) || !scheme.bytes().all(plain) {
            return Err(UrlError::NoScheme);
        }
        let scheme = scheme.to_ascii_lowercase();
        let engine = engines.named(&scheme);
        let scheme = engine.map_or(scheme, |engine| engine.name.to_owned());
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let mut is_file = false;
        let (user, host, port, path) = if let Some(UrlForm::File { write }) = engine.map(|engine| engine.form)
        {
            is_file = true;
            read_file(place, write)?
        } else if rest.split_once('@').is_some_and(|(before, _)| before.contains(':')) {
            return Err(UrlError::Password);
        } else if query.contains('@') {
            // An unescaped `?` in a password would put its rest, and the host, into the parameters.
            return Err(UrlError::part("the server", SERVER));
        } else if let Some(place) = place.strip_prefix("//") {
            read_server(place)?
        } else if engine.is_some() {
            return Err(UrlError::part("the server", SERVER));
        } else {
            is_file = true;
            (None, None, None, decoded("the path", place)?)
        };
        Ok(Self { scheme, user, host, port, is_file, path, params: read_params(query)? })
    }
}

impl Engines {
    /// The engine of `url`.
    pub fn spec_of(self, url: &TargetUrl) -> Option<&'static EngineSpec> {
        self.named(&url.scheme)
    }

    /// The first parameter of `url` with an invalid value.
    pub(crate) fn refused_parameter(self, url: &TargetUrl) -> Option<&'static UrlParameterWords> {
        let engine = self.spec_of(url)?;
        url.params.iter().find_map(|(name, value)| {
            let allowed_words = engine.words.iter().find(|words| words.name == name)?;
            (!allowed_words.allows(value)).then_some(allowed_words)
        })
    }
}

impl std::str::FromStr for TargetUrl {
    type Err = UrlError;

    /// Parses the displayed form of a URL.
    fn from_str(text: &str) -> Result<Self, UrlError> {
        Self::read(text, Engines::default())
    }
}

impl fmt::Display for TargetUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.scheme)?;
        if self.is_file {
            // A path that begins with two slashes would be parsed as a host.
            match self.path.strip_prefix("//") {
                Some(rest) => write!(f, "/%2F{}", encode(rest, &PATH))?,
                None => write!(f, "{}", encode(&self.path, &PATH))?,
            }
        } else {
            write!(f, "//")?;
            if let Some(user) = &self.user {
                write!(f, "{}@", encode(user, &WORD))?;
            }
            match &self.host {
                Some(host) if host.contains(':') => write!(f, "[{}]", encode(host, &ADDRESS))?,
                Some(host) => write!(f, "{}", encode(host, &WORD))?,
                None => {}
            }
            if let Some(port) = self.port {
                write!(f, ":{port}")?;
            }
            write!(f, "/{}", encode(&self.path, &WORD))?;
        }
        for (i, (name, value)) in self.params.iter().enumerate() {
            let mark = if i == 0 { '?' } else { '&' };
            write!(f, "{mark}{}={}", encode(name, &WORD), encode(value, &PATH))?;
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

#[cfg(test)]
mod tests;
