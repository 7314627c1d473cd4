//! What tests are given.

use dyno_plan::DataSpec;

/// Data of one schema of `rows` rows.
pub(crate) fn spec(rows: u64) -> DataSpec {
    DataSpec { schemas: 1, rows, scan_rows: 0, block_size: 8192, compressible: 0, seed: 42, secondary: false }
}
