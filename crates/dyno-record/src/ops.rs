//! Operations and errors, added up by class.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::latency::Latency;

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

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
pub(crate) fn is_zero(number: &f64) -> bool {
    *number == 0.0
}
