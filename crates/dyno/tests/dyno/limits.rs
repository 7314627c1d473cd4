//! Platforms whose limit is known, because the kernel sets it: Dyno must find the limit, the knee and the waits by itself.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::common::throttle::Throttle;
use crate::common::{Desk, check};
use dyno_testbed::Postgres;
use serde_json::Value;

/// How far the kernel's own throttle and the ends of a short window may be from the limit, as a share of it.
const SLACK: f64 = 0.08;

/// Data that no cache here holds.
const DATA: [&str; 6] =
    ["--set", "data.scale=64M", "--set", "data.scan_scale=0 blocks", "--set", "data.block_size=8K"];

/// Runs over that data, sessions upwards.
fn sweep<'a>(url: &'a str, workload: &'a str) -> Vec<&'a str> {
    let head = ["sweep", "--target", url, "--json", "--set", "sweep.sessions=1,2,4,8", "--set", workload];
    let rest = ["--set", "run.warmup=1s", "--set", "run.time=3s", "--set", "sweep.order=up"];
    [&head[..], &DATA, &rest].concat()
}

fn load(url: &str) -> Vec<&str> {
    [&["load", "--target", url][..], &DATA].concat()
}

/// Single rows by key.
const LOOKUPS: &str = "workload.lookup_pct=100";

/// Runs `args` inside `throttle` and reads what it says as JSON.
fn inside(throttle: &Throttle, desk: &Desk, args: &[&str]) -> Value {
    let output = throttle.around(&desk.command(args)).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}\n{err}"))
}

/// `(sessions, measure)` of each point.
fn points(sweep: &Value, measure: &str) -> Vec<(f64, f64)> {
    let point = |point: &Value| {
        let value = point["measured"][measure].as_f64();
        (point["sessions"].as_f64().unwrap(), value.unwrap_or_else(|| panic!("no {measure} in {point:#}")))
    };
    sweep["points"].as_array().unwrap().iter().map(point).collect()
}

/// Sessions at the knee by Kneedle, out of the sentence that a user reads.
fn knee(sweep: &Value) -> f64 {
    let mut findings = sweep["findings"].as_array().unwrap().iter().map(|finding| finding.as_str().unwrap());
    let words = "the knee (Kneedle) lies at ";
    let found = findings.find_map(|finding| Some(finding.split_once(words)?.1));
    let found = found.unwrap_or_else(|| panic!("no knee in {:#}", sweep["findings"]));
    found.split_whitespace().next().unwrap().parse().unwrap()
}

/// One platform at a time: each has the machine to itself, as far as this program goes.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn near(value: f64, limit: f64) -> bool {
    (value / limit - 1.0).abs() <= SLACK
}

#[test]
fn reads_of_a_throttled_device_reach_its_limit_and_no_more() {
    let _alone = alone();
    for limit in [500_u32, 2_000] {
        let desk = Desk::new();
        let what = format!("SQLite on a device of {limit} reads/s");
        let Some(throttle) = Throttle::reads(&what, desk.path(), limit) else { return };
        let url = format!("sqlite:{}?direct=on&cache=64K", desk.file("data.db").display());
        assert_eq!(desk.dyno(&load(&url)).code, 0);
        let said = inside(&throttle, &desk, &sweep(&url, LOOKUPS));
        let limit = f64::from(limit);
        for (sessions, reads) in points(&said, "physical_read_requests_per_s") {
            assert!(near(reads, limit), "{sessions} sessions: {reads} reads/s, the limit is {limit}");
        }
        for (sessions, reads) in points(&said, "device_reads_per_s") {
            assert!(reads >= limit * (1.0 - SLACK), "{sessions} sessions: {reads} reads/s of the device");
        }
        // A single session saturates it, and all that the others bring is waiting. Lookups find a few percent more or less of
        // their reads in the cache from point to point, which may make the second one the first near the maximum.
        assert!(knee(&said) <= 2.0, "{:#}", said["findings"]);
        let latency = points(&said, "service_mean_us");
        let factor = latency[3].1 / latency[0].1;
        assert!((6.0..=10.0).contains(&factor), "8 sessions wait 8 times as long: {latency:?}");
    }
}

#[test]
fn a_throttled_server_shows_its_limit_and_what_it_waits_for() {
    let _alone = alone();
    let Some(version) = Postgres::available().into_iter().rfind(|version| version.major >= 16) else {
        return dyno_testbed::skip(
            "a server on a throttled device",
            "it takes PostgreSQL 16 for direct reads",
        );
    };
    const LIMIT: u32 = 1_000;
    let settings = [("debug_io_direct", "data"), ("shared_buffers", "1MB"), ("autovacuum", "off")];
    let server = Postgres::start(&version, &settings);
    let what = format!("PostgreSQL on a device of {LIMIT} reads/s");
    let Some(throttle) = Throttle::reads(&what, &server.data_dir(), LIMIT) else { return };
    let (desk, url) = (Desk::new(), server.url());
    assert_eq!(desk.dyno(&load(&url)).code, 0);
    throttle.take(server.pid().unwrap());
    let said = desk.dyno(&sweep(&url, LOOKUPS));
    let said: Value = serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:#?}"));
    for (sessions, reads) in points(&said, "physical_reads_per_s") {
        assert!(near(reads, LIMIT.into()), "{sessions} sessions: {reads} reads/s, the limit is {LIMIT}");
    }
    // The device has other users, too.
    for (sessions, reads) in points(&said, "device_reads_per_s") {
        assert!(
            reads >= f64::from(LIMIT) * (1.0 - SLACK),
            "{sessions} sessions: {reads} reads/s of the device"
        );
    }
    assert_eq!(knee(&said), 1.0, "{:#}", said["findings"]);
    let (_, last) = desk.json(&["show", "last"]);
    let events = last["waits"]["events"].as_array().unwrap();
    assert_eq!(events[0]["event"], "DataFileRead", "{events:#?}");
    assert!(events[0]["share_pct"].as_f64().unwrap() > 80.0, "{events:#?}");
    assert_eq!(check(&last, "physical_reads")["status"], "pass", "{:#}", last["audit"]);
}

#[test]
fn one_processor_is_found_to_be_the_limit() {
    let _alone = alone();
    let version = Postgres::available().remove(0);
    let server = Postgres::start(&version, &[("fsync", "off")]);
    let (desk, url) = (Desk::new(), server.url());
    assert_eq!(desk.dyno(&load(&url)).code, 0);
    // The postmaster's children have its processors, and so have the program's threads.
    let pin = |pid: &str| {
        std::process::Command::new("taskset")
            .args(["-a", "-p", "-c", "0", pid])
            .output()
            .is_ok_and(|o| o.status.success())
    };
    if !pin(&server.pid().unwrap().to_string()) {
        return dyno_testbed::cannot("a server on one processor", "taskset cannot pin it");
    }
    // Three runs of each point, by turns: other users of the machine slow one point, and not the same one each time.
    let turns = ["sweep.repeats=3", "sweep.order=up-down", "run.time=1s", "observe.waits=100/s"];
    let mut args = sweep(&url, "workload.lookup_pct=0");
    args.extend(turns.iter().flat_map(|set| ["--set", set]));
    let program = desk.command(&args);
    let mut pinned = std::process::Command::new("taskset");
    pinned.args(["-c", "0"]).arg(program.get_program()).args(program.get_args()).env_clear();
    pinned.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?)))).current_dir(desk.path());
    let output = pinned.output().unwrap();
    let said: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    // A processor is not throttled to a figure as a device is: what it does in a second depends on who else uses the machine,
    // so the knee may be any point of a plateau that is not level. More sessions get no more out of it, though.
    let ops = points(&said, "ops_per_s");
    let gain = ops.iter().map(|(_, ops)| ops).fold(0.0, |most: f64, ops| most.max(*ops)) / ops[0].1;
    assert!(gain <= 1.6, "one processor is saturated by one session: {ops:?}");
    let latency = points(&said, "service_mean_us");
    let factor = latency[3].1 / latency[0].1;
    assert!((5.0..=16.0).contains(&factor), "8 sessions wait 8 times as long or longer: {latency:?}");
    let (_, last) = desk.json(&["show", "last"]);
    assert_eq!(last["host"]["cpus_allowed"], 1);
    // Nobody waits for anything but the processor. The database sees little of that, since to it a session is idle until its
    // process runs; where samples saw any at all, it was this.
    let events = last["waits"]["events"].as_array().unwrap();
    if let Some(first) = events.first() {
        assert!(first["event"].as_str().unwrap().contains("CPU"), "{events:#?}");
    }
    let detail = check(&last, "active_sessions")["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("until their server process has a processor"), "{detail}");
    let shown = desk.dyno(&["show", "last"]).out;
    assert!(
        shown.contains("the client saw") && shown.contains("busy: samples see less than half"),
        "{shown}"
    );
}
