//! Networks that delay connections, answers, and the observer's readings.

use std::time::Duration;

use crate::common::json::ExpectJson;
use crate::common::proxy::Proxy;
use crate::common::{TestEnv, find_check};
use dyno_testbed::Postgres;
use serde_json::Value;

const SMALL: [&str; 4] = ["--set", "data.scale=500 blocks", "--set", "data.scan_scale=10 blocks"];

/// Two sessions, no warm-up, a window of two seconds.
const RUN: [&str; 9] = [
    "run",
    "--set",
    "run.sessions_per_schema=2",
    "--set",
    "run.warmup=0s",
    "--set",
    "run.time=2s",
    "--set",
    "workload.work_unit=8",
];

/// A loaded server behind a proxy, and a test environment.
fn behind_a_proxy() -> Option<(Postgres, Proxy, TestEnv)> {
    let server = Postgres::start(&Postgres::available().pop()?, &[("fsync", "off")]);
    let (proxy, desk) = (Proxy::start(server.port()), TestEnv::new());
    let load = desk.dyno(&[&["load", "--target", &server.url()][..], &SMALL].concat());
    assert_eq!(load.code, 0, "{load:#?}");
    Some((server, proxy, desk))
}

fn args<'a>(url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&RUN[..], &SMALL, &["--target", url], more].concat()
}

fn last_record(desk: &TestEnv) -> Value {
    desk.json(&["show", "last"]).1
}

#[test]
fn slow_connection_is_awaited_only_within_its_timeout() {
    let Some((_server, proxy, desk)) = behind_a_proxy() else { return };
    proxy.delay("dyno session 1", Duration::from_millis(300));
    let url = proxy.url();
    // The run only has to be in progress: at full speed others on the processors could disturb its window.
    let patient = ["--set", "target.connect_timeout=1m", "--set", "workload.rate=200/s"];
    let patient = desk.dyno(&args(&url, &patient));
    assert_eq!(patient.code, 0, "{patient:#?}");
    let record = last_record(&desk);
    assert!(record["gate"]["connect_s"].number() > 0.6, "each way: {}", record["gate"]);
    assert!(record["gate"]["skew_us_max"].number() < 300_000.0, "the gate waits for the slow one");
    // Every other connection must open within the limit, even on a busy machine.
    proxy.delay("dyno session 1", Duration::from_secs(30));
    let impatient = desk.dyno(&args(&url, &["--set", "target.connect_timeout=5s"]));
    assert_eq!(impatient.code, 3, "{impatient:#?}");
    let why = last_record(&desk)["reasons"].to_string();
    for part in ["session 1 cannot start", "the limit was 5 s (target.connect_timeout)", "hint: "] {
        assert!(why.contains(part), "{part}: {why}");
    }
}

#[test]
fn slow_network_answers_affect_only_latency() {
    let Some((_server, proxy, desk)) = behind_a_proxy() else { return };
    for session in ["dyno session 0", "dyno session 1"] {
        proxy.delay(session, Duration::from_millis(20));
    }
    let output = desk.dyno(&args(&proxy.url(), &[]));
    let record = last_record(&desk);
    assert_eq!(output.code, 0, "{output:#?}");
    let all = &record["ops"]["all"];
    // No answer can arrive before two delays have passed, so this holds on a busy machine.
    assert!(all["service_us"]["p50"].number() >= 40_000.0, "{all:#}");
    assert!(all["service_us"]["mean"].number() >= 40_000.0, "{all:#}");
    assert!(all["count"].number() <= 2.0 * (1.0 + record["window"]["work_s"].number() / 0.04));
    assert_eq!(find_check(&record, "littles_law")["status"], "pass");
    assert_eq!(find_check(&record, "work_unit")["status"], "pass");
}

/// A stop request does not wait for a database that does not answer.
#[test]
fn ctrl_c_works_while_counters_are_pending() {
    let Some((_server, proxy, desk)) = behind_a_proxy() else { return };
    let url = proxy.url();
    let mut run = desk.start(&args(&url, &["--set", "run.time=10m", "--set", "workload.rate=100/s"]));
    run.wait_for_line("ops/s");
    proxy.delay("dyno observer", Duration::from_secs(300));
    run.signal("INT");
    let output = run.wait();
    assert_eq!(output.code, 130, "{output:#?}");
    let record = last_record(&desk);
    assert_eq!(record["status"], "interrupted", "{}", record["reasons"]);
    assert!(record["ops"]["all"]["count"].count() > 0, "what was measured is kept");
}

/// A server process that reads counters may wait seconds for a processor while sessions continue.
#[test]
fn late_counter_read_neither_fails_run_nor_blames_others() {
    let Some((_server, proxy, desk)) = behind_a_proxy() else { return };
    let url = proxy.url();
    // The share counted late is equally large for any rate.
    let sets = ["--set", "run.warmup=1s", "--set", "workload.update_pct=20", "--set", "workload.rate=400/s"];
    let mut run = desk.start(&args(&url, &sets));
    run.wait_for_line("warm-up");
    proxy.delay("dyno observer", Duration::from_millis(1_300));
    let output = run.wait();
    let record = last_record(&desk);
    assert_eq!(output.code, 0, "{} {:#}", record["reasons"], record["audit"]);
    for end in 0..2 {
        assert!(record["window"]["snapshot_us"][end].number() >= 2_600_000.0, "{}", record["window"]);
    }
    let edges = find_check(&record, "edges");
    assert_eq!(edges["status"], "warn", "{edges}");
}
