//! What the sessions of one thread have done on one target, added up, as it is handed in: a plain value, so that it can come
//! from anywhere.

use serde::{Deserialize, Serialize};

use crate::count_max::COUNT_MAX;
use crate::packed::Packed;

/// What the sessions of one thread have done in the window on one target.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ThreadResult {
    /// The place of the target.
    pub(crate) target: usize,
    /// By number of the class.
    pub(crate) classes: Vec<ClassResult>,
    /// The same by phase of a schedule: the warm-up, each phase, and what came behind them; empty where there is none.
    #[serde(default)]
    pub(crate) phases: Vec<PhaseResult>,
    pub(crate) times: Times,
    pub(crate) hot: HotCounts,
}

/// One class's figures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ClassResult {
    pub(crate) count: u64,
    pub(crate) errors: u64,
    pub(crate) rows: u64,
    pub(crate) rolled_back: u64,
    /// Polls that found nothing, which are no operations.
    #[serde(default)]
    pub(crate) empty_polls: u64,
    pub(crate) tallied: u64,
    /// Attempts that the database took back and that began again.
    pub(crate) retries: u64,
    /// Statements that write, and those of them that changed no row.
    pub(crate) write_statements: u64,
    pub(crate) empty_writes: u64,
    /// Operations that lost their connection while a commit was under way.
    pub(crate) in_doubt: u64,
    /// Three significant digits each.
    pub(crate) service: Packed,
    pub(crate) response: Packed,
    /// Operations under way when the window began, by the share of their time that lies before it; and the same share of
    /// their rows.
    pub(crate) before: (f64, f64),
}

impl ClassResult {
    /// Whether sums of many such counts cannot overflow: they may have come from anywhere.
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

    /// Adds what was done besides.
    pub(crate) fn add(&mut self, other: &Self) {
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
        self.service.add(&other.service);
        self.response.add(&other.response);
        self.before = (self.before.0 + other.before.0, self.before.1 + other.before.1);
    }
}

/// Times of sessions in the window, added up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Times {
    /// The latest begin of an operation, after it was due.
    pub(crate) late_ns_max: u64,
    /// Operations that were due at the window's begin and had not begun then, and the same at its end; open loop only.
    pub(crate) overdue: (u64, u64),
    /// In operations inside the window.
    pub(crate) busy_ns: u64,
    /// That operations under way at the window's begin had taken before it.
    pub(crate) before_ns: u64,
    /// In which connections were closed behind operations.
    pub(crate) closing_ns: u64,
    /// In polls that found nothing.
    #[serde(default)]
    pub(crate) polling_ns: u64,
    /// Slept between operations, and sleeps begun.
    pub(crate) thought_ns: u64,
    pub(crate) thoughts: u64,
}

/// Operations in the window by where they went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct HotCounts {
    /// Started in the hot spot because it was their turn; of how many that start at a key.
    pub(crate) spot: u64,
    pub(crate) keyed: u64,
    /// Went to schema 1 because it was their turn; of how many that may.
    pub(crate) schema: u64,
    pub(crate) movable: u64,
}

/// What was done of the operations that were due in one part of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct PhaseResult {
    /// Operations that were due in it.
    pub(crate) due: u64,
    /// By how many more operations sessions were behind at its end than at the end of the part before.
    pub(crate) behind: i64,
    /// By number of the class; empty where nothing of it counted.
    pub(crate) classes: Vec<ClassResult>,
}

impl PhaseResult {
    /// So many more operations were due in it, and never began.
    pub(crate) fn never_begun(&mut self, operations: u64) {
        self.due += operations;
        self.behind += operations as i64;
    }
}
