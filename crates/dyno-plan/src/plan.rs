//! The validated plan: what every other part of Dyno reads.
//!
//! Values here are within their limits by construction, because `crate::read` is the only way users' text becomes
//! a [`Plan`]. It serializes with the same section and key names that users write, so a record shows the plan as its
//! author knows it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Blocks, Bytes, Rate, Size, Span};
use crate::url::TargetUrl;

/// The version of the plan format that this program writes and reads.
pub const PLAN_VERSION: u32 = 1;

/// One validated plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// The version of the plan format, [`PLAN_VERSION`].
    pub version: u32,
    /// Which database.
    pub target: Target,
    /// Which data it holds.
    pub data: Data,
    /// Which load is put on it.
    pub workload: Workload,
    /// How many sessions, for how long.
    pub run: Run,
    /// What is watched meanwhile.
    pub observe: Observe,
    /// What else is done around a run.
    #[serde(default, skip_serializing_if = "Hooks::is_default")]
    pub hooks: Hooks,
    /// Which runs a sweep has; not there in the plan of one run.
    #[serde(default, skip_serializing_if = "Sweep::is_default")]
    pub sweep: Sweep,
}

/// Section `[target]`: which database, and how to reach it. Never holds a password.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Target {
    /// Where the database is; the first one where there are several.
    pub url: TargetUrl,
    /// Where the databases are, when there are several; else empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub urls: Vec<TargetUrl>,
    /// How many sessions each of several databases gets for those of the others; empty is all alike.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<u32>,
    /// Whether several databases have their data each, or reach the same.
    #[serde(default, skip_serializing_if = "Holding::is_default")]
    pub data: Holding,
    /// The environment variable that holds the password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password_env: Option<String>,
    /// The file whose first line is the password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password_file: Option<String>,
    /// The longest wait for one connection.
    pub connect_timeout: Span,
}

/// Which data several targets hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Holding {
    /// Each its own copy.
    #[default]
    Each,
    /// All reach the same.
    Shared,
}

/// Section `[data]`: the data that is hard on the platform.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Data {
    /// Independent copies of the test tables.
    pub schemas: u32,
    /// Size of each schema's table; one row is one block.
    pub scale: Size,
    /// Size of each schema's table without an index, for full scans; zero blocks is none.
    pub scan_scale: Size,
    /// Block size: SQLite's page size, checked on servers. Absent is the engine's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_size: Option<Bytes>,
    /// Share of the filler that compresses away, 0–100 %.
    pub compressible: u32,
    /// Seed of the data: the same seed gives the same rows.
    pub seed: u64,
    /// Connections that load at the same time.
    pub load_parallel: u32,
}

/// Section `[workload]`: the load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Workload {
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
    /// How an update's commit waits for its redo; only Oracle knows another way than to wait.
    #[serde(default, skip_serializing_if = "Commit::is_default")]
    pub commit: Commit,
    /// Open loop at this many operations per second over all sessions; absent is closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// How arrivals of an open loop are spaced.
    pub arrivals: Arrivals,
    /// Seed of the operations' random draws.
    pub seed: u64,
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
    /// Each commit waits until its redo is on storage.
    #[default]
    Wait,
    /// No commit waits (Oracle's `COMMIT WRITE BATCH NOWAIT`).
    Nowait,
    /// Commits run inside PL/SQL, which waits once at the end of a call (Oracle).
    Plsql,
}

/// Whether Oracle's own reports are made around a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Awr {
    /// Where AWR is licensed and allowed, or STATSPACK is installed.
    #[default]
    Auto,
    /// Always; a run that cannot make them fails.
    On,
    /// Never.
    Off,
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

/// Section `[run]`: how many sessions, for how long.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// Sessions on each schema.
    pub sessions_per_schema: u32,
    /// Threads that lead the sessions where one can lead several; absent for one per processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// Load before the window that is not counted.
    pub warmup: Span,
    /// Length of the window. Absent when `ops_per_session` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Span>,
    /// The window ends when every session has done this many operations. Absent when `time` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ops_per_session: Option<u64>,
    /// The longest wait for operations still under way after the window.
    pub drain: Span,
}

/// How long a window lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// A length of time.
    Time(Span),
    /// Operations that every session must have done.
    Ops(u64),
}

/// A number of sessions over all schemas.
pub type SessionCount = u32;

/// Section `[observe]`: what is watched during a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Observe {
    /// Spacing of the series.
    pub interval: Span,
    /// Samples of wait events per second, on a connection of its own; absent (`"off"`) is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Rate>,
    /// Whether Oracle's own reports are made around a run.
    #[serde(default, skip_serializing_if = "Awr::is_default")]
    pub awr: Awr,
}

/// Section `[hooks]`: commands around every run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hooks {
    /// Run before the sessions connect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_run: Option<String>,
    /// Run when all sessions are connected, before the gate opens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pre: Option<String>,
    /// Run when the sessions have ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub post: Option<String>,
    /// Run after the record is stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_run: Option<String>,
    /// Run once, after all runs of a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    /// The longest that a command may take.
    pub timeout: Span,
}

/// Section `[sweep]`: runs over a grid of settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sweep {
    /// Keys and their values, in the order in which they were written.
    pub axes: Vec<Axis>,
    /// How far the sessions rise.
    pub until: Until,
    /// Runs of every point.
    pub repeats: u32,
    /// The order of the points in time.
    pub order: Order,
    /// Seed of the random order.
    pub seed: u64,
    /// Rest between two runs.
    pub pause: Span,
}

/// One axis of a sweep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Axis {
    /// The key: `workload.update_pct`; `sessions` is sessions over all schemas.
    pub key: String,
    /// Its values as a plan spells them.
    pub values: Vec<String>,
}

/// How far the sessions of a sweep rise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Until {
    /// To the last value.
    End,
    /// Two steps further than throughput rises.
    Saturation,
}

/// The order of a sweep's points in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Shuffled.
    Random,
    /// As written, sessions rising.
    Up,
    /// Up, and with the next repeat down.
    UpDown,
}

impl Default for Hooks {
    /// No commands.
    fn default() -> Self {
        Self {
            before_run: None,
            pre: None,
            post: None,
            after_run: None,
            end: None,
            timeout: Span(std::time::Duration::from_secs(300)),
        }
    }
}

impl Hooks {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for Sweep {
    /// No axes.
    fn default() -> Self {
        Self {
            axes: Vec::new(),
            until: Until::End,
            repeats: 1,
            order: Order::Random,
            seed: 1,
            pause: Span(std::time::Duration::ZERO),
        }
    }
}

impl Sweep {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Until {
    /// The word in plans: `saturation`.
    pub fn name(self) -> &'static str {
        match self {
            Self::End => "end",
            Self::Saturation => "saturation",
        }
    }
}

impl Order {
    /// The word in plans: `up-down`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Up => "up",
            Self::UpDown => "up-down",
        }
    }
}

impl Redo {
    /// The word in plans: `lite`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lite => "lite",
            Self::Heavy => "heavy",
        }
    }
}

impl Keys {
    /// The word in plans: `zipf`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Zipf => "zipf",
            Self::Latest => "latest",
        }
    }
}

impl Default for Workload {
    /// As a plan that says nothing of it.
    fn default() -> Self {
        Self {
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
            rate: None,
            arrivals: Arrivals::Poisson,
            seed: 1,
        }
    }
}

impl Workload {
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

impl Holding {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The word in plans: `shared`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Each => "each",
            Self::Shared => "shared",
        }
    }
}

impl Drive {
    /// The word in plans: `client`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }
}

impl Commit {
    /// The word in plans: `nowait`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wait => "wait",
            Self::Nowait => "nowait",
            Self::Plsql => "plsql",
        }
    }

    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Awr {
    /// The word in plans: `auto`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::On => "on",
            Self::Off => "off",
        }
    }

    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Arrivals {
    /// The word in plans: `poisson`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::Poisson => "poisson",
        }
    }
}

impl Plan {
    /// Sessions over all schemas.
    pub fn sessions(&self) -> SessionCount {
        self.data.schemas * self.run.sessions_per_schema
    }
}

impl Run {
    /// How long the window lasts: exactly one of `time` and `ops_per_session` is there in a validated plan.
    pub fn length(&self) -> Length {
        match (self.ops_per_session, self.time) {
            (Some(ops), _) => Length::Ops(ops),
            (None, Some(time)) => Length::Time(time),
            (None, None) => unreachable!("a validated plan has run.time or run.ops_per_session"),
        }
    }
}
