//! MySQL 5.7 and later, MariaDB 10.2 and later.
//!
//! `connect` and `wire` speak the protocol, `layout` makes and removes the data, `ops` is the hot path, `counters` reads
//! cumulative statistics, `identity` says what the server is and what of it would falsify a run, `sampler` looks at waits,
//! `seen` at the statements that the server has seen, and `stuck` at what holds sessions up that do not end.

mod blockers;
pub mod connect;
mod counters;
mod explain;
mod identity;
mod layout;
mod lock;
pub mod ops;
mod own;
mod sampler;
mod seen;
mod spec;
mod stuck;
mod target;
pub mod wire;

use dyno_engine::grants::{database, literal, one_line, quoted, user};
use dyno_engine::{Engine, OpenOptions, Target, TargetError};
use dyno_plan::TargetUrl;

pub use spec::SPEC;

/// MySQL and MariaDB, as programs register them.
pub const ENGINE: Engine = Engine { spec: SPEC, open, open_through: None, grants };

/// The target that a `mysql:` URL names. Does not connect.
///
/// # Errors
/// A parameter is unknown or has an impossible value.
pub fn open(url: &TargetUrl, options: &OpenOptions) -> Result<Box<dyn Target>, TargetError> {
    Ok(Box::new(target::MyTarget::new(url, options)?))
}

fn grants(url: &TargetUrl) -> String {
    include_str!("sql/grants.sql")
        .replace("{user}", &literal(user(url)))
        .replace("{database}", &quoted(&database(url).replace('_', "\\_"), '`'))
        .replace("{database_name}", &one_line(database(url)))
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_of_the_grants_are_the_urls_and_cannot_leave_their_place() {
        let grants = super::grants(&"mysql://o%27x@db1/my_bench".parse().unwrap());
        assert!(grants.contains("ON `my\\_bench`.* TO 'o''x'@'%';"), "{grants}");
        assert!(!grants.contains('{') && grants.lines().all(|line| line.len() <= 150), "{grants}");
        assert!(!grants.to_lowercase().contains("superuser to") && !grants.contains("GRANT ALL"), "{grants}");
    }
}
