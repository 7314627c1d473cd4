//! Reads the files and reports of other tools.
//!
//! | module | reads | gives |
//! | --- | --- | --- |
//! | [`kits`] | `slob.conf`, `pgio.conf` | a plan |
//!
//! Nothing here connects to a database, stores a record or prints. The program does that with the results.

#![warn(missing_docs)]

pub mod kits;
