//! The results of one thread's sessions on one target, added up: a plain value, so that it can come from
//! another host.

use serde::{Deserialize, Serialize};

use crate::count_max::COUNT_MAX;
use crate::packed::Packed;
use crate::served_by::ServedBy;

/// What the sessions of one thread did in the window on one target.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ThreadResult {
    /// The index of the target.
    pub(crate) target: usize,
    /// The instance of the database that served its session; unknown for a thread of several sessions.
    #[serde(default)]
    pub(crate) served_by: ServedBy,
    /// Results of operations by class number.
    pub(crate) classes: Vec<ClassResult>,
    /// The same by phase of a schedule: the warm-up, each phase, and the rest; empty without phases.
    #[serde(default)]
    pub(crate) phases: Vec<PhaseResult>,
    pub(crate) times: SessionTimes,
    pub(crate) hot: HotCounts,
}

/// The figures of one class.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ClassResult {
    pub(crate) count: u64,
    pub(crate) errors: u64,
    pub(crate) rows: u64,
    pub(crate) rolled_back: u64,
    /// Polls that found nothing; they are not operations.
    #[serde(default)]
    pub(crate) empty_polls: u64,
    pub(crate) tallied: u64,
    /// Attempts that the database rolled back and that were retried.
    pub(crate) retries: u64,
    /// Statements that write, and how many of them changed no row.
    pub(crate) write_statements: u64,
    pub(crate) empty_writes: u64,
    /// Operations that lost their connection while a commit was in progress.
    pub(crate) in_doubt: u64,
    /// Service times and response times, with three significant digits.
    pub(crate) service: Packed,
    pub(crate) response: Packed,
    /// Operations in progress when the window began, by the share of their time before it; and the same share
    /// of their rows.
    pub(crate) before: (f64, f64),
}

impl ClassResult {
    /// Whether sums of many such counts cannot overflow; they may come from another host.
    pub(crate) fn is_countable(&self) -> bool {
        let counts = [
            self.count,
            self.errors,
            self.rows,
            self.rolled_back,
            self.empty_polls,
            self.tallied,
            self.retries,
            self.in_doubt,
            self.write_statements,
            self.empty_writes,
        ];
        let shares = [self.before.0, self.before.1];
        counts.iter().all(|count| *count <= COUNT_MAX)
            && shares.iter().all(|share| share.is_finite() && share.abs() <= COUNT_MAX as f64)
    }

    /// Whether any operation of the class was begun.
    pub(crate) fn is_any(&self) -> bool {
        self.count + self.errors + self.retries + self.in_doubt + self.empty_polls > 0
    }

    /// Adds the results of another thread.
    pub(crate) fn add(&mut self, other: &Self) {
        self.add_counts(other);
        self.service.add(&other.service);
        self.response.add(&other.response);
    }

    /// Adds the results of another thread, without their latencies.
    pub(crate) fn add_counts(&mut self, other: &Self) {
        self.count += other.count;
        self.errors += other.errors;
        self.rows += other.rows;
        self.rolled_back += other.rolled_back;
        self.empty_polls += other.empty_polls;
        self.tallied += other.tallied;
        self.retries += other.retries;
        self.write_statements += other.write_statements;
        self.empty_writes += other.empty_writes;
        self.in_doubt += other.in_doubt;
        self.before = (self.before.0 + other.before.0, self.before.1 + other.before.1);
    }
}

/// Times of sessions in the window, added up, ns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SessionTimes {
    /// The longest delay between an operation's due time and its begin.
    pub(crate) late_ns_max: u64,
    /// Operations that were due at the window's begin and had not begun, and the same at its end; open loop
    /// only.
    pub(crate) overdue: (u64, u64),
    /// Time in operations inside the window.
    pub(crate) busy_ns: u64,
    /// Time before the window of operations in progress at its begin.
    pub(crate) before_ns: u64,
    /// Time for closing connections after operations.
    pub(crate) closing_ns: u64,
    /// Time in polls that found nothing.
    #[serde(default)]
    pub(crate) polling_ns: u64,
    /// Think time between operations, and number of sleeps.
    pub(crate) thought_ns: u64,
    pub(crate) thoughts: u64,
}

impl SessionTimes {
    /// Adds the times of other sessions.
    pub(crate) fn add(&mut self, other: &Self) {
        self.late_ns_max = self.late_ns_max.max(other.late_ns_max);
        self.overdue = (self.overdue.0 + other.overdue.0, self.overdue.1 + other.overdue.1);
        self.busy_ns += other.busy_ns;
        self.before_ns += other.before_ns;
        self.closing_ns += other.closing_ns;
        self.polling_ns += other.polling_ns;
        self.thought_ns += other.thought_ns;
        self.thoughts += other.thoughts;
    }
}

/// Choices of block operations in the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct HotCounts {
    /// Operations that began in the hot spot by their share; and those that begin at a key.
    pub(crate) spot: u64,
    pub(crate) keyed: u64,
    /// Operations that went to schema 1 by their share; and those that may.
    pub(crate) schema: u64,
    pub(crate) movable: u64,
}

impl HotCounts {
    /// Adds the choices of other sessions.
    pub(crate) fn add(&mut self, other: &Self) {
        self.spot += other.spot;
        self.keyed += other.keyed;
        self.schema += other.schema;
        self.movable += other.movable;
    }
}

/// The results of operations that were due in one part of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct PhaseResult {
    /// Number of operations that were due in it.
    pub(crate) due: u64,
    /// Increase of the sessions' backlog during the part, in operations.
    pub(crate) behind: i64,
    /// Results by class number; empty if nothing of it counted.
    pub(crate) classes: Vec<ClassResult>,
}

impl PhaseResult {
    /// Adds operations that were due in it and never began.
    pub(crate) fn count_never_started(&mut self, operations: u64) {
        self.due += operations;
        self.behind += operations as i64;
    }
}
