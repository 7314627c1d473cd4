//! Plans for tests.

use dyno_plan::{
    Arrivals, Awr, Commit, Data, DataSpec, Drive, Observe, PLAN_VERSION, Plan, Redo, Run, Size, Span, Target,
    Workload,
};
use std::time::Duration;

/// A plan of one session with defaults.
pub(crate) fn plan() -> Plan {
    Plan {
        version: PLAN_VERSION,
        target: Target {
            url: "sqlite::memory:".parse().unwrap(),
            urls: Vec::new(),
            count: None,
            weights: Vec::new(),
            data: Default::default(),
            shared: false,
            observe_url: None,
            password_env: None,
            password_file: None,
            connect_timeout: Span(Duration::from_secs(1)),
        },
        data: Data {
            schemas: 1,
            scale: Size::Blocks(dyno_plan::Blocks(1_000)),
            scan_scale: Size::Blocks(dyno_plan::Blocks(0)),
            block_size: None,
            compressible: 0,
            seed: 42,
            load_parallel: 1,
        },
        workload: Workload {
            update_pct: 0,
            scan_pct: 0,
            lookup_pct: 0,
            work_unit: 8,
            redo: Redo::Lite,
            drive: Drive::Client,
            commit: Commit::Wait,
            rate: None,
            arrivals: Arrivals::Constant,
            seed: Some(1),
            ..Workload::default()
        },
        run: Run {
            sessions_per_schema: 1,
            threads: None,
            placement: Default::default(),
            warmup: Span(Duration::ZERO),
            time: Some(Span(Duration::from_millis(200))),
            ops_per_session: None,
            drain: Span(Duration::from_millis(500)),
        },
        observe: Observe { interval: Span(Duration::from_millis(50)), waits: None, awr: Awr::Off },
        hooks: Default::default(),
        sweep: Default::default(),
    }
}

/// Data of one schema of `rows` rows.
pub(crate) fn spec(rows: u64) -> DataSpec {
    DataSpec { schemas: 1, rows, scan_rows: 0, block_size: 8192, compressible: 0, seed: 42, secondary: false }
}
