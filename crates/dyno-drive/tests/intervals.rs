//! What is told of each interval, while a run goes on and after it, on a scripted database: every interval holds the operations
//! and the counters of its own time, and the live line shows one that is complete.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod scene;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use dyno_drive::scripted::{Act, ScriptedClock};
use dyno_drive::{Event, Live, Watch};
use dyno_plan::Span;
use dyno_record::RunRecord;
use scene::Scene;

const INTERVAL_NS: u64 = 50_000_000;
const INTERVALS: u64 = 12;

/// Operations in each interval, in turns: each is so long that they fill it.
const OPS: [u64; 4] = [10, 2, 25, 5];

/// What the coordinator has told: when the window began, and of how many intervals.
#[derive(Default)]
struct Told {
    begin_ns: AtomicU64,
    intervals: AtomicU64,
    live: Mutex<Vec<Live>>,
}

struct Teller(Arc<Told>);

impl Watch for Teller {
    fn event(&self, event: &Event) {
        match event {
            Event::Window { at_ns, .. } => self.0.begin_ns.store(*at_ns, Ordering::Release),
            Event::Interval(live) => {
                self.0.live.lock().unwrap().push(*live);
                self.0.intervals.fetch_add(1, Ordering::Release);
            }
            _ => {}
        }
    }
    fn connected(&self) -> Result<(), String> {
        Ok(())
    }
    fn drained(&self) -> Result<(), String> {
        Ok(())
    }
}

/// Waits until `true`, which a test that is right never does for long.
fn until(is_so: impl Fn() -> bool) {
    let patience = Instant::now() + Duration::from_secs(60);
    while !is_so() && Instant::now() < patience {
        std::thread::yield_now();
    }
}

/// A run of one session whose operations fill the intervals as `OPS` has it. The scripted clock waits for the coordinator at
/// the end of each interval, until that has told of the one before: what it tells does not depend on the machine.
fn told() -> (RunRecord, Vec<Live>) {
    let (told, clock) = (Arc::new(Told::default()), Arc::new(ScriptedClock::default()));
    let mut scene = Scene::new().plan(|plan| {
        plan.run.warmup = Span(Duration::from_nanos(INTERVAL_NS));
        plan.run.time = Some(Span(Duration::from_nanos(INTERVAL_NS * INTERVALS)));
    });
    let (its, its_clock) = (Arc::clone(&told), Arc::clone(&clock));
    scene.script = Arc::new(move |_, _, _| {
        use dyno_target::Clock as _;
        let begin_ns = its.begin_ns.load(Ordering::Acquire);
        let now_ns = its_clock.now_ns();
        if begin_ns == 0 || now_ns < begin_ns {
            return Act::Take(1_000_000);
        }
        let interval = (now_ns - begin_ns) / INTERVAL_NS;
        until(|| its.intervals.load(Ordering::Acquire) + 1 >= interval.min(INTERVALS));
        Act::Take(INTERVAL_NS / OPS[interval as usize % OPS.len()])
    });
    scene.pass = Arc::new({
        let clock = Arc::clone(&clock);
        move |ns| clock.advance(ns)
    });
    scene.clock = clock;
    let record = scene.run_watched(&Teller(Arc::clone(&told)));
    let live = told.live.lock().unwrap().clone();
    (record, live)
}

#[test]
fn the_live_line_shows_the_last_interval_that_is_complete() {
    let (record, live) = told();
    println!("{:#?}", live);
    for p in &record.series.points {
        println!("{} {} {:?}", p.at_s, p.ops, p.metrics);
    }
}
