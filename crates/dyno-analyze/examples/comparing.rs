//! Measures how long a comparison of two sweeps takes: 200 points, five repeats each, all usual
//! measures.
//! `cargo run --release -p dyno-analyze --features fixture --example comparing`.

#![allow(clippy::print_stdout, reason = "an example that prints what it measured")]

use std::time::Instant;

use dyno_analyze::compare::{ComparisonRules, ComparisonSide, compare};
use dyno_analyze::fixture;
use dyno_record::{Metric, RunRecord, Unit};

const POINTS: u32 = 200;
const REPEATS: u32 = 5;
const TRIALS: usize = 20;

fn sweep(model: &RunRecord, factor: f64) -> Vec<RunRecord> {
    let run = |n: u32| {
        let mut record = model.clone();
        record.id = format!("{n:06}");
        record.plan.run.sessions_per_schema = n / REPEATS + 1;
        let value = factor * 1_000.0 * f64::from(n / REPEATS + 1) * (1.0 + 0.01 * f64::from(n % REPEATS));
        record.metrics.insert("ops_per_s".into(), Metric::Value { value, unit: Unit::PerSecond });
        record
    };
    (0..POINTS * REPEATS).map(run).collect()
}

fn main() {
    let model = fixture::postgres();
    let (a, b) = (sweep(&model, 1.0), sweep(&model, 0.9));
    let side = |records| ComparisonSide { name: "side".into(), records };
    let (a, b) = (side(a.iter().collect()), side(b.iter().collect()));
    for _ in 0..TRIALS {
        let begin = Instant::now();
        let comparison = compare(&a, &b, &ComparisonRules::default());
        let measures = comparison.overall.len();
        println!(
            "{} points × {measures} measures: {:.1} ms",
            comparison.points.len(),
            begin.elapsed().as_secs_f64() * 1e3
        );
    }
}
