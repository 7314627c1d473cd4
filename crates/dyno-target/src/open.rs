//! From URL scheme to engine: the one line per engine.

use std::time::Duration;

use dyno_plan::TargetUrl;

use crate::error::{TargetError, TargetErrorKind};
use crate::secret::Secret;
use crate::target::Target;

/// How to open a target, beside its URL.
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// The password, if the user gave one. `None` lets the engine look in its own places (`~/.pgpass`).
    pub password: Option<Secret>,
    /// The longest wait for one connection.
    pub connect_timeout: Duration,
}

/// As [`open`], for a `url` that leads through a connection pooler to the server at `observe`: sessions go through it, all
/// else goes to the server.
///
/// # Errors
/// As [`open`]; the engine is not driven through poolers.
pub fn open_through(
    url: &TargetUrl,
    observe: &TargetUrl,
    options: &OpenOptions,
) -> Result<Box<dyn Target>, TargetError> {
    match (url.scheme.as_str(), observe.scheme.as_str()) {
        ("postgres" | "postgresql", "postgres" | "postgresql") => {
            crate::postgres::open_through(url, observe, options)
        }
        (scheme, _) => Err(TargetError::new(
            TargetErrorKind::Unsupported,
            format!("{scheme} databases are not driven through a pooler"),
        )
        .hint("leave target.observe_url out")),
    }
}

/// The target that `url` names. Does not connect.
///
/// # Errors
/// There is no such engine, or the URL lacks what the engine needs.
pub fn open(url: &TargetUrl, options: &OpenOptions) -> Result<Box<dyn Target>, TargetError> {
    match url.scheme.as_str() {
        "sqlite" => crate::sqlite::open(url),
        "postgres" | "postgresql" => crate::postgres::open(url, options),
        "mysql" | "mariadb" => crate::mysql::open(url, options),
        "oracle" => crate::oracle::open(url, options),
        other => Err(TargetError::new(
            TargetErrorKind::Unsupported,
            format!("there is no engine for {other:?} URLs"),
        )
        .hint(
            "write sqlite:PATH, sqlite::memory:, postgres://USER@HOST/DATABASE, mysql://USER@HOST/DATABASE or \
             oracle://USER@HOST/SERVICE",
        )),
    }
}
