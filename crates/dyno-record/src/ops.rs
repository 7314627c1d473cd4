//! Operations and errors, added up by class.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::latency::Latency;

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
    /// As many of `count` as a step of the workload took back: they have not failed.
    #[serde(default, skip_serializing_if = "crate::class::is_none")]
    pub rolled_back: u64,
    /// Polls that found nothing to do. They are no operations: in none of the other counts, and without latency.
    #[serde(default, skip_serializing_if = "crate::class::is_none")]
    pub empty_polls: u64,
    /// What steps of the workload have tallied: its facts say of what.
    #[serde(default, skip_serializing_if = "crate::class::is_none")]
    pub tallied: u64,
    /// Attempts in the window that the database took back and that began again with the same values: they have not failed, and the
    /// operation counts once, as what came of it.
    #[serde(default, skip_serializing_if = "crate::class::is_none")]
    pub retries: u64,
    /// Statements that write and tell how many rows they changed: of workloads of the user's own.
    #[serde(default, skip_serializing_if = "crate::class::is_none")]
    pub write_statements: u64,
    /// As many of them as changed no row.
    #[serde(default, skip_serializing_if = "crate::class::is_none")]
    pub empty_writes: u64,
    /// As many of `errors` as lost their connection while a commit of writes was under way: whether they are committed is not known.
    #[serde(default, skip_serializing_if = "crate::class::is_none")]
    pub in_doubt: u64,
    /// From sending to the end, µs.
    pub service_us: Latency,
    /// From the due moment to the end, µs; in a closed loop the same as `service_us`.
    pub response_us: Latency,
    /// Why operations in `count` have no time of their own, when they have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untimed: Option<String>,
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
    /// Attempts that were taken back because of it and began again, in the whole run: those of the window are in `ops`.
    #[serde(default, skip_serializing_if = "crate::class::is_none")]
    pub retried: u64,
    /// Operations that lost their connection with it while a commit was under way, in the whole run.
    #[serde(default, skip_serializing_if = "crate::class::is_none")]
    pub in_doubt: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
pub(crate) fn is_zero(number: &f64) -> bool {
    *number == 0.0
}
