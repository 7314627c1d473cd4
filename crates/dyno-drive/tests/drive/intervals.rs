//! What is told of each interval, while a run goes on and after it, on a scripted database: every interval holds the operations
//! and the counters of its own time, and the live line shows one that is complete.

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, Once, OnceLock};
use std::thread::ThreadId;
use std::time::Duration;

use crate::scene::Scene;
use dyno_drive::scripted::{Act, ScriptedClock};
use dyno_drive::{Event, Live, Watch};
use dyno_engine::Clock;
use dyno_plan::Span;
use dyno_record::{RunRecord, Status};

/// Scripted time costs nothing. The coordinator's patience for sessions that show what they did is a share of an interval on the
/// machine's own clock: here more than any machine needs.
const INTERVAL_NS: u64 = 200_000_000_000;
const INTERVALS: u64 = 11;

/// Operations in each interval, in turns: each is so long that they fill it.
const OPS: [u64; 4] = [10, 2, 25, 5];

/// How long before its begin the window is announced to the sessions.
const ANNOUNCED_NS: u64 = 1_000_000;

/// How long anybody waits for somebody else, whatever else the machine does. Whoever waits longer waits for ever.
const PATIENCE: Duration = Duration::from_secs(120);

/// Looks at the clock after an interval was told of: by the first, the coordinator finds out which interval is the next, and by the
/// second it waits for that one's end. Time that went on before them would have it leave one out, as on a machine that slept.
const LOOKS: u32 = 2;

/// How far the run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Came {
    Begun,
    /// The coordinator has told of so many intervals, and waits for the end of the next.
    Told(u64),
    Closing,
    Draining,
}

/// What the session and the coordinator tell each other, so that time goes on when both are ready for it.
#[derive(Default)]
struct Talk {
    came: Mutex<BTreeSet<Came>>,
    moved: Condvar,
    live: Mutex<Vec<Live>>,
    /// What has come when the coordinator has looked at the clock so many times more.
    coming: Mutex<Option<(Came, u32)>>,
    /// When the session did its first operation.
    first_ns: OnceLock<u64>,
}

impl Talk {
    fn tell(&self, came: Came) {
        self.came.lock().unwrap().insert(came);
        self.moved.notify_all();
    }

    /// The coordinator has looked at the clock.
    fn looked(&self) {
        let mut coming = self.coming.lock().unwrap();
        let Some((came, looks)) = coming.as_mut() else { return };
        *looks -= 1;
        if *looks == 0 {
            self.tell(*came);
            *coming = None;
        }
    }

    fn wait(&self, wanted: Came) {
        let (came, _) = self
            .moved
            .wait_timeout_while(self.came.lock().unwrap(), PATIENCE, |came| !came.contains(&wanted))
            .unwrap();
        let (there, last) = (came.contains(&wanted), came.last().copied());
        // Whoever tells goes on when this one has given up.
        drop(came);
        assert!(there, "{wanted:?} never came, after {last:?}");
    }
}

/// A clock that only the session moves, and that knows when the coordinator looks at it.
struct Watched {
    clock: ScriptedClock,
    coordinator: ThreadId,
    talk: Arc<Talk>,
}

impl Clock for Watched {
    fn now_ns(&self) -> u64 {
        let now_ns = self.clock.now_ns();
        if std::thread::current().id() == self.coordinator {
            self.talk.looked();
        }
        now_ns
    }
    fn park_until(&self, deadline_ns: u64) {
        self.clock.park_until(deadline_ns);
    }
}

impl Watch for Talk {
    fn event(&self, event: &Event) {
        match event {
            Event::Window { .. } => self.tell(Came::Begun),
            Event::Interval(live) => {
                let mut told = self.live.lock().unwrap();
                told.push(*live);
                *self.coming.lock().unwrap() = Some((Came::Told(told.len() as u64), LOOKS));
            }
            Event::Closing { .. } => self.tell(Came::Closing),
            Event::Draining => self.tell(Came::Draining),
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

/// What the session does next. Time stands still until the coordinator has seen to what is due: nothing that it tells depends on
/// when either of the two gets a processor.
fn act(talk: &Talk, clock: &ScriptedClock) -> Act {
    let now_ns = clock.now_ns();
    let first_ns = *talk.first_ns.get_or_init(|| now_ns);
    let begin_ns = first_ns + INTERVAL_NS;
    let end_ns = begin_ns + INTERVALS * INTERVAL_NS;
    if now_ns < begin_ns - ANNOUNCED_NS {
        return Act::Take(begin_ns - ANNOUNCED_NS - now_ns);
    }
    if now_ns < begin_ns {
        // Between two operations it hears of the window; once it is at its edge, that has come.
        std::thread::yield_now();
        return Act::Take(0);
    }
    talk.wait(Came::Begun);
    if now_ns >= end_ns {
        talk.wait(Came::Draining);
        return Act::Take(ANNOUNCED_NS);
    }
    // In its second half: whoever is asked to show what was done needs another operation for it.
    let due = (now_ns - begin_ns + INTERVAL_NS / 2) / INTERVAL_NS;
    if due > 1 {
        talk.wait(Came::Told(due - 1));
    }
    let length_ns = INTERVAL_NS / OPS[((now_ns - begin_ns) / INTERVAL_NS) as usize % OPS.len()];
    if now_ns + length_ns < end_ns {
        return Act::Take(length_ns);
    }
    // The last is under way when the window ends, so that the session is at that edge with it.
    clock.advance(length_ns);
    talk.wait(Came::Closing);
    Act::Take(0)
}

/// A run of one session whose operations fill the intervals as `OPS` has it.
fn told() -> (RunRecord, Vec<Live>) {
    let talk = Arc::new(Talk::default());
    let clock = Arc::new(Watched {
        clock: ScriptedClock::default(),
        coordinator: std::thread::current().id(),
        talk: Arc::clone(&talk),
    });
    let mut scene = Scene::new().plan(|plan| {
        plan.run.warmup = Span(Duration::from_nanos(INTERVAL_NS));
        plan.run.time = Some(Span(Duration::from_nanos(INTERVAL_NS * INTERVALS)));
        plan.run.drain = Span(PATIENCE);
        plan.observe.interval = Span(Duration::from_nanos(INTERVAL_NS));
    });
    let (its, its_clock) = (Arc::clone(&talk), Arc::clone(&clock));
    scene.script = Arc::new(move |_, _, _| act(&its, &its_clock.clock));
    scene.shown = Arc::new({
        let (clock, heard) = (Arc::clone(&clock), Once::new());
        move || heard.call_once(|| clock.clock.advance(ANNOUNCED_NS))
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
        // The operation under way at the end of an interval is in its counters, and ends in the next.
        let shift = f64::from(u8::from(at == 0)) - f64::from(u8::from(at + 1 == points.len()));
        let expected = expected + shift * unit / point.seconds;
        assert!((reads_per_s - expected).abs() <= 1e-6, "{expected} expected: {point:?}");
    }
    let ops: Vec<u64> = points[1..points.len() - 1].iter().map(|point| point.ops).collect();
    assert!(ops.iter().max() > ops.iter().min(), "a series that is flat shows nothing: {ops:?}");
}
