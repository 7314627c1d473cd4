//! MySQL 5.7 and later, MariaDB 10.2 and later.
//!
//! `connect` and `wire` speak the protocol, `layout` makes and removes the data, `ops` is the hot path, `counters` reads
//! cumulative statistics, `identity` says what the server is and what of it would falsify a run, `sampler` looks at waits.

pub mod connect;
pub mod wire;
