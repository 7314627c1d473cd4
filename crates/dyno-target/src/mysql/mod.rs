//! MySQL 5.7 and later, MariaDB 10.2 and later.
//!
//! `connect` and `wire` speak the protocol, `layout` makes and removes the data, `ops` is the hot path, `counters` reads
//! cumulative statistics, `identity` says what the server is and what of it would falsify a run, `sampler` looks at waits,
//! and `stuck` at what holds sessions up that do not end.

pub mod connect;
mod counters;
mod identity;
mod layout;
mod lock;
pub mod ops;
mod own;
mod sampler;
mod stuck;
mod target;
pub mod wire;

use dyno_plan::TargetUrl;

use crate::error::TargetError;
use crate::open::OpenOptions;
use crate::target::Target;

/// The target that a `mysql:` URL names. Does not connect.
///
/// # Errors
/// A parameter is unknown or has an impossible value.
pub fn open(url: &TargetUrl, options: &OpenOptions) -> Result<Box<dyn Target>, TargetError> {
    Ok(Box::new(target::MyTarget::new(url, options)?))
}
