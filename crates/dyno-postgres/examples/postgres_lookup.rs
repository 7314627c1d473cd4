//! Measures the client path: lookups by key for some seconds. Compare the result with `pgbench -M prepared
//! -n`, with one statement and server for both.
//!
//! `cargo run --release -p dyno-postgres --example postgres_lookup -- URL ROWS SESSIONS SECONDS`
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a measurement for developers")]

use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use dyno_engine::{BlockOp, BlockSessionConfig, MonotonicClock, OpenOptions};
use dyno_plan::{Commit, DataSpec, DriveMode, Redo};
use dyno_workload::blocks::Operated;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let number = |i: usize| args[i].parse::<u64>().unwrap();
    let (rows, sessions, seconds) = (number(2), number(3), number(4));
    let options = OpenOptions { password: None, connect_timeout: Duration::from_secs(10) };
    let target = dyno_postgres::open(&args[1].parse().unwrap(), &options).unwrap();
    let spec = DataSpec {
        schemas: 1,
        rows,
        scan_rows: 0,
        block_size: 8192,
        compressible: 0,
        seed: 1,
        secondary: false,
        copied: false,
    };
    let gate = Barrier::new(usize::try_from(sessions).unwrap() + 1);
    let run = |number: u32| {
        let blocks = BlockSessionConfig {
            schema: 1,
            spec: spec.clone(),
            work_unit: 1,
            redo: Redo::Lite,
            extra: Default::default(),
            seed: 1,
            run_stamp: 1,
            session: number,
        };
        let clock = Arc::new(MonotonicClock::default());
        let mut session =
            Operated::open(target.as_ref(), &blocks, DriveMode::Client, Commit::Wait, clock).unwrap();
        gate.wait();
        let ends = Instant::now() + Duration::from_secs(seconds);
        let mut state = u64::from(number) * 0x9e37_79b9 + 1;
        let mut ops = 0u64;
        while Instant::now() < ends {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let key = 1 + (state >> 33) % rows;
            assert_eq!(session.execute(BlockOp::Lookup { key }).unwrap().rows, 1);
            ops += 1;
        }
        ops
    };
    let (ops, cpu_s) = std::thread::scope(|scope| {
        let run = &run;
        let handles: Vec<_> = (0..sessions).map(|n| scope.spawn(move || run(n as u32))).collect();
        gate.wait();
        let before_s = cpu_seconds();
        let ops: u64 = handles.into_iter().map(|handle| handle.join().unwrap()).sum();
        (ops, cpu_seconds() - before_s)
    });
    println!(
        "{sessions} sessions: {:.0} ops/s, client CPU {:.2} us/op",
        ops as f64 / seconds as f64,
        cpu_s * 1e6 / ops as f64
    );
}

/// User and system CPU time of this process in seconds (from `/proc/self/stat`, with a resolution of 0.01 s).
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
}
