//! The engine for Oracle Database 12.2 and later, with or without PDBs and RAC, as an ordinary user.
//!
//! The driver implements the protocol: Oracle's own `oracledb`, in pure Rust and blocking. Each session
//! therefore has its own thread, and each call allocates what the driver allocates. `connect` opens the
//! database, and `sql` contains every statement. `layout` creates and removes the data. `ops` is the hot
//! path. `counters` reads cumulative statistics. `identity` describes the database and reports what would
//! distort the figures of a run. `sampler` samples waits, `awr` takes AWR or STATSPACK snapshots, and
//! `executed_statements` reads the cursor cache.
//!
//! This engine has not been tested against a real Oracle server. `docs/reference/engines/oracle.md` describes
//! what was checked instead, and how to check the rest.

mod awr;
pub mod connect;
mod connection;
mod counters;
mod driver_panics;
mod error;
mod executed_statements;
#[cfg(test)]
mod grammar_tests;
mod grants;
mod hints;
mod identity;
mod layout;
mod lock;
mod ops;
mod sampler;
mod socket;
mod spec;
mod sql;
mod target;

use dyno_engine::grants::user;
use dyno_engine::{Engine, OpenOptions, Target, TargetError};
use dyno_plan::TargetUrl;

use grants::OracleGrants;

pub use spec::SPEC;

pub use error::OracleError;

/// The engine for Oracle Database, for a program to register.
pub const ENGINE: Engine =
    Engine { spec: SPEC, open, open_through: None, grants: |url| OracleGrants::new(user(url)).script() };

/// Returns the target that an `oracle:` URL names, without connecting.
///
/// # Errors
/// A parameter is unknown or has an invalid value.
pub fn open(url: &TargetUrl, options: &OpenOptions) -> Result<Box<dyn Target>, TargetError> {
    Ok(Box::new(target::OracleTarget::new(url, options)?))
}
