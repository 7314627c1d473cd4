//! Measures the cost of drawing a transaction of the workload `@shop`, alone and with its requests.
//!
//! `cargo run --release -p dyno-workload --example transactions [TRANSACTIONS]`

#![expect(clippy::print_stdout, reason = "an example that prints what it measured")]

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use dyno_engine::{RequestCompletion, SessionRequest};
use dyno_workload::custom::{CustomActor, CustomWorkload};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let count: u32 = std::env::args().nth(1).map_or(Ok(3_000_000), |text| text.parse())?;
    let shop = Arc::new(CustomWorkload::read(Path::new("@shop"))?);
    let mut actor = CustomActor::new(&shop, "sqlite", 1, 1)?;
    let since = Instant::now();
    for _ in 0..count {
        std::hint::black_box(actor.draw());
    }
    let drawing = since.elapsed().as_nanos() as f64 / f64::from(count);
    let since = Instant::now();
    let mut requests = 0;
    for _ in 0..count {
        actor.draw();
        let mut last = None;
        while let Some(step) = actor.step(last) {
            requests += 1;
            actor.request(step, |request| {
                if let SessionRequest::Execute(_, values) = request {
                    std::hint::black_box(values);
                }
            });
            last = Some(RequestCompletion { rows: 9, commit_began_ns: None });
        }
    }
    let acting = since.elapsed().as_nanos() as f64 / f64::from(count);
    let each = f64::from(requests) / f64::from(count);
    println!("{drawing:.0} ns to draw a transaction, {acting:.0} ns with its {each:.1} requests");
    Ok(())
}
