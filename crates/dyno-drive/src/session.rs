//! What one session has measured, as it hands it in: a plain value, so that it can come from anywhere.
//!
//! All that a record says of sessions is made of these, but for the intervals of the series, which come while they work.

use dyno_record::ErrorTally;
use serde::{Deserialize, Serialize};

use crate::life::Life;
use crate::marks::Marks;
use crate::packed::Packed;

/// Everything one session has measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SessionResult {
    /// The place of the session's target.
    pub(crate) target: usize,
    /// By number of the class.
    pub(crate) classes: Vec<ClassResult>,
    /// The same by phase of a schedule: the warm-up, each phase, and what came behind them; empty where there is none.
    #[serde(default)]
    pub(crate) phases: Vec<PhaseResult>,
    pub(crate) life: Life,
    pub(crate) errors: Vec<ErrorTally>,
    pub(crate) moments: Moments,
    /// What the snapshots at the window's two ends hold of this session.
    pub(crate) marks: [Marks; 2],
    pub(crate) hot: HotCounts,
}

/// One class's figures of one session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ClassResult {
    pub(crate) count: u64,
    pub(crate) errors: u64,
    pub(crate) rows: u64,
    /// Three significant digits each.
    pub(crate) service: Packed,
    pub(crate) response: Packed,
    /// Operations under way when the window began, by the share of their time that lies before it; and the same share of
    /// their rows.
    pub(crate) before: (f64, f64),
}

impl ClassResult {
    /// Adds what was done besides.
    pub(crate) fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.errors += other.errors;
        self.rows += other.rows;
        self.service.add(&other.service);
        self.response.add(&other.response);
        self.before = (self.before.0 + other.before.0, self.before.1 + other.before.1);
    }
}

/// The session's own moments, on the run's clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Moments {
    /// Just before the first operation (closed loop), or when the schedule began (open loop).
    pub(crate) start_ns: Option<u64>,
    /// Since when what it does counts, and until when it did.
    pub(crate) edge_ns: [Option<u64>; 2],
    pub(crate) late_ns_max: u64,
    /// Time in operations inside the window.
    pub(crate) busy_ns: u64,
    /// Time that the operation under way at the window's begin had taken before it.
    pub(crate) before_ns: u64,
    /// Time in which connections were closed behind operations.
    pub(crate) closing_ns: u64,
    /// Time slept between operations, and sleeps begun.
    pub(crate) thought_ns: u64,
    pub(crate) thoughts: u64,
    /// End of the last operation that counted.
    pub(crate) last_ns: u64,
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

/// What a session did of the operations that were due in one part of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct PhaseResult {
    /// Operations that were due in it.
    pub(crate) due: u64,
    /// By how many more operations the session was behind at its end than at the end of the part before.
    pub(crate) behind: i64,
    /// By number of the class; empty where nothing of it counted.
    pub(crate) classes: Vec<ClassResult>,
}
