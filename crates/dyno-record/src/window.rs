//! The measured interval, and the sessions' whole life around it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::class::is_operation;
use crate::counter::Counters;
use crate::ops::is_zero;

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

/// Intervals inside the window at whose end the counters could not be read: rates of the database are missing there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnreadIntervals {
    /// Number of such intervals, at least 1.
    pub count: u64,
    /// When the first of them ended, s after the window's begin.
    pub first_s: f64,
    /// Why its counters could not be read.
    pub reason: String,
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
    /// Sum over sessions of the time in which they closed the connections of their transactions, until the server had ended its
    /// side, s; no part of any operation. Only with a connection for each transaction.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub closing_s: f64,
    /// Sum over sessions of the time spent in polls that found nothing, s; no part of any operation.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub polling_s: f64,
    /// Intervals at whose end the counters could not be read; absent where all were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<UnreadIntervals>,
    /// Longest interval in which this program did not notice time pass, µs: a suspended process or a starved machine.
    pub stall_us_max: f64,
    /// Sum of the intervals in which nothing of this program ran, s. Absent where that was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stall_s: Option<f64>,
    /// As much of that as it was suspended, and did not wait for a processor, s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspended_s: Option<f64>,
    /// Longest delay of an operation's start behind its due moment, µs; open loop only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_us_max: Option<f64>,
    /// Operations that were due at the window's begin and had not begun then, and the same at its end; open loop only. What was
    /// overdue at the begin comes from the warm-up: it is in the window's rate and response times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overdue: Option<(u64, u64)>,
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
    /// Transactions that ended well, those that only read with them, as the database counts them: of a workload of the user's
    /// own. Of the classic method each operation is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transactions: Option<u64>,
    /// Operations that failed.
    pub errors: u64,
    /// What the database may count as transactions beside these: steps of transactions, on a platform that counts each.
    #[serde(default, skip_serializing_if = "crate::class::is_none")]
    pub beside: u64,
}

impl Counted {
    /// Operations of `class`.
    pub fn of(&self, class: &str) -> u64 {
        self.ops.get(class).copied().unwrap_or(0)
    }

    /// Operations of all classes.
    pub fn operations(&self) -> u64 {
        self.ops.iter().filter(|(name, _)| is_operation(name)).map(|(_, ops)| ops).sum()
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
        self.transactions = sum(self.transactions, other.transactions);
        self.errors += other.errors;
        self.beside += other.beside;
    }
}

/// The sum of what is known.
pub fn sum(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    one.into_iter().chain(other).reduce(u64::saturating_add)
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
    /// As [`Counted::transactions`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transactions: Option<u64>,
    /// Operations that failed; what the database did for them is unknown to the client.
    pub errors: u64,
    /// Rows of the sessions' last updates that were read back: how many, and how many of them held the new value.
    pub verified_rows: (u64, u64),
    /// Database counters over the same time.
    pub counters: Counters,
}
