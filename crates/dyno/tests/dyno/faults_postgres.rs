//! PostgreSQL servers that die, lose data, cut connections and do not answer, in every phase of load and run.

use crate::common::json::ExpectJson;
use crate::common::proxy::Proxy;
use crate::common::{TestEnv, find_check, wait_until};
use dyno_testbed::{Postgres, Version};
use serde_json::Value;

const DATA: [&str; 4] = ["--set", "data.scale=500 blocks", "--set", "data.scan_scale=10 blocks"];

/// Two sessions with updates, no warm-up.
const RUN: [&str; 9] = [
    "run",
    "--set",
    "run.sessions_per_schema=2",
    "--set",
    "workload.update_pct=20",
    "--set",
    "workload.work_unit=8",
    "--set",
    "run.warmup=0s",
];

/// A window of a second with few operations.
const SHORT: [&str; 6] =
    ["--set", "run.time=1s", "--set", "observe.interval=1s", "--set", "workload.rate=200/s"];

/// A window of at least three seconds, with snapshots only at its two ends.
const NO_SNAPSHOT: [&str; 6] =
    ["--set", "run.ops_per_session=1500", "--set", "workload.rate=1000/s", "--set", "observe.interval=10m"];

fn args<'a>(head: &[&'a str], url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [head, &DATA, &["--target", url], more].concat()
}

fn newest_postgres() -> Option<Version> {
    Postgres::available().pop()
}

fn start_loaded_server(version: &Version, settings: &[(&str, &str)]) -> (Postgres, TestEnv) {
    let (server, desk) = (Postgres::start(version, settings), TestEnv::new());
    let load = desk.dyno(&args(&["load"], &server.url(), &[]));
    assert_eq!(load.code, 0, "{load:#?}");
    (server, desk)
}

fn last_record(desk: &TestEnv) -> Value {
    desk.json(&["show", "last"]).1
}

fn reasons(record: &Value) -> String {
    record["reasons"].to_string()
}

/// Asserts that the next run on this data is valid: nothing was lost, and nothing delays it.
fn assert_next_run_valid(desk: &TestEnv, url: &str) {
    let next = desk.dyno(&args(&RUN, url, &SHORT));
    assert_eq!(next.code, 0, "{next:#?}");
}

/// Repeats a query until it returns true.
fn wait_until_true(server: &Postgres, sql: &str) {
    wait_until(sql, || server.psql(sql) == "t");
}

#[test]
fn load_resumes_after_server_kill() {
    for version in Postgres::available() {
        let (mut server, desk) = (Postgres::start(&version, &[]), TestEnv::new());
        let url = server.url();
        let big = ["load", "--target", &url, "--set", "data.scale=300M", "--set", "data.load_parallel=1"];
        let mut load = desk.start(&big);
        load.wait_for_line("rows …");
        // A load's commits do not wait for the log: only logged ones survive.
        wait_until_true(&server, "SELECT count(*) > 0 FROM dyno.chunks");
        let written = server.psql("SELECT pg_current_wal_insert_lsn()");
        wait_until_true(&server, &format!("SELECT pg_current_wal_flush_lsn() >= '{written}'"));
        server.kill9();
        let output = load.wait();
        assert_eq!(output.code, 3, "{output:#?}");
        assert!(output.err.contains("error: "), "{}", output.err);
        assert!(!output.err.contains("panicked"), "{}", output.err);
        server.restart();
        let run = desk.dyno(&["run", "--target", &url, "--set", "data.scale=300M"]);
        assert!(run.code == 3, "{run:#?}");
        assert!(run.err.contains("`dyno load` resumes it"), "{run:#?}");
        let again = desk.dyno(&big);
        assert_eq!(again.code, 0, "{again:#?}");
        assert!(again.out.contains("1.000"), "{}", again.out);
    }
}

#[test]
fn server_killed_in_warm_up_fails_run_without_window() {
    for version in Postgres::available() {
        let (mut server, desk) = start_loaded_server(&version, &[]);
        let url = server.url();
        let mut run = desk.start(&args(&RUN, &url, &[&SHORT[..], &["--set", "run.warmup=1s"]].concat()));
        run.wait_for_line("warm-up");
        server.kill9();
        let output = run.wait();
        assert_eq!(output.code, 3, "{output:#?}");
        let record = last_record(&desk);
        assert_eq!((record["status"].as_str(), record["window"].is_null()), (Some("failed"), true));
        assert!(reasons(&record).contains("counters could not be read"), "{}", reasons(&record));
        server.restart();
        assert_next_run_valid(&desk, &url);
    }
}

/// If a session is late at the window's start, as on a busy machine, the next reading is again that of the
/// start: the case is then repeated.
const TRIES: usize = 5;

#[test]
fn server_killed_at_end_snapshot_fails_run_but_keeps_data() {
    for version in Postgres::available() {
        let (mut server, desk) = start_loaded_server(&version, &[]);
        let mut record = Value::Null;
        for _ in 0..TRIES {
            let proxy = Proxy::start(server.port());
            let url = proxy.url();
            let mut run = desk.start(&args(&RUN, &url, &NO_SNAPSHOT));
            run.wait_for_line("window");
            proxy.hold("dyno observer");
            proxy.wait_until_waiting("dyno observer");
            server.kill9();
            proxy.release("dyno observer");
            let output = run.wait();
            assert!(matches!(output.code, 1 | 3), "{output:#?}");
            record = last_record(&desk);
            server.restart();
            if reasons(&record).contains("end snapshot") {
                break;
            }
        }
        assert!(reasons(&record).contains("end snapshot"), "{}", reasons(&record));
        assert!(record["ops"]["all"]["count"].count() > 0, "what was measured is kept");
        assert_next_run_valid(&desk, &server.url());
    }
}

#[test]
fn server_restart_during_reconnect_makes_run_invalid() {
    for version in Postgres::available() {
        let (mut server, desk) = start_loaded_server(&version, &[]);
        let url = server.url();
        let mut run = desk.start(&args(&RUN, &url, &NO_SNAPSHOT));
        run.wait_for_line("window");
        server.kill9();
        server.restart();
        let output = run.wait();
        assert!(matches!(output.code, 1 | 3), "{output:#?}");
        let record = last_record(&desk);
        assert_ne!(record["status"], "valid");
        // On a machine without a free processor, the start's counters may still be in progress.
        let due = ["end snapshot", "the counters could not be read"];
        assert!(due.iter().any(|why| reasons(&record).contains(why)), "{}", reasons(&record));
        let errors = record["errors"].items();
        assert!(errors.iter().any(|error| error["class"] == "connection"), "{errors:#?}");
        assert_next_run_valid(&desk, &url);
    }
}

#[test]
fn statistics_reset_inside_the_window_make_the_run_invalid() {
    for version in Postgres::available() {
        let (server, desk) = start_loaded_server(&version, &[]);
        let url = server.url();
        let mut run = desk.start(&args(&RUN, &url, &[&SHORT[..], &["--set", "run.time=3s"]].concat()));
        run.wait_for_line("window");
        server.psql("SELECT pg_stat_reset()");
        let output = run.wait();
        assert_eq!(output.code, 1, "{output:#?}");
        let record = last_record(&desk);
        assert_eq!(record["status"], "invalid");
        assert!(reasons(&record).contains("reset"), "{}", reasons(&record));
        assert_next_run_valid(&desk, &url);
    }
}

#[test]
fn terminated_sessions_reconnect_and_are_counted() {
    for version in Postgres::available() {
        let (server, desk) = start_loaded_server(&version, &[]);
        let url = server.url();
        let four =
            ["--set", "run.sessions_per_schema=4", "--set", "run.time=2s", "--set", "observe.interval=1s"];
        let mut run = desk.start(&args(&RUN, &url, &four));
        run.wait_for_line("window");
        let cut = server.psql(
            "SELECT count(*) FILTER (WHERE pg_terminate_backend(pid)) FROM pg_stat_activity
             WHERE application_name IN ('dyno session 1', 'dyno session 3')",
        );
        assert_eq!(cut, "2");
        let output = run.wait();
        let record = last_record(&desk);
        assert_eq!(output.code, 0, "{} {:#}", reasons(&record), record["audit"]);
        let errors = record["errors"].items();
        let reconnects: u64 = errors.iter().map(|error| error["reconnects"].count()).sum();
        assert_eq!(reconnects, 2, "{errors:#?}");
        assert_eq!(find_check(&record, "errors")["status"], "warn", "{}", find_check(&record, "errors"));
        assert_eq!(find_check(&record, "sessions")["status"], "pass");
    }
}

#[test]
fn hanging_session_is_aborted_and_reported() {
    let Some(version) = newest_postgres() else { return };
    let (server, desk) = start_loaded_server(&version, &[]);
    let proxy = Proxy::start(server.port());
    let url = proxy.url();
    let mut run = desk.start(&args(&RUN, &url, &[&SHORT[..], &["--set", "run.drain=200ms"]].concat()));
    run.wait_for_line("window");
    proxy.hold("dyno session 1");
    let output = run.wait();
    assert_eq!(output.code, 1, "{output:#?}");
    let record = last_record(&desk);
    assert_eq!(record["status"], "invalid");
    assert!(reasons(&record).contains("aborted: 1"), "{}", reasons(&record));
}

#[test]
fn unresponsive_server_is_abandoned_at_connect_timeout() {
    let desk = TestEnv::new();
    // The kernel accepts connections for it, and nobody reads.
    let deaf = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://postgres@127.0.0.1:{}/postgres", deaf.local_addr().unwrap().port());
    for command in ["check", "load", "run"] {
        let output = desk.dyno(&args(&[command], &url, &["--set", "target.connect_timeout=300ms"]));
        assert_eq!(output.code, 3, "{output:#?}");
        assert!(output.err.contains("0.3 s (target.connect_timeout)"), "{}", output.err);
    }
}

#[test]
fn session_connect_timeout_fails_run_and_names_session() {
    let Some(version) = newest_postgres() else { return };
    let (server, desk) = start_loaded_server(&version, &[]);
    let proxy = Proxy::start(server.port());
    proxy.hold("dyno session 1");
    let url = proxy.url();
    let output = desk.dyno(&args(&RUN, &url, &["--set", "target.connect_timeout=500ms"]));
    assert_eq!(output.code, 3, "{output:#?}");
    let why = reasons(&last_record(&desk));
    assert!(why.contains("session 1 cannot start"), "{why}");
    assert!(why.contains("target.connect_timeout"), "{why}");
}
