//! The window's proof: scenes on a scripted database, every recorded figure held against the scripted one.
//!
//! The scripted database keeps an account of its own of what its sessions did between the edges of the window. Nothing of
//! what drives, times, counts or records touches that account, so where the two agree to the unit, operations at the
//! window's ends were neither lost nor counted twice, and percentiles are those of the operations that were done.

use dyno_engine::{ErrorClass, Op, OpError, TargetError};
use dyno_record::record::Counted;
use dyno_record::{Counter, OpClass, OpStats, RunRecord, Status};

use super::distribution::Distribution;
use super::figure::{Figure, Figures};
use super::scene::{Ran, Scene};
use super::stalls;
use crate::scripted::{Account, Act, REDO_BYTES_PER_ROW};

/// Nanoseconds between two arrivals of the open loop.
const GAP_NS: u64 = 1_000_000;
/// How long an operation of the open loop takes, and one that stalls.
const SERVED_NS: (u64, u64) = (10_000, 1_000_000_000);
/// One operation in so many stalls.
const STALL_EVERY: u64 = 5_000;

/// Runs every scene.
///
/// # Errors
/// A run could not be started: the machine gives no threads.
pub fn window() -> Result<Vec<Figure>, TargetError> {
    let mut figures = closed_loop()?;
    figures.extend(many_sessions()?);
    figures.extend(open_loop()?);
    figures.extend(errors()?);
    figures.extend(server_drive()?);
    figures.extend(stalls::stalls()?);
    Ok(figures)
}

/// One session, scripted time: all classes, every duration known.
fn closed_loop() -> Result<Vec<Figure>, TargetError> {
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
                Op::Secondary { .. } | Op::Insert { .. } | Op::Delete { .. } => 700,
                Op::Lookup { .. } => 500 + number % 400,
                Op::Select { .. } => 1_000 + number % 1_000,
                Op::Scan => 40_000 + number % 3_000,
                // An even number: half of it is the commit.
                Op::Update { .. } => 100_000 + 2 * (number % 5_000),
            })
        });
    let ran = scene.run()?;
    let (record, window) = (&ran.record, ran.ledger.window(ran.span));
    let mut figures = Figures::new("closed loop, one session");
    counts(&mut figures, &ran);
    for class in [OpClass::Select, OpClass::Lookup, OpClass::Scan, OpClass::Update, OpClass::Commit] {
        let name = format!("{} service time", class.name());
        let scripted = Distribution::of(&window.class(class).service_ns);
        figures.latency(&name, &scripted, stats(record, class.name()).map(|stats| &stats.service_us));
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

/// Four sessions on the machine's clock: nothing is lost or counted twice at the window's ends.
fn many_sessions() -> Result<Vec<Figure>, TargetError> {
    let scene = Scene::new()
        .set("run.sessions_per_schema=4")
        .set("workload.update_pct=30")
        .set("workload.lookup_pct=20")
        .set("workload.scan_pct=5")
        .set("data.scan_scale=100 blocks")
        .set("observe.interval=200ms");
    let ran = scene.run()?;
    let mut figures = Figures::new("closed loop, four sessions");
    counts(&mut figures, &ran);
    Ok(figures.all)
}

/// One session, arrivals at a rate, and a whole second's stall in one operation of 5,000.
fn open_loop() -> Result<Vec<Figure>, TargetError> {
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
    let mut figures = Figures::new("open loop with stalls");
    counts(&mut figures, &ran);
    let inside = ran.ledger.numbers(ran.span).get(&0).cloned().unwrap_or_default();
    let mut response = Distribution::default();
    let (mut free_ns, mut late_ns_max) = (0, 0);
    // The queue of one server, from the first arrival on: an operation begins when it is due or when the one before has
    // ended, whichever is later.
    for number in 0..inside.end {
        let due_ns = number * GAP_NS;
        let began_ns = free_ns.max(due_ns);
        free_ns = began_ns + served(number + 1);
        if inside.contains(&number) {
            response.add(free_ns - due_ns);
            late_ns_max = late_ns_max.max(began_ns - due_ns);
        }
    }
    let service = Distribution::of(&window.class(OpClass::Select).service_ns);
    let select = stats(record, "select");
    figures.latency("service time", &service, select.map(|stats| &stats.service_us));
    figures.latency("response time", &response, select.map(|stats| &stats.response_us));
    figures.number(
        "latest start",
        "µs",
        Some(late_ns_max as f64 / 1_000.0),
        record.window.as_ref().and_then(|window| window.late_us_max),
    );
    // By construction of the scene the stall is in a fifth of all response times and in none but 1 of 5,000 service times.
    let is_stalled = |us: Option<f64>| us.map(|us| u64::from(us > SERVED_NS.0 as f64 / 100.0));
    figures.count("stall in service p99", 0, is_stalled(select.and_then(|stats| stats.service_us.p99)));
    figures.count("stall in response p99", 1, is_stalled(select.and_then(|stats| stats.response_us.p99)));
    Ok(figures.all)
}

/// Two sessions with failures that are retried and connections that are lost.
fn errors() -> Result<Vec<Figure>, TargetError> {
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
    let mut figures = Figures::new("errors");
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
    figures.count("connections opened anew", life.reconnects, Some(reconnects));
    Ok(figures.all)
}

/// Operations in slices inside the database.
fn server_drive() -> Result<Vec<Figure>, TargetError> {
    let scene = Scene::new()
        .set("run.sessions_per_schema=2")
        .set("workload.update_pct=30")
        .set("workload.lookup_pct=20")
        .set("workload.drive=server");
    let ran = scene.run()?;
    let (record, window) = (&ran.record, ran.ledger.window(ran.span));
    let mut figures = Figures::new("server drive, two sessions");
    counts(&mut figures, &ran);
    let slices = window.class(OpClass::Slice).count;
    figures.count("slices", slices, stats(record, "slice").map(|stats| stats.count));
    Ok(figures.all)
}

fn stats<'a>(record: &'a RunRecord, class: &str) -> Option<&'a OpStats> {
    record.ops.get(class)
}

/// Counts, rows, errors, counters and sums that hold in every scene.
pub(super) fn counts(figures: &mut Figures, ran: &Ran) {
    let Ran { record, ledger, span, .. } = ran;
    let (window, life) = (ledger.window(*span), ledger.life());
    figures.count("run valid", 1, Some(u64::from(record.status == Status::Valid)));
    for (class, scripted) in &window.classes {
        let recorded = stats(record, class.name());
        let name = class.name();
        if *class != OpClass::Slice {
            figures.count(format!("{name} operations"), scripted.count, recorded.map(|stats| stats.count));
        }
        if !matches!(class, OpClass::Commit | OpClass::Slice) {
            figures.count(format!("{name} rows"), scripted.rows, recorded.map(|stats| stats.rows));
            figures.count(format!("{name} errors"), scripted.errors, recorded.map(|stats| stats.errors));
        }
    }
    let all = stats(record, "all");
    figures.count("all operations", window.all().count, all.map(|stats| stats.count));
    let seconds = record.window.as_ref().map(|window| window.work_seconds());
    let by_rate = all.zip(seconds).map(|(stats, seconds)| stats.rate_per_s * seconds + stats.before);
    figures.number("rate × window", "operations", Some(window.all().count as f64), by_rate);
    let points = &record.series.points;
    figures.count("series, operations", window.all().count, Some(points.iter().map(|p| p.ops).sum()));
    figures.count("series, errors", window.all().errors, Some(points.iter().map(|p| p.errors).sum()));
    between(figures, record);
    let whole = record.whole.clone().unwrap_or_default();
    figures.count("whole run, operations", operations(&life), Some(whole.ops.values().sum()));
    let updated = life.class(OpClass::Update);
    figures.count("whole run, rows updated", updated.rows, Some(whole.rows_updated));
    figures.count("whole run, rows read", life.all().rows - updated.rows, Some(whole.rows_read));
    figures.count("whole run, commits", life.class(OpClass::Commit).count, Some(whole.commits));
    figures.count("whole run, errors", life.all().errors, Some(whole.errors));
    let scripted = [
        (Counter::LogicalReads, life.all().rows),
        (Counter::Commits, life.class(OpClass::Commit).count),
        (Counter::RowsWritten, updated.rows),
        (Counter::RedoBytes, updated.rows * REDO_BYTES_PER_ROW),
    ];
    for (counter, scripted) in scripted {
        figures.count(
            format!("whole run, counter {}", counter.name()),
            scripted,
            moved(&whole.counters, counter),
        );
    }
}

/// The database's own counters between the two snapshots, against what the client says that these hold.
fn between(figures: &mut Figures, record: &RunRecord) {
    let window = record.window.clone().unwrap_or_default();
    let counted = window.counted.unwrap_or_default();
    let (fewer, more) = window.unsure.unwrap_or_default();
    let held = |of: &Counted| {
        [
            (Counter::LogicalReads, of.rows()),
            (Counter::Commits, of.commits),
            (Counter::RowsWritten, of.rows_updated),
            (Counter::RedoBytes, of.rows_updated * REDO_BYTES_PER_ROW),
        ]
    };
    for (((counter, counted), (_, fewer)), (_, more)) in
        held(&counted).into_iter().zip(held(&fewer)).zip(held(&more))
    {
        let moved = moved(&record.counters, counter);
        // Where the client says that it cannot tell, the database's own figure must lie within what it says.
        let bound = moved.map(|moved| moved.clamp(counted.saturating_sub(fewer), counted + more));
        figures.number(
            format!("counter {}", counter.name()),
            "",
            moved.map(|moved| moved as f64),
            bound.map(|b| b as f64),
        );
    }
}

fn moved(counters: &dyno_record::Counters, counter: Counter) -> Option<u64> {
    counters.get(counter).ok().and_then(|delta| u64::try_from(delta).ok())
}

/// Operations and slices of an account; commits are parts of updates.
fn operations(account: &Account) -> u64 {
    account.all().count + account.class(OpClass::Slice).count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_recorded_figure_is_the_scripted_one() {
        let figures = window().unwrap();
        let wrong: Vec<_> = figures.iter().filter(|figure| !figure.proved()).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
        let scenes: std::collections::BTreeSet<&str> =
            figures.iter().map(|figure| figure.scene.as_str()).collect();
        assert_eq!(scenes.len(), 5 + stalls::SCENES);
        assert!(figures.iter().all(|figure| figure.scripted.is_some()));
    }

    #[test]
    fn a_record_that_is_off_by_one_is_not_proved() {
        let mut ran = Scene::new().set("workload.update_pct=50").run().unwrap();
        let unproved = |ran: &Ran| {
            let mut figures = Figures::new("test");
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
