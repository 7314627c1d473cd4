//! The engine for MySQL 5.7 and later and MariaDB 10.2 and later.
//!
//! `connect` and `wire` implement the protocol. `connections` opens and settles every connection. `layout` creates and removes the data. `ops` is the hot path.
//! `counters` reads cumulative statistics. `identity` describes the server and reports what would falsify a
//! run. `sampler` samples waits, and `seen` reads the statements that the server has recorded. `stuck`
//! reports why sessions do not end. `compatibility` knows the products that only speak the protocol.

mod blockers;
mod column_statistics;
mod compatibility;
pub mod connect;
mod connections;
mod counters;
mod executed_statements;
mod explain;
mod grants;
mod hang_reasons;
mod identity;
mod layout;
mod lock;
pub mod ops;
mod own_connections;
mod sampler;
mod setting_control;
mod spec;
mod target;
pub mod wire;

use dyno_engine::grants::{database, user};
use dyno_engine::{Engine, OpenOptions, ServerTarget, Target, TargetError};
use dyno_plan::TargetUrl;

use grants::MySqlGrants;
use target::MySqlTarget;

pub use spec::SPEC;

/// The engine for MySQL and MariaDB, for a program to register.
pub const ENGINE: Engine = Engine { spec: SPEC, open, open_through: None, grants };

/// Returns the target that a `mysql:` URL names, without connecting.
///
/// # Errors
/// A parameter is unknown or has an invalid value.
pub fn open(url: &TargetUrl, options: &OpenOptions) -> Result<Box<dyn Target>, TargetError> {
    Ok(Box::new(ServerTarget::new(MySqlTarget::new(url, options)?, url)))
}

fn grants(url: &TargetUrl) -> String {
    MySqlGrants::new(user(url), database(url)).script()
}

#[cfg(test)]
mod tests {
    #[test]
    fn grants_quote_names_from_url() {
        let grants = super::grants(&"mysql://o%27x@db1/my_bench".parse().unwrap());
        assert!(grants.contains("ON `my\\_bench`.* TO 'o''x'@'%';"), "{grants}");
        assert!(!grants.contains('{'), "{grants}");
        assert!(grants.lines().all(|line| line.len() <= 150), "{grants}");
        assert!(!grants.to_lowercase().contains("superuser to"), "{grants}");
        assert!(!grants.contains("GRANT ALL"), "{grants}");
    }
}
