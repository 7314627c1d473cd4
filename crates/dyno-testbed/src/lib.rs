//! Real database servers as children of the tests.
//!
//! A number that was only ever seen against a mock is a guess, so every test of an engine runs against the engine. This
//! crate starts servers on free loopback ports with data directories of their own, hands out URLs, kills them the hard
//! way where a test wants that, and leaves nothing behind: a server dies with the test process, whatever ends it.
//!
//! - [`Postgres`] is one PostgreSQL server, [`Version`] one set of its binaries;
//! - [`Postgres::available`] lists the versions of this machine, and says and counts which of [`WANTED_MAJORS`] are missing;
//! - [`MySql`] is one MySQL or MariaDB server, [`MyVersion`] one set of its programs;
//! - [`Galera`] is a cluster of MariaDB servers;
//! - [`Nginx`] is a proxy in front of a server of pages;
//! - [`Sshd`] and [`NodeExporter`] are ways to a machine that is looked at from elsewhere;
//! - [`Nats`] is one NATS server;
//! - [`ScriptedOracle`] speaks Oracle's wire protocol and answers by a script, or by a [`ModelDatabase`] that remembers what clients
//!   did: the one double;
//! - [`SlowWay`] is a way to a server that takes a while;
//! - [`skip`] and [`cannot`] are the ways for a test to say that it did not run: something could be installed, or nothing
//!   helps on this machine.
//!
//! `scripts/testbeds.sh` installs what is missing.

mod bins;
pub mod certificates;
mod child;
mod command;
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
mod used;

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
    ModelDatabase, ModelFaults, ModelOptions, ModelWork, ScriptedAnswer, ScriptedCall, ScriptedDatabase,
    ScriptedGreeting, ScriptedOptions, ScriptedOracle, ScriptedRelease, ScriptedType, ScriptedValue,
    SessionLabels, WireCounts,
};
pub use skip::{ALL_VERSIONS_ENV, REQUIRE_ALL_ENV, cannot, skip, with_those_between};
pub use slow_way::SlowWay;
pub use sshd::Sshd;

use std::path::PathBuf;

/// The folder of downloaded servers, data directory templates and the list of skipped tests: `target/testbeds`.
pub fn testbeds_dir() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/testbeds")
}
