//! Tests schedules of phases on a scripted database: the phase of each operation, and the backlog.
//!
//! The scripted clock runs ahead of the coordinator, so sessions wait until the window has begun. A late end
//! of the window does not affect what was due before it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dyno_drive::{RunEvent, RunListener};
use dyno_engine::{Clock, ErrorClass, OpError};
use dyno_plan::{Arrivals, Plan, TimeSpan};
use dyno_prove::scripted::{Act, ScriptedClock};
use dyno_record::{RunRecord, Status};

use crate::scene::Scene;

/// Notes when the window has begun.
struct WindowFlag(Arc<AtomicBool>);

impl RunListener for WindowFlag {
    fn event(&self, event: &RunEvent) {
        if matches!(event, RunEvent::Window { .. }) {
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

/// A run with the rate of `phases`, which last this many seconds together; `act` decides what the operation
/// with each number does.
fn run(phases: &[&str], seconds: u64, act: impl Fn(u64) -> Act + Send + Sync + 'static) -> RunRecord {
    let change = |plan: &mut Plan| {
        plan.workload.phases = phases.iter().map(|phase| phase.parse().unwrap()).collect();
        plan.run.time = Some(TimeSpan(Duration::from_secs(seconds)));
    };
    run_of(change, act)
}

/// A run of a changed plan.
fn run_of(change: impl FnOnce(&mut Plan), act: impl Fn(u64) -> Act + Send + Sync + 'static) -> RunRecord {
    let (begun, clock) = (Arc::new(AtomicBool::new(false)), Arc::new(ScriptedClock::default()));
    let (has_window_begun, its_clock) = (Arc::clone(&begun), Arc::clone(&clock));
    let mut scene = Scene::new().script(move |_, number, _| {
        while !has_window_begun.load(Ordering::SeqCst) {
            // The coordinator waits for a time of this clock.
            its_clock.advance(2_000);
            (0..50).for_each(|_| std::thread::yield_now());
        }
        act(number)
    });
    let its_clock = Arc::clone(&clock);
    scene.clock = clock as Arc<dyn Clock>;
    scene.pass = Arc::new(move |ns| its_clock.advance(ns));
    let scene = scene.plan(|plan| {
        change(plan);
        plan.observe.interval = TimeSpan(Duration::from_secs(1));
    });
    scene.run_watched(&WindowFlag(begun))
}

/// Checks the sums that hold in any record with phases.
fn check_sums(record: &RunRecord) {
    let phase_sum = |part: fn(&dyno_record::OpStats) -> u64| {
        record.phases.iter().map(|phase| part(&phase.ops["all"])).sum::<u64>()
    };
    let all = &record.ops["all"];
    assert_eq!(phase_sum(|ops| ops.count) + record.out_of_phases(), all.count);
    assert!(phase_sum(|ops| ops.errors) <= all.errors);
    for phase in &record.phases {
        let ops = &phase.ops["all"];
        assert_eq!(ops.response_us.count, ops.count);
        assert!((ops.rate_per_s - (ops.count as f64 - ops.before) / phase.seconds()).abs() < 1e-9);
        assert!(ops.count + ops.errors <= phase.due, "{phase:?}");
    }
}

#[test]
fn operation_belongs_to_phase_of_its_due_time() {
    let phases = ["hold 100/s 10s", "ramp 0..200/s 10s", "hold 0/s 5s", "steps 20..40/s by 20/s each 5s"];
    // 1 ms each, and every fiftieth operation fails.
    let record = run(&phases, 35, |number| match number % 50 {
        49 => {
            Act::Fail(OpError { class: ErrorClass::Retryable, code: "E1".into(), message: "scripted".into() })
        }
        _ => Act::Take(1_000_000),
    });
    assert_eq!(record.status, Status::Valid, "{:?}", record.reasons);
    check_sums(&record);
    let phase_figures = record.phases.iter().map(|phase| {
        let ops = &phase.ops["all"];
        let span = (phase.begin_s.round(), phase.end_s.round());
        (phase.name.as_str(), span, phase.asked.round(), phase.due, ops.count, ops.errors)
    });
    assert_eq!(
        phase_figures.collect::<Vec<_>>(),
        [
            ("hold 100/s 10s", (0.0, 10.0), 1_000.0, 1_000, 980, 20),
            ("ramp 0/s..200/s 10s", (10.0, 20.0), 1_000.0, 1_000, 980, 20),
            ("hold 0/s 5s", (20.0, 25.0), 0.0, 0, 0, 0),
            ("hold 20/s 5s", (25.0, 30.0), 100.0, 100, 98, 2),
            ("hold 40/s 5s", (30.0, 35.0), 200.0, 200, 196, 4),
        ]
    );
    // Failed operations took no time; the pause after them may delay others.
    let last = &record.phases[4];
    assert!((last.ops["select"].service_us.p99.unwrap() / 1_000.0 - 1.0).abs() < 2e-3);
    assert_eq!((last.asked_per_s().round(), last.ops["all"].rate_per_s.round()), (40.0, 39.0));
}

#[test]
fn overloaded_phase_leaves_operations_to_next_phases() {
    // 10 ms each, so 100/s: half of 200/s for 10 s is left over, and phases of 50/s need 20 s to catch up.
    let phases = ["hold 200/s 10s", "hold 50/s 10s", "hold 50/s 20s"];
    let record = run(&phases, 40, |_| Act::Take(10_000_000));
    check_sums(&record);
    let [rush, after, last] = record.phases.as_slice() else { panic!("{:?}", record.phases) };
    assert_eq!((rush.due, after.due, last.due), (2_000, 500, 1_000));
    // A few milliseconds passed before the window began.
    assert!(rush.behind.abs_diff(1_000) <= 5, "{}", rush.behind);
    assert!(after.behind.abs_diff(500) <= 5, "{}", after.behind);
    assert_eq!(last.behind, 0);
    let counts = [rush, after, last].map(|phase| phase.ops["all"].count);
    assert_eq!(counts, [2_000, 500, 1_000], "they were done late, and count where they were due");
    let worst = rush.ops["all"].response_us.max.unwrap() / 1e6;
    assert!((worst - 10.0).abs() < 0.05, "the last one of the rush waited {worst} s");
    assert!((rush.ops["all"].service_us.p99.unwrap() / 10_000.0 - 1.0).abs() < 2e-3);
}

#[test]
fn operations_never_started_count_as_behind() {
    let record = run(&["hold 200/s 10s"], 10, |_| Act::Take(10_000_000));
    let phase = &record.phases[0];
    assert_eq!(phase.due, 2_000);
    assert!(phase.behind.abs_diff(1_000) <= 5, "{}", phase.behind);
}

fn plan_with_think_time(plan: &mut Plan, phase: &str, seconds: f64, think: &str) {
    plan.workload.phases = vec![phase.parse().unwrap()];
    plan.workload.think_every = 1;
    (plan.workload.think_min, plan.workload.think_max) = (think.parse().unwrap(), think.parse().unwrap());
    plan.run.time = Some(TimeSpan(Duration::from_secs_f64(seconds)));
}

#[test]
fn arrivals_during_think_time_are_not_lost() {
    // 1 ms each and 19 ms of sleep, so 50/s of 200/s.
    let record =
        run_of(|plan| plan_with_think_time(plan, "hold 200/s 10s", 10.0, "19ms"), |_| Act::Take(1_000_000));
    check_sums(&record);
    let phase = &record.phases[0];
    assert!(phase.behind.abs_diff(1_500) <= 5, "{}", phase.behind);
    assert_eq!(phase.due, 2_000);
    // How much of the backlog is still done depends on when the window's end is noticed.
    let op_count = phase.ops["all"].count;
    assert!((phase.due - phase.behind..=phase.due).contains(&op_count), "{op_count}");
    assert!(record.window.as_ref().unwrap().think.unwrap().sleeps > 0);
}

#[test]
fn arrivals_are_not_lost_when_sessions_on_one_thread_sleep() {
    let scene = Scene::new().duplex().sessions(4).plan(|plan| {
        plan_with_think_time(plan, "hold 2000/s 500ms", 0.5, "5ms");
        plan.run.warmup = TimeSpan(Duration::from_millis(50));
    });
    let record = scene.run();
    check_sums(&record);
    let phase = &record.phases[0];
    let op_count = phase.ops["all"].count;
    assert!(phase.due == 1_000, "{phase:?}");
    assert!(op_count > 0, "{phase:?}");
    assert!(phase.behind > 200, "{phase:?}");
    // Work that began between the phase's end and the window's end counts as both. Work that ended before the
    // window, which may begin slightly late, counts as neither.
    assert!(op_count + phase.behind + 4 >= phase.due, "{op_count} done and {} behind", phase.behind);
}

#[test]
fn same_seed_gives_same_arrivals_on_any_thread_layout() {
    // On the machine's clock: several sessions on one thread wait for their sockets, which a script cannot
    // control.
    let record = |duplex: bool, sessions: u32| {
        let scene = Scene::new().sessions(sessions).plan(|plan| {
            let phases = ["ramp 0..600/s 500ms", "hold 300/s 500ms", "hold 20/s 500ms"];
            plan.workload.phases = phases.iter().map(|phase| phase.parse().unwrap()).collect();
            plan.workload.arrivals = Arrivals::Poisson;
            plan.run.warmup = TimeSpan(Duration::from_millis(100));
            plan.run.time = Some(TimeSpan(Duration::from_millis(1_500)));
            plan.observe.interval = TimeSpan(Duration::from_millis(500));
        });
        let record = if duplex { scene.duplex() } else { scene }.run();
        check_sums(&record);
        assert_eq!(record.phases.len(), 3);
        // Operations of the first phase that ended before a late window do not count, and those due at the
        // end of the last one may come too late.
        assert!(record.phases[0].ops["all"].count <= record.phases[0].due);
        assert_eq!(record.phases[1].ops["all"].count, record.phases[1].due);
        for (phase, expected_ops) in record.phases.iter().zip([150.0, 150.0, 10.0f64]) {
            assert!((phase.asked - expected_ops).abs() < 1e-6);
            assert!(
                (phase.due as f64 - expected_ops).abs() < 5.0 * expected_ops.sqrt(),
                "{} of {expected_ops}",
                phase.due
            );
        }
        record.phases.iter().map(|phase| phase.due).collect::<Vec<_>>()
    };
    assert_eq!(record(true, 3), record(false, 3));
}

#[test]
fn overloaded_sessions_of_one_thread_report_backlog() {
    let scene = Scene::new().duplex().plan(|plan| {
        plan.workload.phases = vec!["hold 400/s 250ms".parse().unwrap(), "hold 4/s 1250ms".parse().unwrap()];
        plan.run.time = Some(TimeSpan(Duration::from_millis(1_500)));
    });
    let mut scene = scene.script(|_, _, _| Act::Take(1));
    // 5 ms each: half of the rate that the first phase asks for.
    scene.pass = Arc::new(|_| std::thread::sleep(Duration::from_millis(5)));
    let record = scene.run();
    check_sums(&record);
    let [rush, rest] = record.phases.as_slice() else { panic!("{:?}", record.phases) };
    assert_eq!((rush.due, rest.due, rush.ops["all"].count), (100, 5, 100));
    assert!(rush.behind >= 45, "{}", rush.behind);
    assert!(rush.ops["all"].response_us.max > rush.ops["all"].service_us.max);
}

#[test]
fn run_without_phases_records_none() {
    let record = Scene::new().run();
    assert!(record.phases.is_empty());
    let text = record.to_json().unwrap();
    assert!(!text.contains("\"phases\""), "and its record is as before");
}
