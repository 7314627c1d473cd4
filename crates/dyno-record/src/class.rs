//! Classes of operations: their names in a workload and their expected effect on the database's counters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The class name for all operations together.
pub const ALL: &str = "all";
/// The class name for commits, each a part of a writing operation.
pub const COMMIT: &str = "commit";
/// The class name for calls that run many operations inside the database.
pub const SLICE: &str = "slice";
/// The class name for connections opened for a transaction, each a part of one.
pub const CONNECT: &str = "connect";

/// Whether `name` is a class of operations, rather than a part, a group or a sum of operations.
pub fn is_operation(name: &str) -> bool {
    ![ALL, COMMIT, SLICE, CONNECT].contains(&name)
}

/// A class of operations in a workload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Class {
    /// The name of the class, such as `select`.
    pub name: String,
    /// Its operations in the plural, for sentences: `lookups by the secondary key`.
    pub plural: String,
    /// The effect of an operation on the rows that it touches.
    pub rows: RowEffect,
    /// Whether it affects other rows in other ways, as a transaction of several statements does. `rows` is then a writing effect
    /// if there is one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mixed: bool,
    /// Minimum and maximum rows that one operation touches; absent if not known in advance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_per_op: Option<(u64, u64)>,
    /// Whether it reads a whole table without an index.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub scans: bool,
    /// Number of commits in one operation.
    pub commits: u64,
    /// The share of operations that the plan asks for.
    pub share: ClassShare,
    /// The index of its workload, if several workloads ran at the same time.
    #[serde(default, skip_serializing_if = "is_first")]
    pub workload: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_first(place: &usize) -> bool {
    *place == 0
}

/// The effect of an operation on a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RowEffect {
    /// The operation reads the row.
    Read,
    /// The operation gives the row new values.
    Updated,
    /// The operation creates the row.
    Inserted,
    /// The operation deletes the row.
    Deleted,
}

impl RowEffect {
    /// The number of different effects.
    pub const KINDS: usize = 4;
}

/// A share of a workload's operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClassShare {
    /// The share in percent; absent for the rest that other classes leave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<u32>,
    /// Whether the share is one of the reads only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_reads: bool,
    /// Operations per session by which the share may differ for a reason other than chance: rows that must exist first.
    #[serde(default, skip_serializing_if = "is_none")]
    pub turned: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
pub(crate) fn is_none(number: &u64) -> bool {
    *number == 0
}
