//! Generates the test data: random key order, one wide row per block, filler that does not compress away.
//!
//! Each row is a function of the seed, so any loader can make any row at any time. Loads run in parallel,
//! resume after an interruption, and are verified against the plan without a copy.

mod copy_rotation;
mod filler;
mod order;
mod permutation;
mod spot_check;

pub use copy_rotation::CopyRotation;
pub use dyno_plan::mix;
pub use filler::{Filler, UpdateValues};
pub use order::{neighbours_fault, order_fault, order_keys, sorted_fault};
pub use permutation::Permutation;
pub use spot_check::{SPOT_ROWS, row_fault, spot_keys};

/// The most rows of its own that one session keeps; their keys are above the loaded ones.
pub const OWN_ROWS: u64 = 1_000;

/// Text columns of a row: `c2` to `c20`.
pub const TEXT_COLUMNS: usize = 19;

/// Length of each text column in the classic layout, in characters (bytes, as the filler is ASCII).
pub const CLASSIC_COLUMN_BYTES: usize = 128;

/// The two kinds of test table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TableKind {
    /// Rows that sessions read and update by key.
    Rows,
    /// Rows without an index, for full scans.
    Scan,
}

dyno_plan::names! {
    /// The word in names and metadata: `rows`.
    TableKind { Rows = "rows", Scan = "scan" }
}

/// Seed of one table's contents.
pub fn table_seed(seed: u64, schema: u32, kind: TableKind) -> u64 {
    mix(mix(seed) ^ (u64::from(schema) << 1 | u64::from(kind == TableKind::Scan)))
}
