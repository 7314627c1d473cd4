//! Cumulative counters of MySQL and MariaDB, by `SHOW GLOBAL STATUS` and, where it is on, `performance_schema`, on a
//! connection of its own.
//!
//! The server adds up its status counters over all sessions at the moment it is asked, and books a statement before it
//! answers it, so counts of operations agree to the unit without any flushing. `portable` turns them into the common
//! vocabulary, and `company` says how much of them is the run's own.

mod company;
mod histogram;
mod observer;
mod portable;
mod shape;
mod sources;

pub(super) use observer::MyObserver;
