//! Reads the files and reports of other tools.
//!
//! | module | reads | gives |
//! | --- | --- | --- |
//! | [`kits`] | `slob.conf`, `pgio.conf` | a plan |
//! | [`pgbench`] | scripts of pgbench | a custom workload |
//! | [`statements`] | the statements that a database has executed | a draft of a custom workload |
//!
//! Nothing here connects to a database, stores a record or prints. The program does that with the results.

#![warn(missing_docs)]

pub mod kits;
pub mod pgbench;
mod quoted;
pub mod statements;
