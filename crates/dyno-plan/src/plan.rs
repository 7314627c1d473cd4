//! The validated plan, which all other parts of Dyno read.
//!
//! All values are within their limits, because only `crate::read` converts users' text into a [`Plan`]. It serializes with
//! the section and key names that users write, so a record shows the plan in its author's terms.

mod concurrent_workloads;
pub(crate) mod field;
mod sweep;
pub(crate) mod workload;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::hosts::HostSpec;
use crate::units::{BlocksOrBytes, Bytes, Rate, TimeSpan};
use crate::url::TargetUrl;
use field::{listed, words};

pub use concurrent_workloads::{OWN_MIX, OwnRate, WorkloadShare};
pub use field::Field;
pub use sweep::{SweepGridAxis, SweepPointOrder, SweepSettings, Until};
pub use workload::{
    Arrivals, Commit, Connect, DriveMode, KeyDistribution, Redo, StatementProtocol, WorkloadSettings,
};

/// The version of the plan format that this program reads and writes.
pub const PLAN_VERSION: u32 = 1;

/// One validated plan, as the record stores it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// The version of the plan format, [`PLAN_VERSION`].
    pub version: u32,
    /// The database and how to reach it.
    pub target: TargetSettings,
    /// The data that the database holds.
    pub data: DataSettings,
    /// The load on the database.
    pub workload: WorkloadSettings,
    /// Number of sessions, and duration.
    pub run: RunSettings,
    /// What Dyno observes during the run.
    pub observe: ObserveSettings,
    /// Commands around the run.
    #[serde(default, skip_serializing_if = "is_default")]
    pub hooks: HookSettings,
    /// The runs of a sweep; absent in the plan of one run.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sweep: SweepSettings,
}

/// Section `[target]`: the database, and how to reach it. Never contains a password.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetSettings {
    /// URL of the database; of the first one if there are several.
    pub url: TargetUrl,
    /// URLs of all databases if there are several; otherwise empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub urls: Vec<TargetUrl>,
    /// How many of several databases the run uses, counted from the first; absent for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// Relative number of sessions of each database; empty if all get the same number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<u32>,
    /// Whether several databases hold separate data or share it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub data: DataSharing,
    /// Whether other Dyno processes may work on the same server.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
    /// Where observers, checks, loads and the lock connect when `url` is that of a pooler; absent to use `url`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observe_url: Option<TargetUrl>,
    /// The environment variable that holds the password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password_env: Option<String>,
    /// The file whose first line is the password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password_file: Option<String>,
    /// The longest wait for one connection to open.
    pub connect_timeout: TimeSpan,
}

/// Whether several targets hold separate data or share it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DataSharing {
    /// Each target holds its own copy.
    #[default]
    Each,
    /// All targets reach the same data.
    Shared,
}

/// Section `[data]`: the test data.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DataSettings {
    /// Independent copies of the test tables.
    pub schemas: u32,
    /// Size of each schema's table; one row is one block.
    pub scale: BlocksOrBytes,
    /// Size of each schema's table without an index, for full scans; zero blocks for no table.
    pub scan_scale: BlocksOrBytes,
    /// Block size: SQLite's page size, checked on servers. Absent for the engine's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_size: Option<Bytes>,
    /// Share of the filler that compresses away, 0–100 %.
    pub compressible: u32,
    /// Seed of the data; equal seeds give equal rows.
    pub seed: u64,
    /// Number of connections that load at the same time.
    pub load_parallel: u32,
    /// Whether the database copies schemas 2 and above from schema 1.
    #[serde(default, skip_serializing_if = "is_default")]
    pub copy_schemas: bool,
}

/// What the figures of this host describe.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ObservedHost {
    /// The load, and the database if it runs here.
    #[default]
    Auto,
    /// The load only: Dyno reads nothing of the database's host, wherever it runs.
    Driver,
}

/// Which Oracle report is made around a run. AWR is part of the Diagnostics Pack, which requires a license, so Dyno uses it
/// only if the plan says so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AwrObserveMode {
    /// No report of Oracle's own.
    #[default]
    Off,
    /// A STATSPACK report, never AWR; a run that cannot make it is refused.
    Statspack,
    /// An AWR report; the user confirms the Diagnostics Pack license. A run that cannot make the report is refused.
    Awr,
}

/// Section `[run]`: number of sessions, and duration.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunSettings {
    /// Number of sessions on each schema.
    pub sessions_per_schema: u32,
    /// Threads that run the sessions, for engines where one thread can run several; absent for one per processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// Whether Dyno places threads and sessions by the processors of the server.
    #[serde(default, skip_serializing_if = "is_default")]
    pub placement: Placement,
    /// Load before the window, not counted in results.
    pub warmup: TimeSpan,
    /// Length of the window; absent if `ops_per_session` is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<TimeSpan>,
    /// Operations per session after which the window ends; absent if `time` is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ops_per_session: Option<u64>,
    /// The longest wait for operations in progress after the window.
    pub drain: TimeSpan,
    /// Whether Dyno drops this host's page cache before the sessions connect.
    #[serde(default, skip_serializing_if = "is_default")]
    pub drop_page_cache: bool,
    /// What a run does when its sessions lose their connections.
    #[serde(default, skip_serializing_if = "is_default")]
    pub on_lost: OnLost,
}

/// What a run does when its sessions lose their connections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnLost {
    /// Sessions try to reconnect for 30 s. The run fails if the database's counters cannot be read.
    #[default]
    Fail,
    /// Sessions and observers try to reconnect until the run ends, and Dyno measures the outage.
    Reconnect,
}

/// Whether Dyno places its threads beside the server's processes when both run on one host. Placement changes the platform:
/// without it only the operating system decides.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Placement {
    /// Each thread stays on one processor and runs the sessions whose server processes work there.
    #[default]
    Auto,
    /// The operating system places all threads and processes.
    None,
}

/// How long a window lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// A fixed length of time.
    Time(TimeSpan),
    /// A number of operations for every session.
    Ops(u64),
}

/// A number of sessions over all schemas.
pub type SessionCount = u32;

/// Section `[observe]`: what Dyno observes during a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObserveSettings {
    /// Time between two points of the series.
    pub interval: TimeSpan,
    /// Samples of wait events per second, on a separate connection; absent (`"off"`) for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Rate>,
    /// What the figures of this host describe.
    #[serde(default, skip_serializing_if = "is_default")]
    pub host: ObservedHost,
    /// Further hosts that Dyno observes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostSpec>,
    /// Which of Oracle's own reports is made around a run.
    #[serde(default, skip_serializing_if = "is_default")]
    pub awr: AwrObserveMode,
    /// Whether `perf` profiles the processors of this host over the window.
    #[serde(default, skip_serializing_if = "is_default")]
    pub perf: bool,
}

/// Section `[hooks]`: commands around every run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HookSettings {
    /// Command to run before the sessions connect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_run: Option<String>,
    /// Command to run when all sessions are connected, before the gate opens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pre: Option<String>,
    /// Command to run when the sessions have ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub post: Option<String>,
    /// Command to run after the record is stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_run: Option<String>,
    /// Command to run once, after all runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    /// The longest time that one command may take.
    pub timeout: TimeSpan,
}

impl Default for HookSettings {
    /// Hooks without any commands, with the default timeout.
    fn default() -> Self {
        Self {
            before_run: None,
            pre: None,
            post: None,
            after_run: None,
            end: None,
            timeout: TimeSpan(std::time::Duration::from_secs(300)),
        }
    }
}

/// Access to the only URL, `target.url`.
impl Field<TargetUrl> for TargetSettings {
    fn put(&mut self, url: TargetUrl) {
        self.url = url;
    }

    fn text(&self) -> Option<String> {
        self.urls.is_empty().then(|| self.url.to_string())
    }
}

/// Access to several URLs, `target.urls`.
impl Field<Vec<TargetUrl>> for TargetSettings {
    fn put(&mut self, urls: Vec<TargetUrl>) {
        self.url = urls[0].clone();
        self.urls = urls;
    }

    fn text(&self) -> Option<String> {
        listed(&self.urls)
    }
}

words! {
    DataSharing { Each = "each", Shared = "shared" }
    ObservedHost { Auto = "auto", Driver = "driver" }
    AwrObserveMode { Off = "off", Statspack = "statspack", Awr = "awr" }
    Placement { Auto = "auto", None = "none" }
    OnLost { Fail = "fail", Reconnect = "reconnect" }
}

/// Whether serialization can omit the value.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Plan {
    /// Number of sessions over all schemas and workloads.
    pub fn sessions(&self) -> SessionCount {
        self.workload_shares().fold(0u32, |sum, side| sum.saturating_add(side.sessions))
    }
}

impl RunSettings {
    /// The length of the window: a validated plan has exactly one of `time` and `ops_per_session`.
    pub fn length(&self) -> Length {
        match (self.ops_per_session, self.time) {
            (Some(ops), _) => Length::Ops(ops),
            (None, Some(time)) => Length::Time(time),
            (None, None) => unreachable!("a validated plan has run.time or run.ops_per_session"),
        }
    }
}
