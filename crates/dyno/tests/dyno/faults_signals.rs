//! Ctrl-C, SIGTERM, kill -9 and SIGSTOP in every phase of run and load.

use crate::common::json::ExpectJson;
use crate::common::proxy::Proxy;
use crate::common::{Running, TestEnv, find_check, low_load_args, short_run_args, wait_until};
use dyno_testbed::Postgres;

const DATA: [&str; 4] = ["--set", "data.scale=500 blocks", "--set", "data.scan_scale=10 blocks"];

/// Large enough that a load is still in progress when it is interrupted.
const BIG: [&str; 4] = ["--set", "data.scale=1G", "--set", "data.load_parallel=1"];

fn args<'a>(head: &[&'a str], url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [head, &DATA, &["--target", url], more].concat()
}

/// A loaded server behind a proxy, and a test environment.
struct SignalBench {
    server: Postgres,
    proxy: Proxy,
    desk: TestEnv,
}

impl SignalBench {
    fn set_up() -> Option<Self> {
        let server = Postgres::start(&Postgres::available().pop()?, &[("fsync", "off")]);
        let (proxy, desk) = (Proxy::start(server.port()), TestEnv::new());
        let load = desk.dyno(&args(&["load"], &server.url(), &[]));
        assert_eq!(load.code, 0, "{load:#?}");
        Some(Self { server, proxy, desk })
    }

    /// A run of two sessions that stays in `phase` until the test releases it.
    fn start_in_phase(&self, phase: &str) -> Running {
        // The end of the window waits for a hanging session as long as the drain allows.
        let drain = if phase == "drain" { "run.drain=20s" } else { "run.drain=10m" };
        // Only the phase matters: sessions that work now and then leave the processors to others.
        let two =
            ["run", "--set", "run.sessions_per_schema=2", "--set", drain, "--set", "workload.rate=100/s"];
        let start = |more: &[&str]| self.desk.start(&args(&two, &self.proxy.url(), more));
        let short = ["--set", "run.warmup=0s", "--set", "run.time=1s", "--set", "observe.interval=1s"];
        let hung = "dyno session 1";
        self.proxy.release(hung);
        match phase {
            "connect" => {
                self.proxy.hold(hung);
                let mut run = start(&["--set", "target.connect_timeout=10m"]);
                run.wait_for_line("connecting: 1 of 2");
                run
            }
            "warm-up" => {
                let mut run = start(&["--set", "run.warmup=10m"]);
                run.wait_for_line("warm-up");
                run
            }
            "window" => {
                let mut run = start(&["--set", "run.warmup=0s", "--set", "run.time=10m"]);
                run.wait_for_line("ops/s");
                run
            }
            "drain" => {
                let mut run = start(&short);
                run.wait_for_line("window");
                self.proxy.hold(hung);
                run.wait_for_line("draining");
                run
            }
            other => panic!("there is no phase {other}"),
        }
    }

    fn assert_next_run_valid(&self) {
        let next = self.desk.dyno(&args(&low_load_args(&["run"]), &self.server.url(), &[]));
        assert_eq!(next.code, 0, "{next:#?}");
    }
}

const PHASES: [&str; 4] = ["connect", "warm-up", "window", "drain"];

#[test]
fn stop_signal_in_any_phase_stores_the_measured_results() {
    let Some(bench) = SignalBench::set_up() else { return };
    for (phase, signal) in PHASES.iter().zip(["INT", "TERM"].iter().cycle()) {
        let run = bench.start_in_phase(phase);
        run.signal(signal);
        let output = run.wait();
        assert_eq!(output.code, 130, "{signal} in {phase}: {output:#?}");
        let (_, record) = bench.desk.json(&["show", "last"]);
        assert_eq!(record["status"], "interrupted", "{signal} in {phase}");
        let measured = record["ops"]["all"]["count"].as_u64().unwrap_or(0);
        assert_eq!(measured > 0, matches!(*phase, "window" | "drain"), "{signal} in {phase}: {measured}");
    }
    bench.assert_next_run_valid();
}

#[test]
fn second_stop_signal_ends_run_at_once() {
    let Some(bench) = SignalBench::set_up() else { return };
    let mut run = bench.start_in_phase("window");
    // The drain would take ten minutes.
    bench.proxy.hold("dyno session 1");
    bench.proxy.wait_until_waiting("dyno session 1");
    run.signal("INT");
    run.wait_for_line("draining");
    // A signal that arrives together with the first does not count as a second one.
    wait_until("it has ended", || {
        run.signal("TERM");
        run.has_ended()
    });
    let output = run.wait();
    assert_eq!(output.code, 130, "{output:#?}");
    assert!(bench.desk.dyno(&["list"]).out.contains("interrupted"));
    bench.assert_next_run_valid();
}

#[test]
fn two_signals_at_once_store_the_measured_results() {
    let Some(bench) = SignalBench::set_up() else { return };
    let run = bench.start_in_phase("window");
    // As `timeout` does it, but with different signals, since two equal ones may arrive as one.
    run.signal_twice(["TERM", "INT"]);
    let output = run.wait();
    assert_eq!(output.code, 130, "{output:#?}");
    let (_, record) = bench.desk.json(&["show", "last"]);
    assert_eq!(record["status"], "interrupted", "{output:#?}");
    assert!(record["ops"]["all"]["count"].as_u64().unwrap_or(0) > 0, "{output:#?}");
}

#[test]
fn run_killed_in_any_phase_is_listed_as_interrupted() {
    let Some(bench) = SignalBench::set_up() else { return };
    for (number, phase) in PHASES.iter().enumerate() {
        let run = bench.start_in_phase(phase);
        run.signal("KILL");
        run.wait();
        let list = bench.desk.dyno(&["list"]);
        assert_eq!(list.out.matches("interrupted").count(), number + 1, "killed in {phase}: {}", list.out);
    }
    bench.assert_next_run_valid();
}

/// A load of [`BIG`] that has already written rows.
fn start_partial_load(desk: &TestEnv, url: &str, rows_are_there: &dyn Fn() -> bool) -> Running {
    let mut load = desk.start(&[&["load", "--target", url][..], &BIG].concat());
    load.wait_for_line("rows …");
    wait_until("the first rows", rows_are_there);
    load
}

/// Interrupts a load with each signal, and checks that it resumes to completion.
fn assert_broken_loads_resume(desk: &TestEnv, url: &str, rows_are_there: &dyn Fn() -> bool) {
    for (signal, code) in [("INT", 130), ("TERM", 130), ("KILL", -1)] {
        let load = start_partial_load(desk, url, rows_are_there);
        load.signal(signal);
        let output = load.wait();
        assert_eq!(output.code, code, "{signal}: {output:#?}");
        let run = desk.dyno(&[&["run", "--target", url][..], &BIG].concat());
        assert!(run.code == 3, "{signal}: {run:#?}");
        assert!(run.err.contains("`dyno load` resumes it"), "{signal}: {run:#?}");
    }
    let drop = desk.dyno(&["drop", "--yes", "--target", url]);
    assert_eq!(drop.code, 0, "{drop:#?}");
    let load = desk.dyno(&args(&["load"], url, &[]));
    assert_eq!(load.code, 0, "{load:#?}");
}

#[test]
fn interrupted_postgres_load_is_recognized_by_next_command() {
    let Some(version) = Postgres::available().pop() else { return };
    let server = Postgres::start(&version, &[("fsync", "off")]);
    let has_rows = || server.psql("SELECT count(*) > 0 FROM dyno.chunks") == "t";
    assert_broken_loads_resume(&TestEnv::new(), &server.url(), &has_rows);
}

#[test]
fn interrupted_sqlite_load_is_recognized_by_next_command() {
    let desk = TestEnv::new();
    let file = desk.file("a.db");
    let url = format!("sqlite:{}", file.display());
    let has_rows = || {
        let open = rusqlite::Connection::open_with_flags(&file, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY);
        let sql = "SELECT sum(rows_loaded) > 0 FROM dyno_objects";
        open.and_then(|conn| conn.query_row(sql, [], |row| row.get(0))).unwrap_or(false)
    };
    assert_broken_loads_resume(&desk, &url, &has_rows);
}

#[test]
fn killed_load_resumes_to_complete_data() {
    let desk = TestEnv::new();
    let file = desk.file("a.db");
    let url = format!("sqlite:{}", file.display());
    let middle = ["load", "--target", &url, "--set", "data.scale=200M"];
    let mut load = desk.start(&middle);
    load.wait_for_line("rows …");
    load.signal("KILL");
    load.wait();
    let again = desk.dyno(&middle);
    assert_eq!(again.code, 0, "{again:#?}");
    assert!(again.out.contains("1.000"), "{}", again.out);
}

#[test]
fn suspended_run_shows_the_gap_and_has_no_result() {
    let Some(bench) = SignalBench::set_up() else { return };
    let long = ["--set", "run.warmup=0s", "--set", "run.time=5s", "--set", "observe.interval=500ms"];
    let mut run = bench.desk.start(&args(&["run"], &bench.server.url(), &long));
    run.wait_for_line("ops/s");
    run.signal("STOP");
    let end = bench.server.psql("SELECT clock_timestamp() + interval '3 s'");
    let is_over = format!("SELECT clock_timestamp() > '{end}'");
    wait_until("the pause", || bench.server.psql(&is_over) == "t");
    run.signal("CONT");
    let output = run.wait();
    assert_eq!(output.code, 1, "{output:#?}");
    let (_, record) = bench.desk.json(&["show", "last"]);
    assert_eq!(record["status"], "invalid");
    let stalls = find_check(&record, "stalls");
    assert_eq!(stalls["status"], "fail", "{stalls}");
    let gap_us = record["window"]["stall_us_max"].number();
    assert!(gap_us > 2_500_000.0, "{gap_us}");
    let points = record["series"]["points"].items();
    let empty = points.iter().filter(|point| point["ops"].as_u64() == Some(0)).count();
    assert!(empty >= 4, "the gap is in the series: {points:#?}");
}

#[test]
fn killed_soak_keeps_stored_intervals() {
    let desk = TestEnv::new();
    let mut soak = desk.start(&[
        "soak",
        "--target",
        "sqlite::memory:",
        "--time",
        "10m",
        "--set",
        "data.scale=100 blocks",
        "--set",
        "run.warmup=0s",
        "--set",
        "observe.interval=100ms",
    ]);
    soak.wait_for_line("ops/s");
    let repository = rusqlite::Connection::open(desk.file("runs.sqlite3")).unwrap();
    let stored_points = || -> u64 {
        repository
            .query_row("SELECT coalesce(sum(points), 0) FROM chunk", [], |row| row.get(0))
            .unwrap_or_default()
    };
    // Each line is an interval; the first are stored after about sixty.
    while stored_points() == 0 {
        soak.wait_for_line("ops/s");
    }
    soak.signal("KILL");
    let output = soak.wait();
    assert_ne!(output.code, 0);

    let id: String = repository.query_row("SELECT id FROM run", [], |row| row.get(0)).unwrap();
    let (code, record) = desk.json(&["show", &id]);
    assert_eq!((code, record["status"].as_str()), (0, Some("interrupted")), "{record:#}");
    let points = record["series"]["points"].items();
    assert_eq!(points.len() as u64, stored_points());
    assert!(points.iter().all(|point| point["ops"].count() > 0), "{points:?}");
    let reasons = record["reasons"].to_string();
    assert!(reasons.contains("its process ended before"), "{reasons}");
    let card = desk.dyno(&["show", &id]);
    assert!(card.out.contains("its process ended before"), "{card:#?}");

    // A completed run leaves only its record.
    let next_run =
        desk.dyno(&short_run_args(&["run", "--target", "sqlite::memory:", "--set", "data.scale=100 blocks"]));
    assert_eq!(next_run.code, 0, "{next_run:#?}");
    let left: u64 = repository.query_row("SELECT count(*) FROM draft", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 1, "that of the run that was killed");
}
