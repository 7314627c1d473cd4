//! Classes of operations: what a workload calls its operations, and what each is expected to do to the database's counters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name of all operations together.
pub const ALL: &str = "all";
/// The name of commits, each a part of an operation that writes.
pub const COMMIT: &str = "commit";
/// The name of calls that run many operations inside the database.
pub const SLICE: &str = "slice";
/// The name of connections that are opened for transactions, each a part of one.
pub const CONNECT: &str = "connect";

/// Whether `name` is a class of operations: no part, bundle or sum of them.
pub fn is_operation(name: &str) -> bool {
    ![ALL, COMMIT, SLICE, CONNECT].contains(&name)
}

/// A class of operations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Class {
    /// Its name: `select`.
    pub name: String,
    /// Several of its operations in a sentence: `lookups by the secondary key`.
    pub plural: String,
    /// What an operation does to the rows that it touches.
    pub rows: Touch,
    /// Whether it does other things to other rows besides: a transaction of several statements. `rows` is then one that writes,
    /// if there is one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mixed: bool,
    /// Rows that one operation touches: at least, and at most. Absent where that is not known beforehand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_per_op: Option<(u64, u64)>,
    /// Whether it reads a whole table without an index.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub scans: bool,
    /// Commits of one operation.
    pub commits: u64,
    /// The class's share of the operations that the plan asks for.
    pub share: Share,
    /// Where several workloads ran beside each other: the place of the one that it belongs to.
    #[serde(default, skip_serializing_if = "is_first")]
    pub workload: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_first(place: &usize) -> bool {
    *place == 0
}

/// What an operation does to a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Touch {
    /// Reads it.
    Read,
    /// Gives it new values.
    Updated,
    /// Makes it.
    Inserted,
    /// Takes it away.
    Deleted,
}

impl Touch {
    /// Kinds of them.
    pub const KINDS: usize = 4;
}

/// A share of operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Share {
    /// How many of a hundred; absent for what the others leave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<u32>,
    /// Of the reads alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_reads: bool,
    /// Operations of a session by which it may be off for another reason than chance: rows that must be there first.
    #[serde(default, skip_serializing_if = "is_none")]
    pub turned: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
pub(crate) fn is_none(number: &u64) -> bool {
    *number == 0
}
