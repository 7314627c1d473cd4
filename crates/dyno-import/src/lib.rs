//! Reads the files and reports of other tools.
//!
//! | module | reads | gives |
//! | --- | --- | --- |
//! | [`kits`] | `slob.conf`, `pgio.conf` | a plan |
//! | [`metrics`] | exports of cloud metrics | figures for the time of a run |
//! | [`pgbench`] | scripts of pgbench | a custom workload |
//! | [`results`] | tables and logs with results | run records |
//! | [`statements`] | the statements that a database has executed | a draft of a custom workload |
//!
//! Nothing here connects to a database, stores a record or prints. The program does that with the results.

#![warn(missing_docs)]

mod error;
pub mod kits;
pub mod metrics;
pub mod pgbench;
mod quoted;
pub mod results;
pub mod statements;
mod table;

pub use error::Error;
pub use table::{DateOrder, DecimalMark, ImportFile, ImportKind, Separator, TableNotation};
