//! Measures the cost of measuring. The same empty operations run once inside a whole run (phase, two clock
//! readings, histogram, series) and once in a bare loop. `make bench-measuring` takes pairs of both.
//!
//! `cargo run --release -p dyno-drive --example measuring -- measured|bare SECONDS`

// Printing is what this program is for.
#![allow(clippy::print_stdout)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use dyno_drive::{DriveJob, NoopRunListener, TargetContext, run};
use dyno_engine::{BlockSessionConfig, Cancel, Extra, MonotonicClock, Target};
use dyno_plan::{DataSpec, Plan, TimeSpan};
use dyno_prove::scripted::{Act, ScriptedTarget};
use dyno_workload::OperationGenerator;
use dyno_workload::blocks::Operated;

type Failure = Box<dyn std::error::Error>;

/// Operations of the bare loop between two clock readings.
const BATCH: u64 = 10_000;

fn plan(seconds: u64) -> Result<Plan, Failure> {
    let mut plan: Plan = serde_json::from_value(serde_json::json!({
        "version": 1,
        "target": { "url": "sqlite::memory:", "connect_timeout": "1s" },
        "data": { "schemas": 1, "scale": "1000 blocks", "scan_scale": "0 blocks", "compressible": 0, "seed": 42,
                  "load_parallel": 1 },
        "workload": { "update_pct": 0, "scan_pct": 0, "lookup_pct": 100, "work_unit": 8, "redo": "lite",
                      "drive": "client", "arrivals": "constant", "seed": 1 },
        "run": { "sessions_per_schema": 1, "warmup": "0s", "time": "1s", "drain": "500ms" },
        "observe": { "interval": "1s" }
    }))?;
    plan.run.time = Some(TimeSpan(Duration::from_secs(seconds)));
    Ok(plan)
}

fn spec() -> DataSpec {
    DataSpec {
        schemas: 1,
        rows: 1_000,
        scan_rows: 0,
        block_size: 8192,
        compressible: 0,
        seed: 42,
        secondary: false,
        copied: false,
    }
}

fn target() -> ScriptedTarget {
    ScriptedTarget::new(Arc::new(|_, _, _| Act::Take(0)), Arc::new(|_| {}))
}

/// A run as `dyno run` makes it.
fn measured(plan: &Plan) -> Result<f64, Failure> {
    let target = Arc::new(target());
    let job = DriveJob {
        run_id: "measuring".into(),
        started_at: "2026-01-01T00:00:00Z".into(),
        run_stamp: 1,
        plan,
        custom_workloads: Vec::new(),
        targets: vec![TargetContext::new(Arc::clone(&target) as Arc<dyn Target>, target.identify()?, spec())],
        clock: Arc::new(MonotonicClock::default()),
        cancel: Cancel::default(),
        dyno_version: env!("CARGO_PKG_VERSION").into(),
        series_points_max: dyno_record::OVERVIEW_POINTS_MAX,
    };
    let (record, _) = run(&job, &NoopRunListener)?;
    let ops: u64 = record.ops.iter().filter(|(name, _)| *name != "all").map(|(_, ops)| ops.count).sum();
    let window = record.window.ok_or("the run has no window")?;
    Ok(window.seconds * 1e9 / ops as f64)
}

/// The same operations without anything around them.
fn bare(plan: &Plan, seconds: u64) -> Result<f64, Failure> {
    let spec = spec();
    let blocks = BlockSessionConfig {
        schema: 1,
        spec: spec.clone(),
        work_unit: plan.workload.work_unit,
        redo: plan.workload.redo,
        extra: Extra::default(),
        seed: 1,
        run_stamp: 1,
        session: 0,
    };
    let (drive, commit) = (plan.workload.drive, plan.workload.commit);
    let clock = Arc::new(MonotonicClock::default());
    let mut session = Operated::open(&target(), &blocks, drive, commit, clock)?;
    let mut draw = OperationGenerator::new(&plan.workload, &spec, 0, 0);
    let began = Instant::now();
    let mut ops = 0;
    while began.elapsed() < Duration::from_secs(seconds) {
        for _ in 0..BATCH {
            std::hint::black_box(session.execute(draw.next_op()).map_err(|error| error.message)?);
        }
        ops += BATCH;
    }
    Ok(began.elapsed().as_nanos() as f64 / ops as f64)
}

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let usage = "usage: measuring measured|bare SECONDS";
    let side = arguments.next().ok_or(usage)?;
    let seconds: u64 = arguments.next().ok_or(usage)?.parse()?;
    let plan = plan(seconds)?;
    let ns_per_op = match side.as_str() {
        "measured" => measured(&plan)?,
        "bare" => bare(&plan, seconds)?,
        _ => return Err(usage.into()),
    };
    println!("{}", serde_json::json!({ "ns_per_op": ns_per_op }));
    Ok(())
}
