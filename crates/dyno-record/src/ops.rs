//! Totals of operations and errors by class.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::latency::Latency;

/// The operations of one class inside the window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpStats {
    /// Number of operations that succeeded.
    pub count: u64,
    /// Number of operations that failed.
    pub errors: u64,
    /// Operations per second of the window: `(count − before) ÷ work_s`.
    pub rate_per_s: f64,
    /// The part of `count` that lies before the window: for each operation in progress at the window's begin, the share of its
    /// time that had already passed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub before: f64,
    /// The part of `rows` that lies before the window.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rows_before: f64,
    /// Rows read, updated, inserted or deleted.
    pub rows: u64,
    /// The part of `count` that a step of the workload rolled back; these operations did not fail.
    #[serde(default, skip_serializing_if = "crate::class::is_none")]
    pub rolled_back: u64,
    /// Polls that found nothing to do. They are not operations: no other count includes them, and they have no latency.
    #[serde(default, skip_serializing_if = "crate::class::is_none")]
    pub empty_polls: u64,
    /// Sum that steps of the workload tallied; the workload's facts say what it counts.
    #[serde(default, skip_serializing_if = "crate::class::is_none")]
    pub tallied: u64,
    /// Attempts in the window that the database rolled back and that started again with the same values. They are not failures;
    /// the operation counts once, with its final outcome.
    #[serde(default, skip_serializing_if = "crate::class::is_none")]
    pub retries: u64,
    /// Writing statements that report how many rows they changed; custom workloads only.
    #[serde(default, skip_serializing_if = "crate::class::is_none")]
    pub write_statements: u64,
    /// The part of `write_statements` that changed no row.
    #[serde(default, skip_serializing_if = "crate::class::is_none")]
    pub empty_writes: u64,
    /// The part of `errors` that lost the connection during a commit of writes, so that it is unknown whether they committed.
    #[serde(default, skip_serializing_if = "crate::class::is_none")]
    pub in_doubt: u64,
    /// Service time: from sending an operation to its end, in µs.
    pub service_us: Latency,
    /// Response time: from the due moment to the end, in µs; equal to `service_us` in a closed loop.
    pub response_us: Latency,
    /// Why operations in `count` have no individual time; absent if they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untimed: Option<String>,
}

/// Number of errors of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorTally {
    /// The error class: `retryable`, `connection` or `fatal`.
    pub class: String,
    /// The database's error code: `40001`, `SQLITE_BUSY`.
    pub code: String,
    /// The first message of this kind.
    pub message: String,
    /// How often the error occurred.
    pub count: u64,
    /// Number of reconnects because of it.
    pub reconnects: u64,
    /// Attempts in the whole run that were rolled back because of it and started again; `ops` has those of the window.
    #[serde(default, skip_serializing_if = "crate::class::is_none")]
    pub retried: u64,
    /// Operations in the whole run that lost their connection with it during a commit.
    #[serde(default, skip_serializing_if = "crate::class::is_none")]
    pub in_doubt: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
pub(crate) fn is_zero(number: &f64) -> bool {
    *number == 0.0
}
