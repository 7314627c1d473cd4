//! Tests the reports on intervals, during a run and after it, on a scripted database. Every interval has the
//! operations and the counters of its own time, and the live line shows a complete one.

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, Once, OnceLock};
use std::thread::ThreadId;
use std::time::Duration;

use dyno_drive::{LiveProgress, RunEvent, RunListener};
use dyno_engine::Clock;
use dyno_plan::TimeSpan;
use dyno_prove::scripted::{Act, ScriptedClock};
use dyno_record::{RunRecord, Status};

use crate::scene::Scene;

/// Scripted time costs nothing. The coordinator waits for sessions to publish for a share of an interval on
/// the machine's clock; this interval makes that longer than any machine needs.
const INTERVAL_NS: u64 = 200_000_000_000;
const INTERVALS: u64 = 11;

/// Operations in each interval, repeating; each is so long that they fill the interval.
const OPS_PER_INTERVAL: [u64; 4] = [10, 2, 25, 5];

/// How long before its begin the window is announced to the sessions.
const ANNOUNCED_NS: u64 = 1_000_000;

/// How long a thread waits for another one on the busiest machine. A longer wait would be a deadlock.
const PATIENCE: Duration = Duration::from_secs(120);

/// Clock readings after the report of an interval. With the first, the coordinator finds the next interval;
/// with the second, it waits for its end. If time passed before them, the coordinator would skip an interval,
/// as on a machine that was suspended.
const LOOKS: u32 = 2;

/// The progress of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum RunStage {
    Begun,
    /// The coordinator has reported this many intervals, and waits for the end of the next.
    Told(u64),
    Closing,
    Draining,
}

/// Synchronizes session and coordinator, so that time advances when both are ready.
#[derive(Default)]
struct StageSync {
    reached: Mutex<BTreeSet<RunStage>>,
    changed: Condvar,
    live: Mutex<Vec<LiveProgress>>,
    /// The progress that is reached after this many more clock readings of the coordinator.
    pending: Mutex<Option<(RunStage, u32)>>,
    /// When the session executed its first operation.
    first_ns: OnceLock<u64>,
}

impl StageSync {
    fn reach(&self, came: RunStage) {
        self.reached.lock().unwrap().insert(came);
        self.changed.notify_all();
    }

    /// Notes that the coordinator has read the clock.
    fn clock_was_read(&self) {
        let mut coming = self.pending.lock().unwrap();
        let Some((came, looks)) = coming.as_mut() else { return };
        *looks -= 1;
        if *looks == 0 {
            self.reach(*came);
            *coming = None;
        }
    }

    fn wait_for_stage(&self, wanted: RunStage) {
        let (came, _) = self
            .changed
            .wait_timeout_while(self.reached.lock().unwrap(), PATIENCE, |came| !came.contains(&wanted))
            .unwrap();
        let (is_reached, last) = (came.contains(&wanted), came.last().copied());
        // The reporting thread continues when this one has given up.
        drop(came);
        assert!(is_reached, "{wanted:?} never came, after {last:?}");
    }
}

/// A clock that only the session advances, and that notices when the coordinator reads it.
struct WatchedClock {
    clock: ScriptedClock,
    coordinator: ThreadId,
    talk: Arc<StageSync>,
}

impl Clock for WatchedClock {
    fn now_ns(&self) -> u64 {
        let now_ns = self.clock.now_ns();
        if std::thread::current().id() == self.coordinator {
            self.talk.clock_was_read();
        }
        now_ns
    }
    fn park_until(&self, deadline_ns: u64) {
        self.clock.park_until(deadline_ns);
    }
}

impl RunListener for StageSync {
    fn event(&self, event: &RunEvent) {
        match event {
            RunEvent::Window { .. } => self.reach(RunStage::Begun),
            RunEvent::Interval(live) => {
                let mut live_intervals = self.live.lock().unwrap();
                live_intervals.push(*live);
                *self.pending.lock().unwrap() = Some((RunStage::Told(live_intervals.len() as u64), LOOKS));
            }
            RunEvent::Closing { .. } => self.reach(RunStage::Closing),
            RunEvent::Draining => self.reach(RunStage::Draining),
            _ => {}
        }
    }
    fn connected(&self) -> Result<(), String> {
        Ok(())
    }
    fn window_begins(&self) {}

    fn window_ended(&self) {}

    fn drained(&self) -> Result<(), String> {
        Ok(())
    }
}

/// Decides what the session does next. Time stands still until the coordinator has done what is due, so its
/// reports do not depend on the scheduling of the two threads.
fn act(talk: &StageSync, clock: &ScriptedClock) -> Act {
    let now_ns = clock.now_ns();
    let first_ns = *talk.first_ns.get_or_init(|| now_ns);
    let begin_ns = first_ns + INTERVAL_NS;
    let end_ns = begin_ns + INTERVALS * INTERVAL_NS;
    if now_ns < begin_ns - ANNOUNCED_NS {
        return Act::Take(begin_ns - ANNOUNCED_NS - now_ns);
    }
    if now_ns < begin_ns {
        // Between two operations the session notices the window; when it reaches the boundary, the window has
        // begun.
        std::thread::yield_now();
        return Act::Take(0);
    }
    talk.wait_for_stage(RunStage::Begun);
    if now_ns >= end_ns {
        talk.wait_for_stage(RunStage::Draining);
        return Act::Take(ANNOUNCED_NS);
    }
    // In the second half of the interval: a request to publish work needs another operation.
    let due = (now_ns - begin_ns + INTERVAL_NS / 2) / INTERVAL_NS;
    if due > 1 {
        talk.wait_for_stage(RunStage::Told(due - 1));
    }
    let length_ns =
        INTERVAL_NS / OPS_PER_INTERVAL[((now_ns - begin_ns) / INTERVAL_NS) as usize % OPS_PER_INTERVAL.len()];
    if now_ns + length_ns < end_ns {
        return Act::Take(length_ns);
    }
    // The last operation is in progress when the window ends, so the session reaches that boundary with it.
    clock.advance(length_ns);
    talk.wait_for_stage(RunStage::Closing);
    Act::Take(0)
}

/// A run of one session whose operations fill the intervals as in `OPS_PER_INTERVAL`.
fn run_intervals() -> (RunRecord, Vec<LiveProgress>) {
    let talk = Arc::new(StageSync::default());
    let clock = Arc::new(WatchedClock {
        clock: ScriptedClock::default(),
        coordinator: std::thread::current().id(),
        talk: Arc::clone(&talk),
    });
    let mut scene = Scene::new().plan(|plan| {
        plan.run.warmup = TimeSpan(Duration::from_nanos(INTERVAL_NS));
        plan.run.time = Some(TimeSpan(Duration::from_nanos(INTERVAL_NS * INTERVALS)));
        plan.run.drain = TimeSpan(PATIENCE);
        plan.observe.interval = TimeSpan(Duration::from_nanos(INTERVAL_NS));
    });
    let (its, its_clock) = (Arc::clone(&talk), Arc::clone(&clock));
    scene.script = Arc::new(move |_, _, _| act(&its, &its_clock.clock));
    scene.shown = Arc::new({
        let (clock, advance_once) = (Arc::clone(&clock), Once::new());
        move || advance_once.call_once(|| clock.clock.advance(ANNOUNCED_NS))
    });
    scene.pass = Arc::new({
        let clock = Arc::clone(&clock);
        move |ns| clock.clock.advance(ns)
    });
    scene.clock = clock;
    let record = scene.run_watched(talk.as_ref());
    let live = talk.live.lock().unwrap().clone();
    (record, live)
}

#[test]
fn live_line_shows_last_complete_interval() {
    let (record, live) = run_intervals();
    assert_eq!(record.status, Status::Valid, "{:?}", record.reasons);
    assert_eq!(live.len() as u64, INTERVALS - 1, "{live:#?}");
    assert_eq!((live[0].until_s, live[0].ops_per_s), (None, 0.0));
    let interval_s = INTERVAL_NS as f64 / 1e9;
    for (shown, (live_interval, point)) in live[1..].iter().zip(&record.series.points).enumerate() {
        // When an interval has just ended, the one before is the last on which all sessions have reported.
        assert!(
            (live_interval.until_s.unwrap() - (shown + 1) as f64 * interval_s).abs() < 1e-9,
            "{live_interval:?}"
        );
        assert!(live_interval.elapsed_s >= live_interval.until_s.unwrap() + interval_s, "{live_interval:?}");
        assert!(
            (live_interval.ops_per_s - point.ops as f64 / interval_s).abs() < 1e-6,
            "{live_interval:?} beside {point:?}"
        );
    }
}

#[test]
fn interval_counters_match_its_operations() {
    let (record, _) = run_intervals();
    let points = &record.series.points;
    assert_eq!(points.len() as u64, INTERVALS);
    let unit = f64::from(record.plan.workload.work_unit);
    for (at, point) in points.iter().enumerate() {
        let reads_per_s = point.metrics["logical_reads_per_s"];
        let expected = point.ops as f64 / point.seconds * unit;
        // The operation in progress at the end of an interval is in its counters, and ends in the next.
        let shift = f64::from(u8::from(at == 0)) - f64::from(u8::from(at + 1 == points.len()));
        let expected = expected + shift * unit / point.seconds;
        assert!((reads_per_s - expected).abs() <= 1e-6, "{expected} expected: {point:?}");
    }
    let ops: Vec<u64> = points[1..points.len() - 1].iter().map(|point| point.ops).collect();
    assert!(ops.iter().max() > ops.iter().min(), "a series that is flat shows nothing: {ops:?}");
}
