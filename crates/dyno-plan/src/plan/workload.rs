//! Section `[workload]`: what each session does.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::field::words;
use super::sides::OwnRate;
use crate::phases::{Curve, Phase};
use crate::units::{Blocks, Bytes, Rate, Size, Span};

/// Section `[workload]`: the load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Workload {
    /// The folder of a workload of the user's own, whose transactions take the place of the operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The scale of that workload: what it calculates its tables' rows and its draws' bounds with; absent is what it says itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<u32>,
    /// Which of the workload's mixes is run; absent is the one that it names itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mix: Option<String>,
    /// Options of the workload with their values, `name=value`; others are as the workload takes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Folders of workloads that run at the same time, each in sessions of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<String>,
    /// The mix of each of them; empty for their own, as is [`OWN_MIX`](super::OWN_MIX).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside_mix: Vec<String>,
    /// Sessions of each of them; empty for one each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside_sessions: Vec<u32>,
    /// The rate of each of them over its sessions, none for a closed loop; empty for closed loops.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside_rate: Vec<Option<Rate>>,
    /// Transactions with a rate of their own. No key of a plan: the folders say so, and whoever has read them notes it here.
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
    /// How keys are drawn.
    #[serde(default)]
    pub keys: Keys,
    /// How much a Zipf distribution leans: the k-th key is drawn in proportion to `1 ÷ k^exponent`.
    #[serde(default = "defaults::zipf_exponent")]
    pub zipf_exponent: f64,
    /// Every n-th operation starts inside the hot spot; 0 is off.
    #[serde(default)]
    pub hot_spot_every: u32,
    /// Where the hot spot begins in the space of keys.
    #[serde(default = "defaults::hot_spot_offset")]
    pub hot_spot_offset: Size,
    /// Keys of the hot spot.
    #[serde(default = "defaults::hot_spot_size")]
    pub hot_spot_size: Size,
    /// Every n-th operation goes to schema 1; 0 is off.
    #[serde(default)]
    pub hot_schema_every: u32,
    /// About one operation in n is followed by a sleep; 0 is off.
    #[serde(default)]
    pub think_every: u32,
    /// The shortest sleep.
    #[serde(default = "defaults::think_min")]
    pub think_min: Span,
    /// The longest sleep.
    #[serde(default = "defaults::think_max")]
    pub think_max: Span,
    /// Whether the time that the operation took is part of the sleep.
    #[serde(default)]
    pub think_compensated: bool,
    /// How much an update writes.
    pub redo: Redo,
    /// Where the loop runs.
    pub drive: Drive,
    /// How an update's commit waits for its redo, where a session can choose.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub commit: Commit,
    /// How statements come to the server.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub protocol: Protocol,
    /// How long a session keeps its connection.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub connect: Connect,
    /// Open loop at this many operations per second over all sessions; absent is closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Open loop at a rate that changes by a schedule; empty is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<Phase>,
    /// How arrivals of an open loop are spaced.
    pub arrivals: Arrivals,
    /// Seed of the operations' random draws; absent is one of its own for each run, which the run's record then names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// How keys are drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Keys {
    /// All alike.
    #[default]
    Uniform,
    /// Zipf's law over keys in a scrambled order: the popular ones lie anywhere.
    Zipf,
    /// Zipf's law from the last key down.
    Latest,
}

/// How much an update writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Redo {
    /// Two columns.
    Lite,
    /// All nineteen columns.
    Heavy,
}

/// Where the loop runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Drive {
    /// Each operation crosses the wire: true response times, true commits.
    Client,
    /// Slices of operations run inside the database: least client cost.
    Server,
}

/// How an update's commit waits for its redo.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Commit {
    /// Each commit waits as the server's own settings say.
    #[default]
    Wait,
    /// No commit waits (Oracle's `COMMIT WRITE BATCH NOWAIT`, PostgreSQL's `synchronous_commit = off`).
    Nowait,
    /// Commits run inside PL/SQL, which waits once at the end of a call (Oracle).
    Plsql,
}

/// How statements come to the server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// Prepared once for each connection, and executed with values that are bound.
    #[default]
    Prepared,
    /// Read and planned anew each time, with values that are bound.
    Extended,
    /// Sent as text with the values written out.
    Simple,
}

/// How long a session keeps its connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Connect {
    /// From its begin to its end.
    #[default]
    Session,
    /// For one transaction, whose time connecting is part of.
    Transaction,
}

/// How arrivals of an open loop are spaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Arrivals {
    /// Evenly.
    Constant,
    /// As a Poisson process: independent arrivals, exponential gaps.
    Poisson,
}

impl Default for Workload {
    /// As a plan that says nothing of it.
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
            keys: Keys::Uniform,
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
            drive: Drive::Client,
            commit: Commit::Wait,
            protocol: Protocol::Prepared,
            connect: Connect::Session,
            rate: None,
            phases: Vec::new(),
            arrivals: Arrivals::Poisson,
            seed: None,
        }
    }
}

impl Workload {
    /// The seed of the operations' draws; 0 where none was chosen yet.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(0)
    }

    /// The rate of the phases as a function of time behind a lead of so many seconds; nothing where there are none.
    pub fn curve(&self, lead_s: f64) -> Option<Curve> {
        (!self.phases.is_empty()).then(|| Curve::of(&self.phases, lead_s))
    }

    /// Share of operations that are inserts, and of those that are deletes: both alike, so that tables keep their size.
    pub fn churn_pct(&self) -> u32 {
        self.insert_pct.or(self.delete_pct).unwrap_or(0)
    }

    /// The same load without what changes rows, for a target that takes reads only.
    #[must_use]
    pub fn reads_only(&self) -> Self {
        Self { update_pct: 0, insert_pct: None, delete_pct: None, ..self.clone() }
    }

    /// Whether any operation changes rows.
    pub fn writes(&self) -> bool {
        self.update_pct > 0 || self.churn_pct() > 0
    }

    /// Keys of the hot spot, for blocks of `block_size` bytes: how many lie before it, and how many in it. Nothing if
    /// there is none.
    pub fn hot_spot(&self, block_size: Bytes) -> Option<(u64, u64)> {
        let blocks = |size: Size| size.blocks(block_size).0;
        (self.hot_spot_every > 0).then(|| (blocks(self.hot_spot_offset), blocks(self.hot_spot_size)))
    }
}

words! {
    Redo { Lite = "lite", Heavy = "heavy" }
    Keys { Uniform = "uniform", Zipf = "zipf", Latest = "latest" }
    Drive { Client = "client", Server = "server" }
    Commit { Wait = "wait", Nowait = "nowait", Plsql = "plsql" }
    Protocol { Prepared = "prepared", Extended = "extended", Simple = "simple" }
    Connect { Session = "session", Transaction = "transaction" }
    Arrivals { Constant = "constant", Poisson = "poisson" }
}

/// What older records do not say: as plans without these keys.
mod defaults {
    use super::{Blocks, Bytes, Size, Span};
    use std::time::Duration;

    pub(super) fn zipf_exponent() -> f64 {
        0.99
    }

    pub(super) fn hot_spot_offset() -> Size {
        Size::Blocks(Blocks(0))
    }

    pub(super) fn hot_spot_size() -> Size {
        Size::Bytes(Bytes(1 << 20))
    }

    pub(super) fn think_min() -> Span {
        Span(Duration::from_millis(100))
    }

    pub(super) fn think_max() -> Span {
        Span(Duration::from_millis(500))
    }
}
