//! The validated plan: what every other part of Dyno reads.
//!
//! Values here are within their limits by construction, because `crate::read` is the only way users' text becomes
//! a [`Plan`]. It serializes with the same section and key names that users write, so a record shows the plan as its
//! author knows it.

pub(crate) mod field;
mod sides;
mod sweep;
pub(crate) mod workload;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::hosts::HostSpec;
use crate::units::{Bytes, Rate, Size, Span};
use crate::url::TargetUrl;
use field::{listed, words};

pub use field::Field;
pub use sides::{OWN_MIX, OwnRate, Side};
pub use sweep::{Axis, Order, Sweep, Until};
pub use workload::{Arrivals, Commit, Connect, Drive, Keys, Protocol, Redo, Workload};

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
    #[serde(default, skip_serializing_if = "is_default")]
    pub hooks: Hooks,
    /// Which runs a sweep has; not there in the plan of one run.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sweep: Sweep,
}

/// Section `[target]`: which database, and how to reach it. Never holds a password.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Target {
    /// Where the database is; the first one where there are several.
    pub url: TargetUrl,
    /// Where the databases are, when there are several; else empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub urls: Vec<TargetUrl>,
    /// How many of several databases are driven, from the first on; absent for all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// How many sessions each of several databases gets for those of the others; empty is all alike.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<u32>,
    /// Whether several databases have their data each, or reach the same.
    #[serde(default, skip_serializing_if = "is_default")]
    pub data: Holding,
    /// Whether other Dynos may be at work on the same server.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
    /// Where observers, checks, loads and the lock connect, if not to `url`, which is then a pooler's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observe_url: Option<TargetUrl>,
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
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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

/// Whose figures those of this machine are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ObservedHost {
    /// The database's, too, where it runs here.
    #[default]
    Auto,
    /// The load's alone: nothing of the database's host is looked at, wherever it runs.
    Driver,
}

/// Which of Oracle's own reports is made around a run. AWR is part of the Diagnostics Pack, which costs a licence, so nothing
/// of it is touched without the user's word.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Awr {
    /// None.
    #[default]
    Off,
    /// STATSPACK's, and never AWR's; a run that cannot make it is refused.
    Statspack,
    /// AWR's: the user says that the Diagnostics Pack is licensed; a run that cannot make it is refused.
    Awr,
}

/// Section `[run]`: how many sessions, for how long.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// Sessions on each schema.
    pub sessions_per_schema: u32,
    /// Threads that lead the sessions where one can lead several; absent for one per processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// Whether threads and sessions are placed by the processors of the server.
    #[serde(default, skip_serializing_if = "is_default")]
    pub placement: Placement,
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
    /// Whether this host's page cache is dropped before the sessions connect.
    #[serde(default, skip_serializing_if = "is_default")]
    pub drop_page_cache: bool,
    /// What a run does when its sessions lose the database.
    #[serde(default, skip_serializing_if = "is_default")]
    pub on_lost: OnLost,
}

/// What a run does when its sessions lose the database.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnLost {
    /// Sessions try to connect again for 30 s. The run fails when the database's counters cannot be read.
    #[default]
    Fail,
    /// Sessions and observers try to connect again until the run ends, and the outage is measured.
    Reconnect,
}

/// Whether Dyno's threads are kept beside the server's processes, where both run on one machine. That changes the platform:
/// without it the operating system alone decides.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Placement {
    /// Each thread stays on a processor of its own and leads the sessions that the server works for there.
    #[default]
    Auto,
    /// The operating system places threads and processes alone.
    None,
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
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Observe {
    /// Spacing of the series.
    pub interval: Span,
    /// Samples of wait events per second, on a connection of its own; absent (`"off"`) is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Rate>,
    /// Whose figures those of this machine are.
    #[serde(default, skip_serializing_if = "is_default")]
    pub host: ObservedHost,
    /// Machines that are looked at beside this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostSpec>,
    /// Whether Oracle's own reports are made around a run.
    #[serde(default, skip_serializing_if = "is_default")]
    pub awr: Awr,
    /// Whether `perf` takes a profile of the processors over the window.
    #[serde(default, skip_serializing_if = "is_default")]
    pub perf: bool,
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

/// The only URL.
impl Field<TargetUrl> for Target {
    fn put(&mut self, url: TargetUrl) {
        self.url = url;
    }

    fn text(&self) -> Option<String> {
        self.urls.is_empty().then(|| self.url.to_string())
    }
}

/// Several URLs.
impl Field<Vec<TargetUrl>> for Target {
    fn put(&mut self, urls: Vec<TargetUrl>) {
        self.url = urls[0].clone();
        self.urls = urls;
    }

    fn text(&self) -> Option<String> {
        listed(&self.urls)
    }
}

words! {
    Holding { Each = "each", Shared = "shared" }
    ObservedHost { Auto = "auto", Driver = "driver" }
    Awr { Off = "off", Statspack = "statspack", Awr = "awr" }
    Placement { Auto = "auto", None = "none" }
    OnLost { Fail = "fail", Reconnect = "reconnect" }
}

/// Whether a plan need not say it.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Plan {
    /// Sessions of all schemas and workloads.
    pub fn sessions(&self) -> SessionCount {
        self.sides().fold(0u32, |sum, side| sum.saturating_add(side.sessions))
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
