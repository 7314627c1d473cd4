//! Measures how long reads take through a session of the SQLite engine, and how fast it loads.
//!
//! `cargo run --release -p dyno-sqlite --example sqlite_reads [URL [ROWS [BLOCK_SIZE [lookup]]]]`; with
//! `lookup`, only lookups are measured.

// This program prints its results.
#![allow(clippy::print_stdout)]

use std::sync::Arc;
use std::time::Instant;

use dyno_engine::{BlockOp, BlockSessionConfig, Cancel, LoadOptions, MonotonicClock, OpenOptions, Silent};
use dyno_plan::{Commit, DataSpec, DriveMode, Redo};
use dyno_workload::blocks::Operated;

/// Number of rounds; the best and the median are printed, because the machine's speed varies.
const ROUNDS: usize = 9;

fn measure(name: &str, ops: u64, session: &mut Operated, op: impl Fn(u64) -> BlockOp) {
    let mut means_ns = Vec::new();
    for _ in 0..ROUNDS {
        let began = Instant::now();
        for number in 0..ops {
            session.execute(op(number)).expect("the data is loaded and nobody else is there");
        }
        means_ns.push(began.elapsed().as_nanos() as f64 / ops as f64);
    }
    means_ns.sort_by(f64::total_cmp);
    println!("{name:24} median {:10.0} ns  best {:10.0} ns", means_ns[ROUNDS / 2], means_ns[0]);
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().unwrap_or_else(|| "sqlite::memory:?cache=256M".to_owned());
    let rows: u64 = arguments.next().map_or(Ok(10_000), |text| text.parse())?;
    let block_size: u64 = arguments.next().map_or(Ok(8192), |text| text.parse())?;
    let options = OpenOptions { password: None, connect_timeout: std::time::Duration::from_secs(10) };
    let target = (dyno_sqlite::ENGINE.open)(&url.parse()?, &options)?;
    let spec = DataSpec {
        schemas: 1,
        rows,
        scan_rows: rows / 10,
        block_size,
        compressible: 0,
        seed: 1,
        secondary: false,
        copied: false,
    };
    let load = LoadOptions { parallel: 1, replace: true, dyno_version: "example".to_owned() };
    let report = target.block_data()?.load(&spec, &load, &Silent, &Cancel::default())?;
    let mb_per_s = report.bytes_written as f64 / 1e6 / report.seconds;
    println!("{url}: {} rows loaded in {:.2} s, {mb_per_s:.0} MB/s", report.rows_written, report.seconds);
    let blocks = BlockSessionConfig {
        schema: 1,
        spec,
        work_unit: 64,
        redo: Redo::Lite,
        extra: Default::default(),
        seed: 1,
        run_stamp: 1,
        session: 0,
    };
    let clock = Arc::new(MonotonicClock::default());
    let mut session = Operated::open(target.as_ref(), &blocks, DriveMode::Client, Commit::Wait, clock)?;
    // A multiplicative step spreads the keys over the table without a random generator whose time would be
    // measured too.
    let key = |number: u64| 1 + number.wrapping_mul(0x9e37_79b9_7f4a_7c15) % (rows - 64);
    measure("lookup", 200_000, &mut session, |number| BlockOp::Lookup { key: key(number) });
    if arguments.next().is_some_and(|only| only == "lookup") {
        session.close();
        return Ok(());
    }
    measure("select of 64 rows", 10_000, &mut session, |number| BlockOp::Select { first: key(number) });
    measure("scan", 20, &mut session, |_| BlockOp::Scan);
    measure("update of 64 rows", 200, &mut session, |number| BlockOp::Update { first: key(number), number });
    session.close();
    Ok(())
}
