//! The run record: one window at one setting, and everything known about it.

use std::collections::BTreeMap;

use dyno_plan::Plan;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::audit::AuditCheck;
use crate::counter::Counters;
use crate::imported::Imported;
use crate::latency::Latency;
use crate::metric::Metric;
use crate::part::PartOf;
use crate::platform::{HostFacts, TargetFacts};
use crate::series::Series;
use crate::waits::Waits;
use crate::whose::Whose;

/// The version of the record format that this program writes.
pub const SCHEMA_VERSION: u32 = 1;

/// A run's name: its start in UTC and four random digits, `20260321-142501-7f3a`. Sorts by time.
pub type RunId = String;

/// What a run came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Done, and the audit found nothing against it.
    Valid,
    /// Taken over from another source: nobody here measured or audited it.
    Imported,
    /// Done, but its numbers cannot be trusted; `reasons` say why. Never shown as a result.
    Invalid,
    /// Stopped before its end; what was measured is kept.
    Interrupted,
    /// The target or the host failed; what was measured is kept.
    Failed,
}

impl RunRecord {
    /// Whether the plan's key `path` is a fact of this run; in an imported record most are not.
    pub fn knows(&self, path: &str) -> bool {
        self.imported.as_ref().is_none_or(|imported| imported.knows(path))
    }

    /// Whether `started_at` tells when it was measured. A source of imported figures need not tell; then it is the moment
    /// of the import, which only keeps the order.
    pub fn is_dated(&self) -> bool {
        self.imported.as_ref().is_none_or(|imported| !imported.undated)
    }

    /// Product and version of the databases, each once: `PostgreSQL 16.2`. Empty where nobody tells.
    pub fn databases(&self) -> String {
        let mut names: Vec<String> = Vec::new();
        for target in &self.targets {
            let name = format!("{} {}", target.identity.product, target.identity.version).trim().to_owned();
            if !name.is_empty() && !names.contains(&name) {
                names.push(name);
            }
        }
        names.join(", ")
    }

    /// Names of the metrics in which others had part, or that cannot be excluded.
    pub fn marked(&self) -> Vec<&str> {
        let marked = self.whose.iter().filter(|(_, whose)| whose.marked);
        marked.map(|(name, _)| name.as_str()).collect()
    }

    /// Sessions that worked, or else the planned ones; 0 where the source of imported figures does not tell.
    pub fn sessions(&self) -> u32 {
        match (self.gate.sessions, self.imported.is_some()) {
            (0, false) => self.plan.sessions(),
            (sessions, _) => sessions,
        }
    }
}

impl Status {
    /// Whether the figures count as a result: those of a valid run, and imported ones, which nobody here audited.
    pub fn counts(self) -> bool {
        matches!(self, Self::Valid | Self::Imported)
    }

    /// The status where there is room for what it means: `imported, not audited`.
    pub fn words(self) -> &'static str {
        match self {
            Self::Imported => "imported, not audited",
            other => other.name(),
        }
    }

    /// The word in records: `valid`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Imported => "imported",
            Self::Invalid => "invalid",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
        }
    }
}

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunRecord {
    /// The version of this format.
    pub schema_version: u32,
    /// The run's name.
    pub id: RunId,
    /// When it started, RFC 3339 in UTC.
    pub started_at: String,
    /// When its record was made, RFC 3339 in UTC.
    pub ended_at: String,
    /// The version of the program that made it.
    pub dyno_version: String,
    /// What it came to.
    pub status: Status,
    /// Why it is not `valid`; empty when it is.
    pub reasons: Vec<String>,
    /// The variant of the platform that it stands for in comparisons: `ext4`, `19c`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// Marks that its author gave it, to find it again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The run over several targets of which this record is one target's own part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_target_of: Option<RunId>,
    /// Where its figures come from, when they were not measured by this program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Imported>,
    /// The plan it followed.
    pub plan: Plan,
    /// Its place in a sweep, search, soak or A/B comparison; absent for a run of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part_of: Option<PartOf>,
    /// The databases.
    pub targets: Vec<TargetFacts>,
    /// The machine that drove it.
    pub host: HostFacts,
    /// The common start.
    pub gate: Gate,
    /// The measured interval; absent when the run ended before one began.
    pub window: Option<Window>,
    /// Operations inside the window by class: `select`, `lookup`, `secondary`, `scan`, `update`, `insert`, `delete`, `commit`, `slice`; and `all`, every
    /// operation but `commit` (a part of a write) and `slice` (a bundle of operations).
    pub ops: BTreeMap<String, OpStats>,
    /// Figures of the window.
    pub metrics: BTreeMap<String, Metric>,
    /// Database counters over the window.
    pub counters: Counters,
    /// Database counters over the sessions' whole life, from before the first connected until after the last had gone,
    /// and what the sessions did in it; every operation is in both, so they can be compared to the unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<Whole>,
    /// Host counters over the window by name: `cpu.user_s`, `device.vda.reads`.
    pub host_counters: BTreeMap<String, f64>,
    /// What sessions waited for.
    pub waits: Waits,
    /// The window interval by interval.
    pub series: Series,
    /// Errors by code, warm-up and drain included.
    pub errors: Vec<ErrorTally>,
    /// Whose work the figures in `metrics` tell; one that is not here is the run's own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub whose: BTreeMap<String, Whose>,
    /// Whether the numbers agree.
    pub audit: Vec<AuditCheck>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

/// The start gate.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Gate {
    /// Sessions that passed it.
    pub sessions: u32,
    /// Largest distance between two sessions' first operations, µs.
    pub skew_us_max: f64,
    /// Time from the first connection to the opening of the gate, s.
    pub connect_s: f64,
    /// Dyno's threads that led the sessions; 0 in records that do not say.
    #[serde(default)]
    pub threads: u32,
    /// Where those threads and the server's processes were; absent where nothing was to be placed, and in records that do not
    /// say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placed>,
}

/// Where threads that lead several sessions were when the gate opened, and where the server worked for these.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Placed {
    /// Threads that were kept on a processor each; 0 where the operating system alone placed them.
    pub kept: u32,
    /// Sessions of which the server told the process or thread that works for them, and it runs on this machine.
    pub told: u32,
    /// Those of them for which it last ran on the processor of the thread that leads the session.
    pub beside: u32,
}

/// The measured interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Window {
    /// Seconds between the two snapshots' own timestamps (monotonic clock): what rates of the host divide by.
    pub seconds: f64,
    /// Mean over the sessions of the seconds from the window's begin, which is one moment for all of them, to their own last
    /// counted moment: what rates of operations divide by. Absent where no sessions were timed; then it is `seconds`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_s: Option<f64>,
    /// Begin snapshot, RFC 3339 in UTC.
    pub begin: String,
    /// End snapshot, RFC 3339 in UTC.
    pub end: String,
    /// How long reading each snapshot took, µs: begin, end.
    pub snapshot_us: (f64, f64),
    /// Largest distance from the snapshots of the moments up to which they hold a session's work, µs: begin, end.
    pub edge_us_max: (f64, f64),
    /// Sessions of which nobody knows what a snapshot holds: they were in an operation until long after it. Begin, end.
    pub edge_late: (u32, u32),
    /// What the sessions did between the two moments up to which the snapshots hold their work: what the database's counters
    /// are compared with. It lacks what was under way at the window's begin, which the snapshot there holds already. Absent
    /// in records of other origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<Counted>,
    /// How much of `counted` the snapshots may hold on the other side: fewer than `counted` by the first, more by the second.
    /// Absent where that is known exactly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsure: Option<(Counted, Counted)>,
    /// Sum over sessions of the time that operations under way at the window's begin had taken before it, s. They count with
    /// all of their time in `service_us`, and with what lies inside in `busy_s`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub before_s: f64,
    /// Sum over sessions of the time spent in operations inside the window, s; `busy_s ÷ (work_s × sessions)` is the share of time the sessions were busy.
    pub busy_s: f64,
    /// Longest interval in which no thread of ours noticed time pass, µs: a suspended process or a starved machine.
    pub stall_us_max: f64,
    /// Longest delay of an operation's start behind its due moment, µs; open loop only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_us_max: Option<f64>,
    /// Sleeps of sessions between operations; absent where the plan has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<ThinkTime>,
    /// Operations that went where load is concentrated; absent where the plan has no such place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hot: Option<HotOps>,
}

/// What sessions did in a stretch of time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counted {
    /// Operations that ended well, by class.
    pub ops: BTreeMap<String, u64>,
    /// Rows read.
    pub rows_read: u64,
    /// Rows updated and committed.
    pub rows_updated: u64,
    /// Rows inserted and committed.
    pub rows_inserted: u64,
    /// Rows deleted and committed.
    pub rows_deleted: u64,
    /// Commits acknowledged.
    pub commits: u64,
    /// Operations that failed.
    pub errors: u64,
}

impl Counted {
    /// Operations of `class`.
    pub fn of(&self, class: OpClass) -> u64 {
        self.ops.get(class.name()).copied().unwrap_or(0)
    }

    /// Operations of all classes but `commit` (a part of a write) and `slice` (a bundle of operations).
    pub fn operations(&self) -> u64 {
        let is_one = |class: &&OpClass| !matches!(class, OpClass::Commit | OpClass::Slice);
        OpClass::ALL.iter().filter(is_one).map(|class| self.of(*class)).sum()
    }

    /// Rows of all kinds.
    pub fn rows(&self) -> u64 {
        self.rows_read + self.rows_updated + self.rows_inserted + self.rows_deleted
    }

    /// Whether nothing was done.
    pub fn is_empty(&self) -> bool {
        self.operations() == 0 && self.commits == 0 && self.errors == 0
    }

    /// Adds what others did.
    pub fn add(&mut self, other: &Self) {
        for (class, ops) in &other.ops {
            *self.ops.entry(class.clone()).or_default() += ops;
        }
        self.rows_read += other.rows_read;
        self.rows_updated += other.rows_updated;
        self.rows_inserted += other.rows_inserted;
        self.rows_deleted += other.rows_deleted;
        self.commits += other.commits;
        self.errors += other.errors;
    }
}

/// Sleeps of sessions between operations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThinkTime {
    /// Sum over sessions of the time slept, s; `seconds ÷ (work_s × sessions)` is the share of time slept.
    pub seconds: f64,
    /// Sleeps begun.
    pub sleeps: u64,
}

/// Operations that went where load is concentrated because it was their turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HotOps {
    /// Started inside the hot spot.
    pub spot: u64,
    /// Of so many that start at a key: selects, lookups, updates.
    pub keyed: u64,
    /// Went to schema 1.
    pub schema: u64,
    /// Of so many that may: all but inserts and deletes.
    pub movable: u64,
}

impl Window {
    /// What rates of operations divide by, s: [`Window::work_s`], or the time between the snapshots where it is not known.
    pub fn work_seconds(&self) -> f64 {
        self.work_s.filter(|seconds| seconds.is_finite() && *seconds > 0.0).unwrap_or(self.seconds)
    }

    /// Share of the work done while the counters were read above which a rate of them is no measurement: repeated runs differ
    /// by as much.
    pub const UNSURE_SHARE_MAX: f64 = 0.02;

    /// Share of the window's work that was done while the counters at its ends were read, and may be in them or not: the
    /// largest of operations, rows and commits, of the worse end.
    pub fn unsure_share(&self) -> f64 {
        let (Some(counted), Some((begin, end))) = (&self.counted, &self.unsure) else { return 0.0 };
        let share = |part: &Counted, of: fn(&Counted) -> u64| match of(part) {
            0 => 0.0,
            part => part as f64 / of(counted).max(1) as f64,
        };
        let worst = |part| {
            share(part, Counted::operations)
                .max(share(part, Counted::rows))
                .max(share(part, |all| all.commits))
        };
        worst(begin).max(worst(end)).min(1.0)
    }

    /// Sessions in an operation on average, as the client sees it (Little's law from the times themselves); absent where no
    /// time was measured.
    pub fn busy_sessions(&self) -> Option<f64> {
        Some(self.busy_s / self.work_seconds()).filter(|busy| busy.is_finite() && *busy >= 0.0)
    }
}

/// One class of operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OpClass {
    /// `COUNT(c2)` over a range of keys.
    Select,
    /// One row by key.
    Lookup,
    /// `COUNT(c2)` over the rows of one value of the secondary key.
    Secondary,
    /// `COUNT(c2)` over the table without an index.
    Scan,
    /// Update of a range of keys, its commit included.
    Update,
    /// Insert of one row, its commit included.
    Insert,
    /// Delete of one row, its commit included.
    Delete,
    /// The commit of an update, an insert or a delete.
    Commit,
    /// One call that runs many operations inside the database.
    Slice,
}

impl OpClass {
    /// Every class, in the order reports show them.
    pub const ALL: [Self; 9] = [
        Self::Select,
        Self::Lookup,
        Self::Secondary,
        Self::Scan,
        Self::Update,
        Self::Insert,
        Self::Delete,
        Self::Commit,
        Self::Slice,
    ];

    /// The word in records: `select`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Select => "select",
            Self::Lookup => "lookup",
            Self::Secondary => "secondary",
            Self::Scan => "scan",
            Self::Update => "update",
            Self::Insert => "insert",
            Self::Delete => "delete",
            Self::Commit => "commit",
            Self::Slice => "slice",
        }
    }
}

/// What one class of operations did inside the window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpStats {
    /// Operations that ended well.
    pub count: u64,
    /// Operations that failed.
    pub errors: u64,
    /// Operations per second of the window: `(count − before) ÷ work_s`.
    pub rate_per_s: f64,
    /// As much of `count` as lies before the window: of each operation that was under way at its begin, the share of its time
    /// that had passed by then.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub before: f64,
    /// The same of `rows`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rows_before: f64,
    /// Rows read, updated, inserted or deleted.
    pub rows: u64,
    /// From sending to the end, µs.
    pub service_us: Latency,
    /// From the due moment to the end, µs; in a closed loop the same as `service_us`.
    pub response_us: Latency,
    /// Why operations in `count` have no time of their own, when they have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untimed: Option<String>,
}

/// The sessions' whole life, to the unit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Whole {
    /// Operations that ended well, by class.
    pub ops: BTreeMap<String, u64>,
    /// Rows read by operations that ended well.
    pub rows_read: u64,
    /// Rows updated and committed.
    pub rows_updated: u64,
    /// Rows inserted and committed.
    #[serde(default)]
    pub rows_inserted: u64,
    /// Rows deleted and committed.
    #[serde(default)]
    pub rows_deleted: u64,
    /// Rows beyond the loaded ones that the database itself counted in the tables after the sessions had ended; absent
    /// where none were inserted, or nobody could count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_left: Option<u64>,
    /// Commits acknowledged.
    pub commits: u64,
    /// Operations that failed; what the database did for them is unknown to the client.
    pub errors: u64,
    /// Rows of the sessions' last updates that were read back: how many, and how many of them held the new value.
    pub verified_rows: (u64, u64),
    /// Database counters over the same time.
    pub counters: Counters,
}

/// Errors of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorTally {
    /// `retryable`, `connection` or `fatal`.
    pub class: String,
    /// The database's code: `40001`, `SQLITE_BUSY`.
    pub code: String,
    /// The first message of the kind.
    pub message: String,
    /// How many.
    pub count: u64,
    /// Connections opened anew because of it.
    pub reconnects: u64,
}
