//! What is told of each interval, while a run goes on and after it, on a scripted database: every interval holds the operations
//! and the counters of its own time, and the live line shows one that is complete.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use crate::scene::Scene;
use dyno_drive::scripted::{Act, ScriptedClock};
use dyno_drive::{Event, Live, Watch};
use dyno_engine::Clock as _;
use dyno_plan::Span;
use dyno_record::{RunRecord, Status};

const INTERVAL_NS: u64 = 50_000_000;
const INTERVALS: u64 = 11;

/// Operations in each interval, in turns: each is so long that they fill it.
const OPS: [u64; 4] = [10, 2, 25, 5];

/// An operation outside the window, and how long each of them waits for a coordinator that is late.
const STEP_NS: u64 = 1_000_000;
const LATE: Duration = Duration::from_millis(50);

/// How long it is waited for where time need not go on.
const PATIENCE: Duration = Duration::from_secs(20);

/// What the coordinator has told: when the window began, and of how many intervals.
#[derive(Default)]
struct Told {
    /// When the session did its first operation; the warm-up is as long as an interval.
    first_ns: OnceLock<u64>,
    begin_ns: AtomicU64,
    intervals: AtomicU64,
    closing: AtomicBool,
    live: Mutex<Vec<Live>>,
}

struct Teller(Arc<Told>);

impl Watch for Teller {
    fn event(&self, event: &Event) {
        match event {
            Event::Window { at_ns, .. } => self.0.begin_ns.store(*at_ns, Ordering::Release),
            Event::Closing { .. } => self.0.closing.store(true, Ordering::Release),
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

/// Waits until something is so, for `patience` at most, and says whether it is.
fn until(patience: Duration, is_so: impl Fn() -> bool) -> bool {
    let since = Instant::now();
    while !is_so() && since.elapsed() < patience {
        std::thread::yield_now();
    }
    is_so()
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
        let now_ns = its_clock.now_ns();
        let first_ns = *its.first_ns.get_or_init(|| now_ns);
        if now_ns < first_ns + INTERVAL_NS {
            return Act::Take(STEP_NS);
        }
        // The window begins a moment after the warm-up, which comes only if time goes on: slowly, as the coordinator may be late.
        if !until(LATE, || its.begin_ns.load(Ordering::Acquire) > 0) {
            return Act::Take(STEP_NS);
        }
        let begin_ns = its.begin_ns.load(Ordering::Acquire);
        let interval = now_ns.saturating_sub(begin_ns) / INTERVAL_NS;
        if interval >= INTERVALS {
            // As long as those of the last interval, so that the rate stays what it was.
            until(PATIENCE, || its.closing.load(Ordering::Acquire));
            return Act::Take(INTERVAL_NS / OPS[(INTERVALS - 1) as usize % OPS.len()]);
        }
        // In its second half: whoever is asked to show what was done needs another operation for it.
        let due = ((now_ns.saturating_sub(begin_ns) + INTERVAL_NS / 2) / INTERVAL_NS).min(INTERVALS);
        until(PATIENCE, || its.intervals.load(Ordering::Acquire) + 1 >= due);
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
    assert_eq!(record.status, Status::Valid, "{:?}", record.reasons);
    assert_eq!(live.len() as u64, INTERVALS - 1, "{live:#?}");
    assert_eq!((live[0].until_s, live[0].ops_per_s), (None, 0.0));
    let interval_s = INTERVAL_NS as f64 / 1e9;
    for (shown, (told, point)) in live[1..].iter().zip(&record.series.points).enumerate() {
        // When an interval has just ended, the one before is the last of which all sessions have reported.
        assert!((told.until_s.unwrap() - (shown + 1) as f64 * interval_s).abs() < 1e-9, "{told:?}");
        assert!(told.elapsed_s >= told.until_s.unwrap() + interval_s, "{told:?}");
        assert!((told.ops_per_s - point.ops as f64 / interval_s).abs() < 1e-6, "{told:?} beside {point:?}");
    }
}

#[test]
fn an_interval_holds_the_counters_of_its_own_operations() {
    let (record, _) = told();
    let points = &record.series.points;
    assert_eq!(points.len() as u64, INTERVALS);
    let unit = f64::from(record.plan.workload.work_unit);
    for (at, point) in points.iter().enumerate() {
        let reads_per_s = point.metrics["logical_reads_per_s"];
        let expected = point.ops as f64 / point.seconds * unit;
        // What a session did between the announcement of the window's begin and that moment is an operation here; and so is
        // what was under way at its end.
        let edge = at == 0 || at + 1 == points.len();
        let allowed = if edge { 2.0 * unit / point.seconds } else { 1e-6 };
        assert!((reads_per_s - expected).abs() <= allowed, "{expected} expected: {point:?}");
    }
    let ops: Vec<u64> = points[1..points.len() - 1].iter().map(|point| point.ops).collect();
    assert!(ops.iter().max() > ops.iter().min(), "a series that is flat shows nothing: {ops:?}");
}
