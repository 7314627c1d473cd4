//! The engine for PostgreSQL 13 and later.
//!
//! `connect` and `wire` implement the protocol. `connections` opens and settles every connection. `layout` creates and removes the data. `ops` is the hot path.
//! `counters` reads cumulative statistics. `identity` describes the server and reports what would falsify a
//! run. `sampler` samples waits, and `seen` reads the statements that the server has recorded. `pool`
//! supports sessions behind a connection pooler.

mod column_statistics;
mod compatibility;
pub mod connect;
mod connections;
mod counters;
mod executed_statements;
mod grants;
mod identity;
mod layout;
mod lock;
mod lock_waits;
pub mod ops;
mod pool;
mod pool_config;
mod sampler;
mod schema;
mod setting_control;
mod spec;
mod target;
pub mod wire;

use dyno_engine::grants::{database, user};
use dyno_engine::{Engine, OpenOptions, ServerTarget, Target, TargetError};
use dyno_plan::TargetUrl;
use grants::PostgresGrants;

use target::PostgresTarget;

pub use spec::SPEC;

/// The engine for PostgreSQL, for a program to register.
pub const ENGINE: Engine = Engine { spec: SPEC, open, open_through: Some(open_through), grants };

/// Returns the target that a `postgres:` URL names, without connecting.
///
/// # Errors
/// A parameter is unknown or has an invalid value.
pub fn open(url: &TargetUrl, options: &OpenOptions) -> Result<Box<dyn Target>, TargetError> {
    Ok(Box::new(ServerTarget::new(PostgresTarget::new(url, options)?, url)))
}

/// Like [`open`], with sessions through a pooler at `url` and everything else at the server at `observe`.
///
/// # Errors
/// As [`open`].
pub fn open_through(
    url: &TargetUrl,
    observe: &TargetUrl,
    options: &OpenOptions,
) -> Result<Box<dyn Target>, TargetError> {
    Ok(Box::new(ServerTarget::new(PostgresTarget::through(url, observe, options)?, url)))
}

fn grants(url: &TargetUrl) -> String {
    PostgresGrants::new(user(url), database(url)).script()
}

#[cfg(test)]
mod tests {
    #[test]
    fn grants_quote_names_from_url() {
        let grants = super::grants(&"postgres://Me%22;x@db1/be%0Anch".parse().unwrap());
        assert!(grants.contains("ON DATABASE \"bench\" TO \"Me\"\";x\";"), "{grants}");
        assert!(!grants.contains('{'), "{grants}");
        assert!(grants.lines().all(|line| line.len() <= 150), "{grants}");
        assert!(!grants.to_lowercase().contains("superuser to"), "{grants}");
        assert!(!grants.contains("GRANT ALL"), "{grants}");
    }
}
