//! Outages that a run survives: servers that die and return inside the window, and cut connections.

use crate::common::json::ExpectJson;
use crate::common::proxy::Proxy;
use crate::common::{TestEnv, assert_fits_schema, assert_passes, find_check, wait_until};
use dyno_testbed::{MyProduct, MySql, Postgres};
use serde_json::Value;

/// Two sessions with updates whose outage is measured. The window is long enough for a restart on a busy
/// machine.
const RUN: [&str; 22] = [
    "--set",
    "data.scale=500 blocks",
    "--set",
    "data.scan_scale=50 blocks",
    "--set",
    "run.sessions_per_schema=2",
    "--set",
    "workload.update_pct=50",
    "--set",
    "workload.work_unit=8",
    "--set",
    "workload.rate=400/s",
    "--set",
    "run.warmup=0s",
    "--set",
    "run.time=12s",
    "--set",
    "run.on_lost=reconnect",
    "--set",
    "workload.arrivals=constant",
    "--set",
    "observe.waits=5/s",
];

/// A run on `url` that is audited, while `disturb` acts inside the window.
fn run(url: &str, interval: &str, disturb: impl FnOnce()) -> (TestEnv, Value) {
    let desk = TestEnv::new();
    let load = desk.dyno(&[&["load"], &RUN[..], &["--target", url]].concat());
    assert_eq!(load.code, 0, "{load:#?}");
    let mut running = desk.start(&[&["run"], &RUN[..], &["--target", url, "--set", interval]].concat());
    running.wait_for_line("window");
    disturb();
    let output = running.wait();
    let record = desk.json(&["show", "last"]).1;
    assert_eq!(output.code, 0, "{} {output:#?} {:#}", record["reasons"], record["audit"]);
    assert_eq!(record["status"], "valid");
    assert!(output.out.contains("outage: no session had an answer for"), "{output:#?}");
    (desk, record)
}

/// Checks the outage of a restarted server, and that the rest of the run is audited.
fn assert_outage_survived(record: &Value) {
    let outages = record["outages"].items();
    let restart = outages.last().unwrap();
    assert_eq!(restart["sessions"], 2, "{outages:#?}");
    let silence = &restart["silences"].items()[0];
    let at = |name: &str| silence[name].as_f64().unwrap_or_else(|| panic!("no {name} in {silence:#}"));
    let (last_s, first_s) = (at("last_answer_s"), at("first_answer_s"));
    assert!(last_s < first_s, "{silence:#}");
    assert!((at("length_s") - (first_s - last_s)).abs() < 1e-6, "{silence:#}");
    // A cut connection may be noticed before all sessions were disconnected.
    assert!(first_s <= restart["all_back_s"].number(), "{restart:#}");
    assert!(restart["session_s_max"].number() >= at("length_s"), "{restart:#}");
    assert!(restart["refused"].count() > 0, "{restart:#}");
    assert!(restart["failed"].fields().values().any(|failed| failed.as_u64() > Some(0)), "{restart:#}");
    for name in ["counters_epoch", "counters_monotone", "commits", "rows_updated", "logical_reads"] {
        let check = find_check(record, name);
        assert_eq!(check["status"], "skipped", "{check:#}");
        assert!(check["detail"].text().contains("restarted during an outage"), "{check:#}");
    }
    for name in ["work_unit", "mix", "series_sum", "sessions", "settings", "shape"] {
        assert_passes(record, name);
    }
    assert_fits_schema(record);
}

#[test]
fn postgres_restart_outage_is_measured_and_judged() {
    let Some(version) = Postgres::available().pop() else { return };
    let mut server = Postgres::start(&version, &[]);
    let proxy = Proxy::start(server.port());
    let (desk, record) = run(&proxy.url(), "observe.interval=500ms", || {
        let process =
            || server.psql("SELECT max(pid) FROM pg_stat_activity WHERE application_name = 'dyno session 1'");
        let before = process();
        assert_eq!(proxy.cut("dyno session 1"), 1);
        wait_until("the cut session to connect again", || !["", &before].contains(&process().as_str()));
        server.kill9();
        server.restart();
    });
    assert_outage_survived(&record);
    let shown = desk.dyno(&["show", "last"]);
    assert!(shown.out.contains("attempts to connect were refused"), "{shown:#?}");
    let page = desk.dyno(&["report", "last", "--output", "page.html"]);
    assert_eq!(page.code, 0, "{page:#?}");
}

#[test]
fn observer_outage_without_lost_session_is_reported() {
    let Some(version) = Postgres::available().pop() else { return };
    let server = Postgres::start(&version, &[]);
    server.psql("CREATE ROLE visitor SUPERUSER LOGIN");
    let desk = TestEnv::new();
    let url = server.url_of("visitor", "postgres");
    let load = desk.dyno(&[&["load"], &RUN[..], &["--target", &url]].concat());
    assert_eq!(load.code, 0, "{load:#?}");
    let interval = ["--target", &url, "--set", "observe.interval=500ms"];
    let mut running = desk.start(&[&["run"], &RUN[..], &interval].concat());
    running.wait_for_line("window");
    server.psql("ALTER ROLE visitor NOLOGIN");
    let refused = "not permitted to log in";
    let before = server.log().matches(refused).count();
    server.psql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'dyno observer'",
    );
    wait_until("the observer to be refused", || server.log().matches(refused).count() > before + 1);
    server.psql("ALTER ROLE visitor LOGIN");
    running.wait();
    let record = desk.json(&["show", "last"]).1;
    assert!(record["outages"].as_array().is_none_or(Vec::is_empty), "{:#}", record["outages"]);
    let unread = &record["window"]["unread"];
    assert!(unread["count"].as_u64() > Some(0), "{:#}", record["window"]);
    assert!(unread["reason"].text().contains(refused), "{unread:#}");
    let counters = find_check(&record, "counters_known");
    assert_eq!(counters["status"], "warn", "{counters:#}");
    assert!(counters["detail"].text().contains("could not be read"), "{counters:#}");
    assert_fits_schema(&record);
}

#[test]
fn mariadb_restart_outage_is_measured_and_judged() {
    let mut versions = MySql::available().into_iter();
    let Some(version) = versions.find(|version| version.product == MyProduct::MariaDb) else { return };
    let mut server = MySql::start(&version, &[]);
    // The counters are read only at the two ends of the window.
    let (_, record) = run(&server.url(), "observe.interval=12s", || {
        server.kill9();
        server.restart();
    });
    assert_outage_survived(&record);
}
