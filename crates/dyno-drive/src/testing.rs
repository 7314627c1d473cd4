//! Test data of this crate's unit tests.

use dyno_engine::{BlockSessionConfig, Extra};
use dyno_plan::{DataSpec, WorkloadSettings};

/// The spec of one schema with `rows` rows.
pub(crate) fn spec(rows: u64) -> DataSpec {
    DataSpec {
        schemas: 1,
        rows,
        scan_rows: 0,
        block_size: 8192,
        compressible: 0,
        seed: 42,
        secondary: false,
        copied: false,
    }
}

/// The block operations of the first session of `workload`.
pub(crate) fn blocks(workload: &WorkloadSettings, spec: &DataSpec) -> BlockSessionConfig {
    BlockSessionConfig {
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
