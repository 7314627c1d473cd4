//! The databases under test, as records describe them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::counting::CountingRules;
use crate::own::OwnPart;

/// What a target says it is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Identity {
    /// The product: `PostgreSQL`.
    pub product: String,
    /// Its version, as it prints it.
    pub version: String,
    /// The database's own block size in bytes; 0 where it is chosen at load.
    pub block_size: u64,
    /// Bytes that its own cache of blocks holds at most; absent where it does not say, or each session has one of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_bytes: Option<u64>,
    /// Whether it reads data files past the operating system's page cache; absent where unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direct_io: Option<bool>,
    /// What it has measured of its own storage, where it does that and somebody asked it to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibrated: Option<OwnCalibration>,
    /// Settings that shape a run: name → value, with units as the database prints them.
    pub settings: BTreeMap<String, String>,
    /// Names of settings that differ from the product's defaults.
    pub non_default: Vec<String>,
    /// Settings with which a commit, or the data, does not survive a crash, each with what it means: `fsync = off: …`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_durable: Vec<String>,
    /// Where the data lives on the database's own host, if it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_path: Option<String>,
    /// Where the redo lives on the database's own host, if it says so and it is elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redo_path: Option<String>,
    /// Whether the database runs on the machine that drives it; host figures speak of the database only then.
    pub same_host: bool,
    /// How it counts.
    #[serde(default)]
    pub counting: CountingRules,
    /// Which processes of the driving host it is. Numbers of processes mean nothing later, so no record keeps them.
    #[serde(skip)]
    pub processes: ServerProcesses,
}

/// What a database has measured of its own storage (Oracle: `DBMS_RESOURCE_MANAGER.CALIBRATE_IO`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OwnCalibration {
    /// Requests of single blocks per second.
    pub requests_per_s: f64,
    /// MB per second of large requests by all processes.
    pub mb_per_s: f64,
    /// The same by one process.
    pub process_mb_per_s: f64,
    /// Mean time of a request of a single block, ms.
    pub latency_ms: f64,
    /// When it ended, by the database's clock.
    pub ended_at: String,
}

/// Which processes of the host that drives are the database's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerProcesses {
    /// None that are known: it runs on another host, or in surroundings that cannot be seen from here. Where it runs, its
    /// processes have these names.
    Elsewhere(&'static [&'static str]),
    /// It runs inside this program.
    This,
    /// A process and all that it started.
    Tree(u32),
    /// All whose command begins with one of `starts` and ends with `ends`.
    Called {
        /// Beginnings of commands.
        starts: &'static [&'static str],
        /// Their end, in either case.
        ends: String,
    },
    /// It runs on this host, but which processes are its own cannot be told, for this reason.
    Unknown(String),
}

impl Default for ServerProcesses {
    /// Nothing is known of them.
    fn default() -> Self {
        Self::Elsewhere(&[])
    }
}

/// One target in a record.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetFacts {
    /// The URL, without secrets.
    pub url: String,
    /// The engine: `postgres`.
    pub engine: String,
    /// What it is.
    #[serde(flatten)]
    pub identity: Identity,
    /// The loaded data that the run worked on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<dyno_plan::DataSpec>,
    /// What updates had made of the data when the run began, where figures depend on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_note: Option<String>,
    /// What it did in a run over several targets; absent where it is the only one, and the record's own figures are its.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<Box<OwnPart>>,
}

/// How much an [`Advice`] matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// As it should be.
    Ok,
    /// Worth knowing.
    Note,
    /// Would make figures say less than they seem to.
    Warn,
    /// A run cannot be done or would be wrong.
    Fail,
}

/// One finding of the preflight check, with its way out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Advice {
    /// What was looked at: `privileges`, `track_io_timing`.
    pub check: String,
    /// How much it matters.
    pub severity: Severity,
    /// What was found, in one sentence.
    pub found: String,
    /// What to do about it, a command where there is one; empty when all is well.
    pub way_out: String,
}
