//! The databases under test as records describe them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::counting::CountingRules;
use crate::instance_load::InstanceLoad;
use crate::target_results::TargetFigures;

/// Product, version and settings that a target reports.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Identity {
    /// Name of the product: `PostgreSQL`.
    pub product: String,
    /// Its version, as the database prints it.
    pub version: String,
    /// The database's block size in bytes; 0 if it is chosen when data is loaded.
    pub block_size: u64,
    /// The largest size of its block cache in bytes; absent if unknown, or if each session has its own cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_bytes: Option<u64>,
    /// Whether it reads data files without the operating system's page cache; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direct_io: Option<bool>,
    /// The database's own measurement of its storage, if it supports that and the user requested it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibrated: Option<OwnCalibration>,
    /// Settings that affect a run: name → value, with units as the database prints them.
    pub settings: BTreeMap<String, String>,
    /// Names of settings that differ from the product's defaults.
    pub non_default: Vec<String>,
    /// Settings that make a commit or the data not survive a crash, each with its meaning: `fsync = off: …`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_durable: Vec<String>,
    /// Path of the data on the database's host, if the database reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_path: Option<String>,
    /// Path of the redo on the database's host, if the database reports it and it differs from `data_path`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redo_path: Option<String>,
    /// Whether the database runs on the driver host; only then do that host's figures describe the database.
    pub same_host: bool,
    /// How the database counts its work.
    #[serde(default)]
    pub counting: CountingRules,
    /// The processes of the database on the driver host. Process ids mean nothing later, so records do not store them.
    #[serde(skip)]
    pub processes: ServerProcesses,
}

/// A database's own measurement of its storage (Oracle: `DBMS_RESOURCE_MANAGER.CALIBRATE_IO`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OwnCalibration {
    /// Requests per second for single blocks.
    pub requests_per_s: f64,
    /// Throughput of large requests by all processes, in MB per second.
    pub mb_per_s: f64,
    /// Throughput of large requests by one process, in MB per second.
    pub process_mb_per_s: f64,
    /// Mean latency of a request for a single block, in ms.
    pub latency_ms: f64,
    /// When the measurement ended, by the database's clock.
    pub ended_at: String,
}

/// Which processes of the driver host belong to the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerProcesses {
    /// No known ones: the database runs on another host, or in a container that Dyno cannot see into. On its own host, its
    /// processes have these names.
    Elsewhere(&'static [&'static str]),
    /// The database runs inside this program.
    This,
    /// A process and all its descendants.
    Tree(u32),
    /// All processes whose command begins with one of `starts` and ends with `ends`.
    Called {
        /// How the command can begin.
        starts: &'static [&'static str],
        /// How the command ends, in upper or lower case.
        ends: String,
    },
    /// The database runs on this host, but its processes cannot be identified, for this reason.
    Unknown(String),
}

impl Default for ServerProcesses {
    /// The default: no processes are known.
    fn default() -> Self {
        Self::Elsewhere(&[])
    }
}

/// One target of the run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetFacts {
    /// URL of the target, without secrets.
    pub url: String,
    /// Name of the engine: `postgres`.
    pub engine: String,
    /// Product, version and settings of the database.
    #[serde(flatten)]
    pub identity: Identity,
    /// The loaded data that the run used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<dyno_plan::DataSpec>,
    /// How earlier updates changed the data before the run, if figures depend on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_note: Option<String>,
    /// The load of each instance of the database that served sessions; empty if one instance served all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instances: Vec<InstanceLoad>,
    /// Its results in a run with several targets; absent for a single target, whose results are the record's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<Box<TargetFigures>>,
}

/// The importance of an [`Advice`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The platform is set up as it should be.
    Ok,
    /// Information that the user should know.
    Note,
    /// A problem that makes figures less meaningful than they seem.
    Warn,
    /// A problem that prevents a run or makes it wrong.
    Fail,
}

/// One finding of the preflight check, with a hint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Advice {
    /// The name of the check: `privileges`, `track_io_timing`.
    pub check: String,
    /// The importance of the finding.
    pub severity: Severity,
    /// The finding as one sentence.
    pub found: String,
    /// What the user can do about it, as a command if there is one; empty if nothing is needed.
    pub way_out: String,
}
