//! Reads cumulative counters of PostgreSQL 13 to 18 with plain SELECTs on a connection of its own.
//!
//! One statement reads every statistics view as rows of (view, column, value), so the column names follow the
//! server's version. `portable` maps them to the common counters. From version 15 on each reading also
//! flushes this connection's own statistics at once, so the observer's own share is exact.

mod company;
mod observer;
mod observer_reads;
mod portable;
mod shape;
mod source;
mod sources;
mod statements;
mod tables;

pub(super) use observer::PostgresObserver;

/// The first version whose statistics are in shared memory and can be flushed on demand.
pub(super) const SHARED_STATISTICS: u32 = 150_000;

/// The statement that makes the server flush all statistics of the connection when the transaction ends,
/// including this commit; from [`SHARED_STATISTICS`] on.
///
/// It reads a relation on purpose, and a shared one, whose blocks no database counts. A session that has
/// touched no table since its last report has only commits pending, and then even a forced flush postpones
/// them. This was measured on 15.20 and 18.4 and is visible in `pgstat_report_stat`.
pub(super) const FLUSH: &str =
    "SELECT /* dyno */ pg_catalog.pg_stat_force_next_flush() FROM pg_catalog.pg_tablespace LIMIT 1";

/// [`FLUSH`]; empty before version 15, where a collector process receives statistics up to half a second
/// later.
pub(super) fn flush_sql(version_num: u32) -> &'static str {
    if version_num >= SHARED_STATISTICS { FLUSH } else { "" }
}
