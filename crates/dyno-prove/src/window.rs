//! Proves the window: runs scenes on a scripted database, and compares every recorded figure with the
//! scripted one.
//!
//! The scripted database keeps its own account of what its sessions did between the window boundaries. No
//! code that drives, times, counts or records touches that account. So if the two agree exactly, no operation
//! at the boundaries was lost or counted twice, and the percentiles are correct.

use dyno_engine::{BlockOp, ErrorClass, OpError, TargetError};
use dyno_workload::ClassId;

use crate::counted::{counts, stats};
use crate::distribution::Distribution;
use crate::figure::{ProofFigure, ProofFigures};
use crate::scene::Scene;
use crate::scripted::Act;
use crate::stalls;

/// Nanoseconds between two arrivals of the open loop.
const GAP_NS: u64 = 1_000_000;
/// How long a normal operation of the open loop takes, and how long one that stalls, ns.
const SERVED_NS: (u64, u64) = (10_000, 1_000_000_000);
/// One in this many operations stalls.
const STALL_EVERY: u64 = 5_000;

/// Runs every scene.
///
/// # Errors
/// A run could not be started: the machine cannot start a thread.
pub fn window() -> Result<Vec<ProofFigure>, TargetError> {
    let mut figures = closed_loop()?;
    figures.extend(many_sessions()?);
    figures.extend(open_loop()?);
    figures.extend(errors()?);
    figures.extend(server_drive()?);
    figures.extend(stalls::stalls()?);
    Ok(figures)
}

/// One session, scripted time: all classes, every duration known.
fn closed_loop() -> Result<Vec<ProofFigure>, TargetError> {
    let scene = Scene::new()
        .scripted_time()
        .set("run.ops_per_session=20000")
        .set("observe.interval=1h")
        .set("workload.update_pct=20")
        .set("workload.lookup_pct=30")
        .set("workload.scan_pct=5")
        .set("data.scan_scale=100 blocks")
        .script(|_, number, op| {
            Act::Take(match op {
                BlockOp::Secondary { .. } | BlockOp::Insert { .. } | BlockOp::Delete { .. } => 700,
                BlockOp::Lookup { .. } => 500 + number % 400,
                BlockOp::Select { .. } => 1_000 + number % 1_000,
                BlockOp::Scan => 40_000 + number % 3_000,
                // An even number: the commit takes half of it.
                BlockOp::Update { .. } => 100_000 + 2 * (number % 5_000),
            })
        });
    let ran = scene.run()?;
    let (record, window) = (&ran.record, ran.ledger.window(ran.span));
    let mut figures = ProofFigures::new("closed loop, one session");
    counts(&mut figures, &ran);
    for (class, name) in [
        (ClassId::SELECT, "select"),
        (ClassId::LOOKUP, "lookup"),
        (ClassId::SCAN, "scan"),
        (ClassId::UPDATE, "update"),
        (ClassId::COMMIT, "commit"),
    ] {
        let figure = format!("{name} service time");
        let scripted = Distribution::of(&window.class(class).service_ns);
        figures.latency(&figure, &scripted, stats(record, name).map(|stats| &stats.service_us));
    }
    let all = window.all();
    let scripted = Distribution::of(&all.service_ns);
    figures.latency("all response time", &scripted, stats(record, "all").map(|stats| &stats.response_us));
    let busy_ns: u64 = all.service_ns.iter().map(|(ns, count)| ns * count).sum();
    let busy_ns = busy_ns - ran.ledger.before_ns(ran.span);
    figures.number(
        "time in operations",
        "s",
        Some(busy_ns as f64 / 1e9),
        record.window.as_ref().map(|window| window.busy_s),
    );
    Ok(figures.all)
}

/// Four sessions on the machine's clock: nothing is lost or counted twice at the window boundaries.
fn many_sessions() -> Result<Vec<ProofFigure>, TargetError> {
    let scene = Scene::new()
        .set("run.sessions_per_schema=4")
        .set("workload.update_pct=30")
        .set("workload.lookup_pct=20")
        .set("workload.scan_pct=5")
        .set("data.scan_scale=100 blocks")
        .set("observe.interval=200ms");
    let ran = scene.run()?;
    let mut figures = ProofFigures::new("closed loop, four sessions");
    counts(&mut figures, &ran);
    Ok(figures.all)
}

/// One session, arrivals at a rate, and a stall of one second in one of 5,000 operations.
fn open_loop() -> Result<Vec<ProofFigure>, TargetError> {
    let served = |number: u64| match number % STALL_EVERY {
        0 => SERVED_NS.1,
        _ => SERVED_NS.0,
    };
    let scene = Scene::new()
        .scripted_time()
        .set("run.ops_per_session=20000")
        .set("workload.rate=1000/s")
        .set("workload.arrivals=constant")
        .set("observe.interval=1h")
        .script(move |_, number, _| Act::Take(served(number + 1)));
    let ran = scene.run()?;
    let (record, window) = (&ran.record, ran.ledger.window(ran.span));
    let mut figures = ProofFigures::new("open loop with stalls");
    counts(&mut figures, &ran);
    let inside = ran.ledger.numbers(ran.span).get(&0).cloned().unwrap_or_default();
    let mut response = Distribution::default();
    let (mut free_ns, mut late_ns_max) = (0, 0);
    // The queue of one server, from the first arrival on. An operation begins when it is due or when the one
    // before has ended, whichever is later.
    for number in 0..inside.end {
        let due_ns = number * GAP_NS;
        let began_ns = free_ns.max(due_ns);
        free_ns = began_ns + served(number + 1);
        if inside.contains(&number) {
            response.add(free_ns - due_ns);
            late_ns_max = late_ns_max.max(began_ns - due_ns);
        }
    }
    let service = Distribution::of(&window.class(ClassId::SELECT).service_ns);
    let select = stats(record, "select");
    figures.latency("service time", &service, select.map(|stats| &stats.service_us));
    figures.latency("response time", &response, select.map(|stats| &stats.response_us));
    figures.number(
        "latest start",
        "µs",
        Some(late_ns_max as f64 / 1_000.0),
        record.window.as_ref().and_then(|window| window.late_us_max),
    );
    // By construction, the stall affects a fifth of all response times but only 1 of 5,000 service times.
    let is_stalled = |us: Option<f64>| us.map(|us| u64::from(us > SERVED_NS.0 as f64 / 100.0));
    figures.count("stall in service p99", 0, is_stalled(select.and_then(|stats| stats.service_us.p99)));
    figures.count("stall in response p99", 1, is_stalled(select.and_then(|stats| stats.response_us.p99)));
    Ok(figures.all)
}

/// Two sessions with failures that are retried and connections that are lost.
fn errors() -> Result<Vec<ProofFigure>, TargetError> {
    let fail = |class, code: &str| {
        Act::Fail(OpError { class, code: code.into(), message: "as the script says".into() })
    };
    let scene = Scene::new().set("run.sessions_per_schema=2").set("workload.update_pct=50").script(
        move |session, number, _| match number % 100 {
            33 | 66 => fail(ErrorClass::Retryable, "40001"),
            99 if session == 1 => fail(ErrorClass::Connection, "io"),
            _ => Act::Take(0),
        },
    );
    let ran = scene.run()?;
    let record = &ran.record;
    let mut figures = ProofFigures::new("errors");
    counts(&mut figures, &ran);
    let life = ran.ledger.life();
    for ((class, code), &scripted) in &life.errors {
        let tally = record.errors.iter().find(|tally| tally.class == class.name() && tally.code == *code);
        figures.count(
            format!("{} errors {code}, whole run", class.name()),
            scripted,
            tally.map(|tally| tally.count),
        );
    }
    let reconnects = record.errors.iter().map(|tally| tally.reconnects).sum();
    figures.count("reconnects", life.reconnects, Some(reconnects));
    Ok(figures.all)
}

/// Operations in slices inside the database.
fn server_drive() -> Result<Vec<ProofFigure>, TargetError> {
    let scene = Scene::new()
        .set("run.sessions_per_schema=2")
        .set("workload.update_pct=30")
        .set("workload.lookup_pct=20")
        .set("workload.drive=server");
    let ran = scene.run()?;
    let (record, window) = (&ran.record, ran.ledger.window(ran.span));
    let mut figures = ProofFigures::new("server drive, two sessions");
    counts(&mut figures, &ran);
    let slices = window.class(ClassId::SLICE).count;
    figures.count("slices", slices, stats(record, "slice").map(|stats| stats.count));
    Ok(figures.all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::SceneRun;

    #[test]
    fn recorded_values_match_scripted_values() {
        let figures = window().unwrap();
        let wrong: Vec<_> = figures.iter().filter(|figure| !figure.proved()).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
        let scenes: std::collections::BTreeSet<&str> =
            figures.iter().map(|figure| figure.scene.as_str()).collect();
        assert_eq!(scenes.len(), 5 + stalls::SCENES);
        assert!(figures.iter().all(|figure| figure.scripted.is_some()));
    }

    #[test]
    fn off_by_one_record_is_not_proved() {
        // On a clock that only the operations move, the machine's other load has no part in it.
        let scene = Scene::new()
            .scripted_time()
            .set("run.ops_per_session=2000")
            .set("observe.interval=1h")
            .set("workload.update_pct=50")
            .script(|_, number, _| Act::Take(100_000 + 2 * (number % 5_000)));
        let mut ran = scene.run().unwrap();
        let unproved = |ran: &SceneRun| {
            let mut figures = ProofFigures::new("test");
            counts(&mut figures, ran);
            figures
                .all
                .into_iter()
                .filter(|figure| !figure.proved())
                .map(|figure| figure.name)
                .collect::<Vec<_>>()
        };
        assert!(unproved(&ran).is_empty(), "{:?}", unproved(&ran));
        ran.record.ops.get_mut("update").unwrap().count += 1;
        assert_eq!(unproved(&ran), ["update operations"]);
        ran.record.ops.remove("select");
        assert_eq!(unproved(&ran).len(), 4);
        let counted = ran.record.window.as_mut().unwrap().counted.as_mut().unwrap();
        counted.commits += 1;
        assert!(unproved(&ran).contains(&"counter commits".to_owned()));
    }
}
