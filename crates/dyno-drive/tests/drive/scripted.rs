//! Tests gate, pacing, window, series and failure on a scripted database whose every operation is known.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use dyno_drive::{RunEvent, RunListener};
use dyno_engine::{Cancel, Clock, ErrorClass, MonotonicClock, OpError};
use dyno_observe::OWN_COMMITS;
use dyno_plan::{DriveMode, Rate, TimeSpan};
use dyno_prove::scripted::{Act, ScriptedClock};
use dyno_record::{Counter, RunRecord, Status};

use crate::scene::Scene;

fn error(class: ErrorClass) -> Act {
    Act::Fail(OpError { class, code: "E1".into(), message: "scripted".into() })
}

/// Seconds of scripted time that the first snapshot of a window takes.
const LATE_S: f64 = 0.4;

#[test]
fn late_snapshot_changes_no_rate() {
    let working = Arc::new(AtomicU64::new(0));
    let clock = Arc::new(ScriptedClock::default());
    let (its_working, pass_clock, late_clock) =
        (Arc::clone(&working), Arc::clone(&clock), Arc::clone(&clock));
    let mut scene = Scene::new().plan(|plan| {
        plan.run.warmup = TimeSpan(Duration::from_millis(50));
        plan.run.time = Some(TimeSpan(Duration::from_secs(1)));
    });
    scene.script = Arc::new(move |_, _, _| {
        // Only the first of these coincides with the reading below.
        let _ = its_working.compare_exchange(0, 1, Ordering::SeqCst, Ordering::SeqCst);
        Act::Take(10_000)
    });
    scene.clock = clock;
    scene.pass = Arc::new(move |ns| pass_clock.advance(ns));
    scene.reading = Arc::new(move || {
        if working.compare_exchange(1, 2, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
            late_clock.advance((LATE_S * 1e9) as u64);
        }
    });
    let record = scene.run();
    let window = record.window.as_ref().unwrap();
    let work_s = window.work_s.unwrap();
    // Their distance depends on the machine: the scripted clock runs on until the end is noticed.
    assert!((work_s - window.seconds).abs() > 1e-6, "{window:?}");
    let all = &record.ops["all"];
    let metric = |name: &str| record.metrics[name].value().unwrap();
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b;
    assert!(close(all.rate_per_s, (all.count as f64 - all.before) / work_s), "{all:?}");
    assert!(close(metric("ops_per_s"), all.rate_per_s));
    // The database counted the sessions' work between their own boundaries, so the time is the same.
    assert!(close(metric("logical_reads_per_s"), metric("rows_per_s")));
}

#[test]
fn run_counts_match_database_counters() {
    let record = Scene::new().sessions(4).updates(30).run();
    assert_eq!(record.status, Status::Valid, "{:?}", record.reasons);
    let counted = record.window.as_ref().unwrap().counted.as_ref().unwrap();
    assert!(counted.operations() > 0);
    assert!(record.ops["all"].count > 0);
    assert_eq!(record.counters.get(Counter::LogicalReads), Ok(counted.rows() as i64));
    assert_eq!(record.counters.get(Counter::Commits), Ok(counted.commits as i64));
    assert_eq!(record.counters.get(Counter::RowsWritten), Ok(counted.rows_updated as i64));
    let whole = record.whole.as_ref().unwrap();
    assert_eq!(whole.counters.get(Counter::LogicalReads), Ok((whole.rows_read + whole.rows_updated) as i64));
    assert_eq!(whole.counters.get(Counter::Commits), Ok(whole.commits as i64));
    assert_eq!(whole.verified_rows, (32, 32));
    assert!(whole.ops["select"] >= record.ops["select"].count);
    assert_eq!(record.gate.sessions, 4);
    assert!(record.counters.native.contains_key(OWN_COMMITS));
}

#[test]
fn counters_recorded_late_are_waited_for() {
    // More readings than the number without a change after which the counters are settled.
    for duplex in [false, true] {
        let scene = Scene::new().sessions(3).updates(100).late(9);
        let scene = if duplex { scene.duplex() } else { scene };
        let record = scene.run();
        assert_eq!(record.status, Status::Valid, "{:?}", record.reasons);
        let whole = record.whole.unwrap();
        let counted = whole.counters.get(Counter::Commits).unwrap();
        assert!(whole.commits > 0);
        assert_eq!(counted.unsigned_abs(), whole.commits, "duplex {duplex}");
    }
}

#[test]
fn interval_series_sums_to_the_window() {
    let record = Scene::new().sessions(2).run();
    let sum: u64 = record.series.points.iter().map(|p| p.ops).sum();
    assert_eq!(sum, record.ops["all"].count);
    let seconds: f64 = record.series.points.iter().map(|p| p.seconds).sum();
    assert!(seconds > 0.0, "{:?}", record.series.points);
    assert!(record.series.points[0].metrics.contains_key("logical_reads_per_s"));
}

#[test]
fn recorded_latencies_match_scripted_latencies() {
    let record = Scene::new()
        .scripted_time()
        .script(|_, number, _| Act::Take(if number % 100 == 0 { 50_000 } else { 1_000 }))
        .plan(|plan| plan.run.ops_per_session = Some(10_000))
        .run();
    let latency = &record.ops["select"].service_us;
    let near = |value: Option<f64>, expected: f64| {
        let value = value.unwrap();
        assert!((value / expected - 1.0).abs() < 1e-3, "{value} instead of {expected}");
    };
    near(latency.p50, 1.0);
    near(latency.p95, 1.0);
    near(latency.p999, 50.0);
    near(latency.max, 50.0);
    // The end is noticed slightly after the last requested operation, anywhere in a group of a hundred.
    assert!((latency.mean.unwrap() / 1.49 - 1.0).abs() < 1e-2, "{latency:?}");
    assert_eq!(latency, &record.ops["select"].response_us);
}

#[test]
fn stall_counts_for_every_operation_it_delays() {
    // 1,000 arrivals a second, each served in 10 µs, but one in 5,000 takes a whole second.
    let record = Scene::new()
        .scripted_time()
        .script(|_, number, _| Act::Take(if number % 5_000 == 4_999 { 1_000_000_000 } else { 10_000 }))
        .plan(|plan| {
            plan.workload.rate = Some(Rate(1_000.0));
            plan.run.ops_per_session = Some(10_000);
            plan.observe.interval = TimeSpan(Duration::from_secs(3_600));
        })
        .run();
    let select = &record.ops["select"];
    assert!(select.service_us.p99.unwrap() < 10.1, "{:?}", select.service_us.p99);
    assert!((select.service_us.max.unwrap() / 1e6 - 1.0).abs() < 1e-2);
    // About a thousand arrivals were due during each stall and waited half a second on average.
    assert!(select.response_us.p99.unwrap() > 100_000.0, "{:?}", select.response_us.p99);
    assert!(record.window.unwrap().late_us_max.unwrap() > 900_000.0);
}

#[test]
fn retryable_errors_are_counted_and_run_continues() {
    let record = Scene::new()
        .script(|_, number, _| if number % 10 == 9 { error(ErrorClass::Retryable) } else { Act::Take(0) })
        .run();
    assert_eq!(record.status, Status::Valid);
    let select = &record.ops["select"];
    assert!(select.errors > 0);
    assert!(select.count > select.errors);
    assert_eq!((record.errors[0].class.as_str(), record.errors[0].code.as_str()), ("retryable", "E1"));
    assert_eq!(record.series.points.iter().map(|p| p.errors).sum::<u64>(), select.errors);
}

/// The machine's clock, running 60 times as fast.
struct FastClock(MonotonicClock);

impl Clock for FastClock {
    fn now_ns(&self) -> u64 {
        60 * self.0.now_ns()
    }
    fn park_until(&self, deadline_ns: u64) {
        self.0.park_until(deadline_ns / 60);
    }
}

#[test]
fn run_by_operations_ends_if_all_operations_fail() {
    for mut scene in [Scene::new(), Scene::new().duplex()] {
        scene.clock = Arc::new(FastClock(MonotonicClock::default()));
        let record = scene
            .script(|_, _, _| error(ErrorClass::Retryable))
            .plan(|plan| plan.run.ops_per_session = Some(1_000))
            .run();
        assert_eq!(record.status, Status::Failed, "{:?}", record.reasons);
        let words = "operations in a row have failed within ";
        assert!(record.reasons[0].contains(words), "{:?}", record.reasons);
        assert!(record.reasons[0].contains("scripted"), "{:?}", record.reasons);
        // Pauses keep it from sending a hundred thousand requests per second.
        assert!(record.errors.iter().map(|tally| tally.count).sum::<u64>() < 1_000, "{:?}", record.errors);
    }
}

#[test]
fn lost_connection_is_reopened_and_counted() {
    let record = Scene::new()
        .sessions(2)
        .script(|session, number, _| match (session, number) {
            (1, 5) => error(ErrorClass::Connection),
            _ => Act::Take(0),
        })
        .run();
    assert_eq!(record.status, Status::Valid);
    assert_eq!((record.errors[0].count, record.errors[0].reconnects), (1, 1));
}

/// Notes when an interval of the window is over.
struct IntervalFlag(Arc<AtomicBool>);

impl RunListener for IntervalFlag {
    fn event(&self, event: &RunEvent) {
        if matches!(event, RunEvent::Interval(_)) {
            self.0.store(true, Ordering::SeqCst);
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

#[test]
fn fatal_error_ends_run_and_keeps_measurements() {
    let measuring = Arc::new(AtomicBool::new(false));
    let is_measuring = Arc::clone(&measuring);
    let record = Scene::new()
        .plan(|plan| plan.run.time = Some(TimeSpan(Duration::from_secs(60))))
        .script(
            move |_, _, _| {
                if is_measuring.load(Ordering::SeqCst) { error(ErrorClass::Fatal) } else { Act::Take(0) }
            },
        )
        .run_watched(&IntervalFlag(measuring));
    assert_eq!(record.status, Status::Failed);
    assert!(record.reasons[0].contains("session 0"), "{:?}", record.reasons);
    assert!(record.reasons[0].contains("E1"), "{:?}", record.reasons);
    assert!(record.errors.iter().any(|tally| tally.class == "fatal"));
    let all = &record.ops["all"];
    assert!(all.count > 0);
    assert!(record.window.unwrap().seconds > 0.0);
    assert_eq!(record.series.points.iter().map(|p| p.ops).sum::<u64>(), all.count);
}

#[test]
fn hanging_session_is_aborted_and_run_is_invalid() {
    let record = Scene::new()
        .sessions(2)
        .script(|session, number, _| if session == 1 && number == 50 { Act::Hang } else { Act::Take(0) })
        .run();
    assert_eq!(record.status, Status::Invalid);
    assert!(record.reasons[0].contains("aborted: 1"), "{:?}", record.reasons);
    assert!(record.ops["all"].count > 0);
}

/// Operations after which a session has certainly checked the phase again: more than any slice has.
const SEEN_OPS: u64 = 20_000;

/// A run of three sessions for a minute; the second panics in an operation of the window.
#[test]
fn operations_of_other_sessions_on_thread_of_hung_one_are_kept() {
    let scene = Scene::new().duplex().sessions(3).script(|session, number, _| match (session, number) {
        (1, 200) => Act::Hang,
        _ => Act::Take(0),
    });
    let record = scene.run();
    assert_eq!(record.status, Status::Invalid, "{:?}", record.reasons);
    assert!(record.reasons[0].contains("1 sessions did not end"), "{:?}", record.reasons);
    let all = &record.ops["all"];
    assert!(all.count > 400, "{all:?}");
    assert!(all.service_us.count == all.count, "{all:?}");
}

/// The planned window of runs in which a session panics.
const PANIC_WINDOW: Duration = Duration::from_secs(60);

fn panicking(scene: Scene) -> RunRecord {
    let measuring = Arc::new(AtomicBool::new(false));
    let (is_measuring, since) = (Arc::clone(&measuring), AtomicU64::new(0));
    scene
        .sessions(3)
        .updates(100)
        .plan(|plan| plan.run.time = Some(TimeSpan(PANIC_WINDOW)))
        .script(move |session, _, _| match session {
            // On a busy machine the session may not have noticed the begin of the window yet.
            1 if is_measuring.load(Ordering::SeqCst) && since.fetch_add(1, Ordering::SeqCst) >= SEEN_OPS => {
                Act::Panic
            }
            _ => Act::Take(0),
        })
        .run_watched(&IntervalFlag(measuring))
}

#[test]
fn engine_panic_ends_run_and_keeps_measurements() {
    let server = Scene::new().plan(|plan| plan.workload.drive = DriveMode::Server);
    for (scene, class) in [(Scene::new(), "update"), (Scene::new().duplex(), "update"), (server, "slice")] {
        let record = panicking(scene);
        assert_eq!(record.status, Status::Failed);
        let reason = &record.reasons[0];
        assert!(reason.contains("session 1: "), "{reason}");
        assert!(reason.contains("as scripted"), "{reason}");
        let panic_tally = record.errors.iter().find(|tally| tally.code == "panic").unwrap();
        assert_eq!((panic_tally.class.as_str(), panic_tally.count), ("fatal", 1));
        let all = &record.ops["all"];
        assert!(all.count > 0);
        let seconds = record.window.as_ref().unwrap().seconds;
        assert!(
            (f64::MIN_POSITIVE..PANIC_WINDOW.as_secs_f64()).contains(&seconds),
            "the window was cut: {seconds}"
        );
        assert_eq!(record.ops[class].errors, 1, "{class}");
        assert_eq!(record.series.points.iter().map(|p| p.ops).sum::<u64>(), all.count);
        assert_eq!(record.gate.sessions, 3, "all have handed in what they measured");
        assert!(!record.reasons.iter().any(|reason| reason.contains("aborted")), "{:?}", record.reasons);
    }
}

#[test]
fn panic_while_opening_session_ends_run_before_window() {
    for scene in [Scene::new(), Scene::new().duplex()] {
        let record = scene.sessions(2).panics(Some(1), None).run();
        assert_eq!(record.status, Status::Failed);
        let reason = &record.reasons[0];
        assert!(reason.contains("session 1 cannot start"), "{reason}");
        assert!(reason.contains("as scripted"), "{reason}");
        assert!(record.window.is_none());
    }
}

#[test]
fn panic_at_session_end_is_reported_with_the_result() {
    for scene in [Scene::new(), Scene::new().duplex()] {
        let record = scene.sessions(2).panics(None, Some(1)).run();
        assert_eq!(record.status, Status::Failed);
        let reason = &record.reasons[0];
        assert!(reason.contains("session 1: "), "{reason}");
        assert!(reason.contains("as scripted"), "{reason}");
        assert!(record.ops["all"].count > 0);
        assert!(record.gate.sessions == 2);
    }
}

#[test]
fn observer_panic_ends_the_run() {
    let scene = Scene { reading: Arc::new(|| panic!("as scripted")), ..Scene::new() };
    let record = scene.run();
    assert_eq!(record.status, Status::Failed);
    assert!(record.reasons[0].contains("as scripted"), "{:?}", record.reasons);
}

/// Cancels a run as soon as it has reached an event.
struct CancelAt(Cancel, fn(&RunEvent) -> bool);

impl RunListener for CancelAt {
    fn event(&self, event: &RunEvent) {
        if self.1(event) {
            self.0.cancel();
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

#[test]
fn run_stopped_in_window_keeps_measured_operations() {
    let scene = Scene::new().plan(|plan| plan.run.time = Some(TimeSpan(Duration::from_secs(60))));
    let stop = CancelAt(scene.cancel.clone(), |event| matches!(event, RunEvent::Interval(_)));
    let record = scene.run_watched(&stop);
    assert_eq!(record.status, Status::Interrupted);
    assert!(record.ops["all"].count > 0);
    let window = record.window.as_ref().unwrap();
    let counted = window.counted.as_ref().unwrap().rows() as i64;
    let read = record.counters.get(Counter::LogicalReads).unwrap();
    // What a session did while a snapshot was taken may be before or behind it.
    let (early, late) = window.unsure.as_ref().map_or((0, 0), |(begin, end)| (begin.rows(), end.rows()));
    assert!(
        (counted - early as i64..=counted + late as i64).contains(&read),
        "{read} of {counted}: {window:?}"
    );
    assert!(window.seconds < 60.0);
}

#[test]
fn run_stopped_before_window_has_record_without_window() {
    let scene = Scene::new().plan(|plan| plan.run.warmup = TimeSpan(Duration::from_secs(60)));
    let stop = CancelAt(scene.cancel.clone(), |event| matches!(event, RunEvent::Warmup { .. }));
    let record = scene.run_watched(&stop);
    assert_eq!((record.status, record.window.is_none(), record.ops.len()), (Status::Interrupted, true, 0));
}

#[test]
fn window_by_operations_ends_when_every_session_is_done() {
    let record = Scene::new()
        .sessions(3)
        .plan(|plan| {
            plan.run.ops_per_session = Some(500);
            plan.run.time = None;
        })
        .run();
    assert_eq!(record.status, Status::Valid);
    assert!(record.ops["all"].count >= 1_500, "{}", record.ops["all"].count);
}

/// A session is in an operation at the begin, and does all of its work right after it, before the next check.
#[test]
fn run_by_operations_done_at_window_begin_counts_from_there() {
    let mut scene = Scene::new()
        .sessions(2)
        .plan(|plan| {
            plan.run.warmup = TimeSpan(Duration::from_millis(50));
            plan.run.ops_per_session = Some(20);
            plan.run.time = None;
        })
        .script(|session, number, _| {
            let is_late = session == 1 && number == 0;
            Act::Take(if is_late { 300_000_000 } else { u64::from(session == 0) * 100_000 })
        });
    scene.pass = Arc::new(|ns| {
        let (clock, until) = (MonotonicClock::default(), Duration::from_nanos(ns));
        while u128::from(clock.now_ns()) < until.as_nanos() {
            std::thread::park_timeout(until);
        }
    });
    let record = scene.run();
    let counted = record.window.as_ref().unwrap().counted.as_ref().unwrap();
    assert!(counted.operations() > 0, "{counted:?}");
    assert_eq!(record.counters.get(Counter::LogicalReads), Ok(counted.rows() as i64));
}

#[test]
fn slices_count_work_inside_the_database() {
    let inside = |plan: &mut dyno_plan::Plan| {
        plan.workload.drive = DriveMode::Server;
        // On a busy machine a slice may take long, and all sessions must reach the window's begin before it
        // ends.
        plan.run.time = Some(TimeSpan(Duration::from_secs(2)));
        plan.run.drain = TimeSpan(Duration::from_secs(20));
    };
    let record = Scene::new().sessions(2).updates(50).plan(inside).run();
    assert_eq!(record.status, Status::Valid);
    let all = &record.ops["all"];
    // A slice in progress when the window began belongs to it completely; its counts belong partly to the
    // time before.
    let counted = record.window.as_ref().unwrap().counted.as_ref().unwrap();
    assert_eq!(record.counters.get(Counter::LogicalReads), Ok(counted.rows() as i64));
    assert_eq!(record.counters.get(Counter::Commits), Ok(counted.commits as i64));
    assert!(counted.commits > 0);
    assert!(record.ops["slice"].count > 0);
    assert!(record.ops["slice"].service_us.p50.is_some());
    assert!(all.untimed.is_some());
    assert!(all.service_us.p50.is_none());
    assert!(all.service_us.mean.is_some());
    assert_eq!(record.series.points.iter().map(|p| p.ops).sum::<u64>(), all.count);
}

#[test]
fn warm_up_is_driven_but_not_counted() {
    let ops = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&ops);
    let record = Scene::new()
        .plan(|plan| plan.run.warmup = TimeSpan(Duration::from_millis(100)))
        .script(move |_, _, _| {
            counter.fetch_add(1, Ordering::Relaxed);
            Act::Take(0)
        })
        .run();
    let whole = record.whole.unwrap();
    assert_eq!(whole.ops["select"], ops.load(Ordering::Relaxed));
    assert!(record.ops["all"].count < whole.ops["select"]);
}
