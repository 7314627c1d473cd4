//! Reads cumulative counters of MySQL and MariaDB on a connection of its own, from `SHOW GLOBAL STATUS` and,
//! if it is on, `performance_schema`.
//!
//! The server sums its status counters over all sessions when it is asked. It counts a statement before it
//! returns the result. Counts of operations therefore agree exactly without flushing. `portable` maps them to
//! the common counters, and `company` computes this run's share.

mod company;
mod histogram;
mod observer;
mod portable;
mod prepared_statements;
mod shape;
mod sources;
mod statement_columns;
mod statements;
mod tables;

pub(super) use observer::MySqlObserver;
