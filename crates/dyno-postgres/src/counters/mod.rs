//! Cumulative counters of PostgreSQL 13 to 18, by plain SELECTs on a connection of its own.
//!
//! One statement reads every statistics view as rows of (view, column, value), so a view's columns name themselves whatever
//! the version; `portable` turns them into the common vocabulary. From version 15 on each reading also asks the server to
//! book this connection's own statistics at once, which makes what observing adds to the counters exact.

mod company;
mod observer;
mod observer_reads;
mod portable;
mod shape;
mod source;
mod sources;

pub(super) use observer::PgObserver;

use super::limits::lift_limits;

/// Settings of connections that observe; one transaction.
///
/// Nothing of the site's breaks a reading off, and nothing that they do can write. No reading is compiled by the JIT, which takes
/// longer than the reading. None is done by several processes, each of which counts blocks for itself.
pub(super) const OBSERVER_SETTINGS: &str = concat!(
    lift_limits!(),
    "; SET jit = off; SET max_parallel_workers_per_gather = 0; SET search_path = pg_catalog; SET client_min_messages = warning; ",
    "SET default_transaction_read_only = on"
);

/// The first version whose statistics live in shared memory and can be flushed on demand.
pub(super) const SHARED_STATISTICS: u32 = 150_000;

/// The statement after which the server books all statistics of the connection when the transaction ends, this one's commit
/// among them; from [`SHARED_STATISTICS`] on.
///
/// It reads a relation on purpose, and one that all databases share: those are in no database's counts of blocks. Found by experiment on 15.20 and 18.4, and in `pgstat_report_stat`: a session that has
/// touched no table since its last booking has nothing pending but its commits, and then even a forced flush leaves
/// them for later.
pub(super) const FLUSH: &str =
    "SELECT pg_catalog.pg_stat_force_next_flush() FROM pg_catalog.pg_tablespace LIMIT 1";

/// [`FLUSH`]; empty before version 15, where statistics go through a collector process and arrive up to half a second later.
pub(super) fn flush_sql(version_num: u32) -> &'static str {
    if version_num >= SHARED_STATISTICS { FLUSH } else { "" }
}
