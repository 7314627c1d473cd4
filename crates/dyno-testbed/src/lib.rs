//! Starts real database servers as children of the tests.
//!
//! A number seen only against a mock is a guess, so every test of an engine runs against the engine. This
//! crate starts servers on free loopback ports with their own data directories, provides their URLs, and
//! kills them where a test needs that. It leaves nothing behind: a server dies with the test process, however
//! that ends.
//!
//! - [`Postgres`] is one PostgreSQL server, [`Version`] one set of its binaries;
//! - [`Postgres::available`] lists the versions of this machine, and reports and counts missing
//!   [`WANTED_MAJORS`];
//! - [`MySql`] is one MySQL or MariaDB server, [`MyVersion`] one set of its programs;
//! - [`Galera`] is a cluster of MariaDB servers;
//! - [`Nginx`] is a proxy in front of a web server;
//! - [`Sshd`] and [`NodeExporter`] are ways to observe a remote machine;
//! - [`Nats`] is one NATS server;
//! - [`ScriptedOracle`] speaks Oracle's wire protocol and answers from a script, or from a [`ModelDatabase`]
//!   that remembers what clients did: the only test double;
//! - [`DelayProxy`] is a connection to a server with added delay;
//! - [`skip`] and [`skip_unsupported`] record that a test did not run: because something is not installed, or because
//!   this machine can never run it.
//!
//! `scripts/testbeds.sh` installs what is missing.

mod bins;
pub mod certificates;
mod child;
mod command;
mod data_dirs;
mod galera;
mod mysql;
mod mysql_bins;
mod nats;
mod nginx;
mod node_exporter;
mod pgbouncer;
mod postgres;
mod prometheus;
mod scripted_oracle;
mod skip;
mod slow_way;
mod sshd;
mod template;

pub use bins::{Version, WANTED_MAJORS};
pub use galera::Galera;
pub use mysql::MySql;
pub use mysql_bins::{MyProduct, MyVersion};
pub use nats::Nats;
pub use nginx::Nginx;
pub use node_exporter::NodeExporter;
pub use pgbouncer::{BouncerVersion, PgBouncer};
pub use postgres::Postgres;
pub use prometheus::Prometheus;
pub use scripted_oracle::{
    ModelDatabase, ModelFaults, ModelOptions, ModelWork, RecordedServer, ScriptedAnswer, ScriptedCall,
    ScriptedDatabase, ScriptedGreeting, ScriptedOptions, ScriptedOracle, ScriptedRelease, ScriptedType,
    ScriptedValue, SessionLabels, UserTables, WireCounts,
};
pub use skip::{ALL_VERSIONS_ENV, REQUIRE_ALL_ENV, skip, skip_unsupported, test_all_versions};
pub use slow_way::DelayProxy;
pub use sshd::Sshd;

use std::path::PathBuf;

/// The folder of downloaded servers, data directory templates and the list of skipped tests:
/// `target/testbeds`.
pub fn testbeds_dir() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/testbeds")
}
