//! The measured interval, and the whole lifetime of the sessions.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::class::is_operation;
use crate::counter::Counters;
use crate::ops::is_zero;

/// The gate at which all sessions start together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StartGate {
    /// Number of sessions that passed it.
    pub sessions: u32,
    /// Largest time between two sessions' first operations, in µs.
    pub skew_us_max: f64,
    /// Time from the first connection to the opening of the gate, in seconds.
    pub connect_s: f64,
    /// Number of Dyno's threads that ran the sessions; 0 in records that do not have it.
    #[serde(default)]
    pub threads: u32,
    /// Placement of these threads and the server's processes; absent without placement, and in records that do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<ThreadPlacement>,
}

/// Placement at the opening of the gate: threads that run several sessions, and the server's processes for these sessions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadPlacement {
    /// Number of threads bound to one processor each; 0 if only the operating system placed them.
    pub kept: u32,
    /// Sessions whose server process or thread is known and runs on this host.
    pub told: u32,
    /// Those of them whose server process last ran on the processor of the session's thread.
    pub beside: u32,
}

/// Intervals in the window at whose end the counters could not be read; their database rates are missing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnreadIntervals {
    /// Number of such intervals, at least 1.
    pub count: u64,
    /// When the first of them ended, in seconds after the window's begin.
    pub first_s: f64,
    /// Why its counters could not be read.
    pub reason: String,
}

/// The measured interval of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Window {
    /// Seconds between the two snapshots by the monotonic clock; rates of the host are divided by it.
    pub seconds: f64,
    /// Mean over the sessions of the time from the window's begin, one moment for all, to their last counted moment, in seconds.
    /// Rates of operations are divided by it. Absent if sessions were not timed; then `seconds` is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_s: Option<f64>,
    /// Time of the begin snapshot, RFC 3339 in UTC.
    pub begin: String,
    /// Time of the end snapshot, RFC 3339 in UTC.
    pub end: String,
    /// How long reading each snapshot took, in µs: begin, end.
    pub snapshot_us: (f64, f64),
    /// Largest time between a snapshot and the moment up to which it contains a session's work, in µs: begin, end.
    pub edge_us_max: (f64, f64),
    /// Sessions whose work in a snapshot is unknown, because one operation lasted until long after it: begin, end.
    pub edge_late: (u32, u32),
    /// Work of the sessions between the moments up to which the two snapshots contain it; the database's counters are compared
    /// with it. It excludes work in progress at the window's begin that the first snapshot already contains. Absent in imported
    /// records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<WorkCounts>,
    /// Uncertainty of `counted`: how much less (first) and how much more (second) the snapshots may contain. Absent if `counted`
    /// is exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsure: Option<(WorkCounts, WorkCounts)>,
    /// Sum over sessions of the time before the window of operations in progress at its begin, in seconds. `service_us` includes
    /// their whole time, `busy_s` only the part inside.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub before_s: f64,
    /// Sum over sessions of the time spent in operations inside the window, in seconds; `busy_s ÷ (work_s × sessions)` is the busy share.
    pub busy_s: f64,
    /// Sum over sessions of the time to close the connections of transactions, until the server closed its side, in seconds; not
    /// part of operations. Only with a connection per transaction.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub closing_s: f64,
    /// Sum over sessions of the time in polls that found nothing, in seconds; not part of operations.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub polling_s: f64,
    /// Intervals at whose end the counters could not be read; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<UnreadIntervals>,
    /// Longest interval in which Dyno's process did not run, in µs: a suspended process or an overloaded host.
    pub stall_us_max: f64,
    /// Sum of the intervals in which no thread of Dyno ran, in seconds. Absent if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stall_s: Option<f64>,
    /// The part of `stall_s` in which Dyno was suspended and not waiting for a CPU, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspended_s: Option<f64>,
    /// Longest delay from an operation's due moment to its start, in µs; open loop only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_us_max: Option<f64>,
    /// Operations that were due but not started at the window's begin, and at its end; open loop only. Those at the begin come from
    /// the warm-up and are part of the window's rate and response times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overdue: Option<(u64, u64)>,
    /// Sleeps of sessions between operations; absent if the plan has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<ThinkTime>,
    /// Operations on the hot spot and hot schema; absent if the plan has neither.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hot: Option<HotOps>,
}

/// The work of sessions in an interval.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkCounts {
    /// Operations that succeeded, by class.
    pub ops: BTreeMap<String, u64>,
    /// Rows that successful operations read.
    pub rows_read: u64,
    /// Rows updated by committed transactions.
    pub rows_updated: u64,
    /// Rows inserted by committed transactions.
    pub rows_inserted: u64,
    /// Rows deleted by committed transactions.
    pub rows_deleted: u64,
    /// Commits that the database acknowledged.
    pub commits: u64,
    /// Transactions that succeeded, including reads, as the database counts them; custom workloads only. In the block workload
    /// each operation is one transaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transactions: Option<u64>,
    /// The part of `commits` that may have committed nothing: their procedures do not tell whether they changed rows.
    #[serde(default, skip_serializing_if = "crate::class::is_none")]
    pub unproven_commits: u64,
    /// Commits that were sent although nothing had changed; a platform may count them.
    #[serde(default, skip_serializing_if = "crate::class::is_none")]
    pub empty_commits: u64,
    /// Number of operations that failed.
    pub errors: u64,
    /// Further transactions that the database may count: single steps, on a platform that counts each.
    #[serde(default, skip_serializing_if = "crate::class::is_none")]
    pub beside: u64,
}

impl WorkCounts {
    /// Number of operations of `class`.
    pub fn of(&self, class: &str) -> u64 {
        self.ops.get(class).copied().unwrap_or(0)
    }

    /// Number of operations over all classes.
    pub fn operations(&self) -> u64 {
        self.ops.iter().filter(|(name, _)| is_operation(name)).map(|(_, ops)| ops).sum()
    }

    /// Rows read, updated, inserted and deleted.
    pub fn rows(&self) -> u64 {
        self.rows_read + self.rows_updated + self.rows_inserted + self.rows_deleted
    }

    /// Whether no work was done.
    pub fn is_empty(&self) -> bool {
        self.operations() == 0 && self.commits == 0 && self.errors == 0
    }

    /// Adds the work of other sessions.
    pub fn add(&mut self, other: &Self) {
        for (class, ops) in &other.ops {
            *self.ops.entry(class.clone()).or_default() += ops;
        }
        self.rows_read += other.rows_read;
        self.rows_updated += other.rows_updated;
        self.rows_inserted += other.rows_inserted;
        self.rows_deleted += other.rows_deleted;
        self.commits += other.commits;
        self.transactions = sum(self.transactions, other.transactions);
        self.unproven_commits += other.unproven_commits;
        self.empty_commits += other.empty_commits;
        self.errors += other.errors;
        self.beside += other.beside;
    }
}

/// The sum of the known values; `None` if both are unknown.
pub fn sum(first: Option<u64>, other: Option<u64>) -> Option<u64> {
    first.into_iter().chain(other).reduce(u64::saturating_add)
}

/// Sleeps of sessions between operations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThinkTime {
    /// Sum over sessions of the time slept, in seconds; `seconds ÷ (work_s × sessions)` is the share of time slept.
    pub seconds: f64,
    /// Number of sleeps that began.
    pub sleeps: u64,
}

/// Operations that the plan directed to the hot spot or hot schema.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HotOps {
    /// Operations that started inside the hot spot.
    pub spot: u64,
    /// All operations that start at a key: selects, lookups, updates.
    pub keyed: u64,
    /// Operations that went to schema 1.
    pub schema: u64,
    /// All operations that can go to another schema: all but inserts and deletes.
    pub movable: u64,
}

impl Window {
    /// The seconds by which rates of operations are divided: [`Window::work_s`], or else the time between the snapshots.
    pub fn work_seconds(&self) -> f64 {
        self.work_s.filter(|seconds| seconds.is_finite() && *seconds > 0.0).unwrap_or(self.seconds)
    }

    /// The largest share of work during the reading of counters for which rates of counters are valid: repeated runs differ by as
    /// much.
    pub const UNSURE_SHARE_MAX: f64 = 0.02;

    /// Share of the window's work that happened while the counters at its ends were read, so that they may or may not include it.
    /// It is the maximum over operations, rows and commits, and over both ends.
    pub fn unsure_share(&self) -> f64 {
        let (Some(counted), Some((begin, end))) = (&self.counted, &self.unsure) else { return 0.0 };
        let share = |part: &WorkCounts, count_of: fn(&WorkCounts) -> u64| match count_of(part) {
            0 => 0.0,
            part => part as f64 / count_of(counted).max(1) as f64,
        };
        let worst = |part| {
            share(part, WorkCounts::operations)
                .max(share(part, WorkCounts::rows))
                .max(share(part, |all| all.commits))
        };
        worst(begin).max(worst(end)).min(1.0)
    }

    /// Mean number of sessions in an operation, as the client measured it (Little's law from the times themselves); `None` if no
    /// time was measured.
    pub fn busy_sessions(&self) -> Option<f64> {
        Some(self.busy_s / self.work_seconds()).filter(|busy| busy.is_finite() && *busy >= 0.0)
    }
}

/// Exact totals over the whole lifetime of the sessions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LifetimeTotals {
    /// Operations that succeeded, by class.
    pub ops: BTreeMap<String, u64>,
    /// Rows that successful operations read.
    pub rows_read: u64,
    /// Rows updated by committed transactions.
    pub rows_updated: u64,
    /// Rows inserted by committed transactions.
    #[serde(default)]
    pub rows_inserted: u64,
    /// Rows deleted by committed transactions.
    #[serde(default)]
    pub rows_deleted: u64,
    /// Rows beyond the loaded ones that the database counted in the tables after the sessions ended; absent without inserts, or if
    /// they could not be counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_left: Option<u64>,
    /// Commits that the database acknowledged.
    pub commits: u64,
    /// The same as [`WorkCounts::transactions`], for the whole lifetime.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transactions: Option<u64>,
    /// The part of `commits` that may have committed nothing: their procedures do not tell whether they changed rows.
    #[serde(default, skip_serializing_if = "crate::class::is_none")]
    pub unproven_commits: u64,
    /// Commits that were sent although nothing had changed; a platform may count them.
    #[serde(default, skip_serializing_if = "crate::class::is_none")]
    pub empty_commits: u64,
    /// Operations that failed; the client does not know what the database did for them.
    pub errors: u64,
    /// Rows of the sessions' last updates that were read back: their number, and how many contained the new value.
    pub verified_rows: (u64, u64),
    /// Database counters over the same time.
    pub counters: Counters,
}
