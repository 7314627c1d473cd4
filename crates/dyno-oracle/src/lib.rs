//! Oracle Database 12.2 and later, in a PDB or not, on RAC or not, as an ordinary user.
//!
//! The protocol is the driver's: Oracle's own `oracledb`, pure Rust and blocking, so each session has a thread of its own, and
//! each call allocates what the driver allocates. `connect` finds and opens the database, `sql` holds every statement,
//! `layout` makes and removes the data, `ops` is the hot path, `counters` reads cumulative statistics, `identity` says what
//! the database is and what of it would falsify a run, `sampler` looks at waits, `awr` takes AWR or STATSPACK snapshots,
//! `seen` reads the cursor cache.
//!
//! Nothing here has met an Oracle server yet: `docs/reference/engines/oracle.md` says what was checked instead, and how to check the
//! rest.

mod awr;
pub mod connect;
mod connection;
mod counters;
mod error;
#[cfg(test)]
mod grammar_tests;
mod identity;
mod layout;
mod lock;
mod ops;
mod sampler;
mod seen;
mod shelter;
mod socket;
mod spec;
mod sql;
mod target;
mod way_out;

use dyno_engine::{Engine, OpenOptions, Target, TargetError};
use dyno_plan::TargetUrl;

pub use spec::SPEC;

pub use error::OraError;

/// Oracle Database, as programs register it.
pub const ENGINE: Engine =
    Engine { spec: SPEC, open, open_through: None, grants: |_| sql::GRANTS.to_owned() };

/// The target that an `oracle:` URL names. Does not connect.
///
/// # Errors
/// A parameter is unknown or has an impossible value.
pub fn open(url: &TargetUrl, options: &OpenOptions) -> Result<Box<dyn Target>, TargetError> {
    Ok(Box::new(target::OraTarget::new(url, options)?))
}
