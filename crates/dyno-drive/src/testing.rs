//! What tests are given.

use dyno_engine::{Blocks, Extra};
use dyno_plan::{DataSpec, Workload};

/// Data of one schema of `rows` rows.
pub(crate) fn spec(rows: u64) -> DataSpec {
    DataSpec { schemas: 1, rows, scan_rows: 0, block_size: 8192, compressible: 0, seed: 42, secondary: false }
}

/// What the operations of the first session of `workload` are like.
pub(crate) fn blocks(workload: &Workload, spec: &DataSpec) -> Blocks {
    Blocks {
        schema: 1,
        spec: spec.clone(),
        work_unit: workload.work_unit,
        redo: workload.redo,
        extra: Extra::default(),
        seed: 1,
        run_stamp: 7,
        session: 0,
    }
}
