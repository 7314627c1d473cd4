//! Section `[workload]`: the load of each session.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::concurrent_workloads::OwnRate;
use super::field::words;
use crate::phases::{RateCurve, RatePhase};
use crate::units::{BlockCount, BlocksOrBytes, Bytes, Rate, TimeSpan};

/// Section `[workload]`: the load of the sessions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkloadSettings {
    /// The folder of a custom workload, whose transactions replace the operations of the block workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The scale of the custom workload, which sets its table rows and bounds of generators; absent for its own default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<u32>,
    /// The mix of the workload to run; absent for its own mix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mix: Option<String>,
    /// Options of the workload as `name=value`; an option that is not listed has its default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Folders of background workloads, each with its own sessions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<String>,
    /// The mix of each background workload; empty or [`OWN_MIX`](super::OWN_MIX) for its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside_mix: Vec<String>,
    /// Sessions of each background workload; empty for one each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside_sessions: Vec<u32>,
    /// The rate of each background workload over its sessions, absent for a closed loop; empty for closed loops only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside_rate: Vec<Option<Rate>>,
    /// Transactions with their own rates. Not a key of a plan: the workload folders set them, and their reader stores them here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own_rates: Vec<OwnRate>,
    /// Share of operations that are updates, 0–100 %.
    pub update_pct: u32,
    /// Share of the reads that are full scans, 0–100 %.
    pub scan_pct: u32,
    /// Share of the reads that are single-row lookups by key, 0–100 %.
    pub lookup_pct: u32,
    /// Share of the reads that are lookups of some 25 rows by the secondary key, 0–100 %.
    #[serde(default)]
    pub secondary_pct: u32,
    /// Share of operations that are inserts of one row; absent is as `delete_pct`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub insert_pct: Option<u32>,
    /// Share of operations that are deletes of one row; absent is as `insert_pct`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delete_pct: Option<u32>,
    /// Rows, hence blocks, that one `select` or `update` touches.
    pub work_unit: u32,
    /// How the keys of operations are drawn.
    #[serde(default)]
    pub keys: KeyDistribution,
    /// Exponent of the Zipf distribution: the k-th key is drawn in proportion to `1 ÷ k^exponent`.
    #[serde(default = "defaults::zipf_exponent")]
    pub zipf_exponent: f64,
    /// Every n-th operation starts inside the hot spot; 0 is off.
    #[serde(default)]
    pub hot_spot_every: u32,
    /// First key of the hot spot, as an offset into the keys.
    #[serde(default = "defaults::hot_spot_offset")]
    pub hot_spot_offset: BlocksOrBytes,
    /// Size of the hot spot, in keys (blocks) or bytes.
    #[serde(default = "defaults::hot_spot_size")]
    pub hot_spot_size: BlocksOrBytes,
    /// Every n-th operation goes to schema 1; 0 is off.
    #[serde(default)]
    pub hot_schema_every: u32,
    /// About one operation in n is followed by a sleep; 0 is off.
    #[serde(default)]
    pub think_every: u32,
    /// The shortest sleep between operations.
    #[serde(default = "defaults::think_min")]
    pub think_min: TimeSpan,
    /// The longest sleep between operations.
    #[serde(default = "defaults::think_max")]
    pub think_max: TimeSpan,
    /// Whether a sleep is shortened by the time that the operation took.
    #[serde(default)]
    pub think_compensated: bool,
    /// How much an update writes: two columns or all.
    pub redo: Redo,
    /// Where the loop of operations runs.
    pub drive: DriveMode,
    /// How an update's commit waits for its redo, if a session can choose.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub commit: Commit,
    /// The protocol by which statements reach the server.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub protocol: StatementProtocol,
    /// How long a session keeps its connection.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub connect: Connect,
    /// Open loop with this many operations per second over all sessions; absent for a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Open loop with a rate that changes by a schedule; empty for none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<RatePhase>,
    /// The distribution of arrivals in an open loop.
    pub arrivals: Arrivals,
    /// Seed of the operations' draws; absent for a different one in each run, which the record names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// How the keys of operations are drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum KeyDistribution {
    /// All keys with the same probability.
    #[default]
    Uniform,
    /// Zipf's law over scrambled keys: frequently drawn keys are spread over the table.
    Zipf,
    /// Zipf's law counted down from the last key.
    Latest,
}

/// How much an update writes: two columns or all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Redo {
    /// An update sets two columns.
    Lite,
    /// An update sets all nineteen columns.
    Heavy,
}

/// Where the loop of operations runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DriveMode {
    /// In Dyno: each operation crosses the network, with true response times and commits.
    Client,
    /// In the database, in slices of operations: least client cost.
    Server,
}

/// How an update's commit waits for its redo.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Commit {
    /// Each commit waits as the server's settings say.
    #[default]
    Wait,
    /// No commit waits (Oracle's `COMMIT WRITE BATCH NOWAIT`, PostgreSQL's `synchronous_commit = off`).
    Nowait,
    /// Commits run inside PL/SQL, which waits once at the end of each call (Oracle).
    Plsql,
}

/// The protocol by which statements reach the server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StatementProtocol {
    /// Prepared once per connection and executed with bound values.
    #[default]
    Prepared,
    /// Parsed and planned at each execution, with bound values.
    Extended,
    /// Sent as text that contains the values.
    Simple,
}

/// How long a session keeps its connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Connect {
    /// From the session's start to its end.
    #[default]
    Session,
    /// For one transaction, whose time includes connecting.
    Transaction,
}

/// The distribution of arrivals in an open loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Arrivals {
    /// Evenly spaced, at a constant interval.
    Constant,
    /// As a Poisson process: independent arrivals, exponential gaps.
    Poisson,
}

impl Default for WorkloadSettings {
    /// The workload of a plan that sets no key of it.
    fn default() -> Self {
        Self {
            folder: None,
            scale: None,
            mix: None,
            beside: Vec::new(),
            beside_mix: Vec::new(),
            options: Vec::new(),
            beside_sessions: Vec::new(),
            beside_rate: Vec::new(),
            own_rates: Vec::new(),
            update_pct: 0,
            scan_pct: 0,
            lookup_pct: 0,
            secondary_pct: 0,
            insert_pct: None,
            delete_pct: None,
            work_unit: 64,
            keys: KeyDistribution::Uniform,
            zipf_exponent: defaults::zipf_exponent(),
            hot_spot_every: 0,
            hot_spot_offset: defaults::hot_spot_offset(),
            hot_spot_size: defaults::hot_spot_size(),
            hot_schema_every: 0,
            think_every: 0,
            think_min: defaults::think_min(),
            think_max: defaults::think_max(),
            think_compensated: false,
            redo: Redo::Lite,
            drive: DriveMode::Client,
            commit: Commit::Wait,
            protocol: StatementProtocol::Prepared,
            connect: Connect::Session,
            rate: None,
            phases: Vec::new(),
            arrivals: Arrivals::Poisson,
            seed: None,
        }
    }
}

impl WorkloadSettings {
    /// The seed of the operations' draws; 0 until one is chosen.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(0)
    }

    /// The rate of the phases as a function of time, after a lead of `lead_s` seconds; `None` without phases.
    pub fn curve(&self, lead_s: f64) -> Option<RateCurve> {
        (!self.phases.is_empty()).then(|| RateCurve::of(&self.phases, lead_s))
    }

    /// Share of operations that are inserts, and also that are deletes: both are equal, so that tables keep their size.
    pub fn churn_pct(&self) -> u32 {
        self.insert_pct.or(self.delete_pct).unwrap_or(0)
    }

    /// The same load without changes to rows, for a read-only target.
    #[must_use]
    pub fn reads_only(&self) -> Self {
        Self { update_pct: 0, insert_pct: None, delete_pct: None, ..self.clone() }
    }

    /// Whether any operation changes rows.
    pub fn writes(&self) -> bool {
        self.update_pct > 0 || self.churn_pct() > 0
    }

    /// The hot spot for blocks of `block_size` bytes: the number of keys before it, and the number of keys in it. `None` if
    /// there is none.
    pub fn hot_spot(&self, block_size: Bytes) -> Option<(u64, u64)> {
        let blocks = |size: BlocksOrBytes| size.blocks(block_size).0;
        (self.hot_spot_every > 0).then(|| (blocks(self.hot_spot_offset), blocks(self.hot_spot_size)))
    }
}

words! {
    Redo { Lite = "lite", Heavy = "heavy" }
    KeyDistribution { Uniform = "uniform", Zipf = "zipf", Latest = "latest" }
    DriveMode { Client = "client", Server = "server" }
    Commit { Wait = "wait", Nowait = "nowait", Plsql = "plsql" }
    StatementProtocol { Prepared = "prepared", Extended = "extended", Simple = "simple" }
    Connect { Session = "session", Transaction = "transaction" }
    Arrivals { Constant = "constant", Poisson = "poisson" }
}

/// Values for keys that older records do not have: the defaults of plans.
mod defaults {
    use super::{BlockCount, BlocksOrBytes, Bytes, TimeSpan};
    use std::time::Duration;

    pub(super) fn zipf_exponent() -> f64 {
        0.99
    }

    pub(super) fn hot_spot_offset() -> BlocksOrBytes {
        BlocksOrBytes::Blocks(BlockCount(0))
    }

    pub(super) fn hot_spot_size() -> BlocksOrBytes {
        BlocksOrBytes::Bytes(Bytes(1 << 20))
    }

    pub(super) fn think_min() -> TimeSpan {
        TimeSpan(Duration::from_millis(100))
    }

    pub(super) fn think_max() -> TimeSpan {
        TimeSpan(Duration::from_millis(500))
    }
}
