//! Measures the cost of drawing an operation under each key distribution, with hot spots and with a mix, over
//! 10 million rows.
//!
//! `cargo run --release -p dyno-drive --example drawing [ROUNDS]`

// Printing is what this program is for.
#![allow(clippy::print_stdout)]

use std::time::Instant;

use dyno_plan::{DataSpec, WorkloadSettings};
use dyno_workload::OperationGenerator;
use serde_json::{Value, json};

type Failure = Box<dyn std::error::Error>;

/// Number of draws in one round.
const DRAWS: u64 = 5_000_000;

const ROWS: u64 = 10_000_000;

/// Each distribution with its keys in a workload of lookups.
fn laws() -> Vec<(&'static str, Value)> {
    vec![
        ("uniform", json!({})),
        ("zipf 0.99", json!({ "keys": "zipf", "zipf_exponent": 0.99 })),
        ("zipf 1.2", json!({ "keys": "zipf", "zipf_exponent": 1.2 })),
        ("latest 0.99", json!({ "keys": "latest", "zipf_exponent": 0.99 })),
        (
            "hot spot, every 4th",
            json!({ "hot_spot_every": 4, "hot_spot_size": "1000 blocks", "hot_spot_offset": "0 blocks" }),
        ),
        ("20 % updates", json!({ "update_pct": 20 })),
        ("10 % inserts and deletes", json!({ "insert_pct": 10, "delete_pct": 10 })),
    ]
}

fn workload(sets: &Value) -> Result<WorkloadSettings, Failure> {
    let mut all = json!({ "update_pct": 0, "scan_pct": 0, "lookup_pct": 100, "work_unit": 8, "redo": "lite",
                          "drive": "client", "arrivals": "constant" });
    if let (Some(all), Some(sets)) = (all.as_object_mut(), sets.as_object()) {
        all.extend(sets.clone());
    }
    Ok(serde_json::from_value(all)?)
}

fn main() -> Result<(), Failure> {
    let rounds: usize = std::env::args().nth(1).map_or(Ok(5), |rounds| rounds.parse())?;
    let spec = DataSpec {
        schemas: 1,
        rows: ROWS,
        scan_rows: 0,
        block_size: 8192,
        compressible: 0,
        seed: 42,
        secondary: false,
        copied: false,
    };
    let mut ns: Vec<Vec<f64>> = vec![Vec::new(); laws().len()];
    // Each round covers all distributions, so that a slow moment of the machine affects them all.
    for _ in 0..rounds {
        for ((_, sets), ns) in laws().iter().zip(&mut ns) {
            let mut draw = OperationGenerator::new(&workload(sets)?, &spec, 0, 0);
            let began = Instant::now();
            for _ in 0..DRAWS {
                std::hint::black_box(draw.next_task());
            }
            ns.push(began.elapsed().as_nanos() as f64 / DRAWS as f64);
        }
    }
    for ((law, _), mut ns) in laws().into_iter().zip(ns) {
        ns.sort_by(f64::total_cmp);
        println!("{law:<26}{:6.1} ns  ({:.1}–{:.1})", ns[ns.len() / 2], ns[0], ns[ns.len() - 1]);
    }
    Ok(())
}
