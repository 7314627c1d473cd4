//! Platforms whose limit is known, because the kernel sets it: Dyno must find the limit, the knee and the waits by itself.

use std::process::Command;
use std::time::Instant;

use crate::common::throttle::Throttle;
use crate::common::{Desk, Running, check};
use dyno_testbed::Postgres;
use serde_json::Value;

/// How far two accounts of one window may be apart, as a share: each looks at its ends in its own moment.
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

/// What a sweep says, and what the throttle let pass in each of its windows, reads per second.
fn measured(throttle: &Throttle, command: Command) -> (Value, Vec<f64>) {
    let mut sweep = Running::of(command);
    let (mut began, mut passed) = (None, Vec::new());
    while let Some(line) = sweep.line() {
        if line == "window" {
            began = Some((Instant::now(), throttle.passed()));
        } else if let Some((since, before)) = began.take_if(|_| line == "draining") {
            passed.push((throttle.passed() - before) as f64 / since.elapsed().as_secs_f64());
        }
    }
    let said = sweep.end();
    let value = serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:#?}"));
    (value, passed)
}

/// That the record has the reads that the throttle let pass, and the device no fewer; whether the limit was reached by each
/// point, without which there is neither a knee nor a queue to be found: others may keep the processors.
fn reads_agree(said: &Value, measure: &str, passed: &[f64], limit: f64) -> bool {
    let reads = points(said, measure);
    assert_eq!(reads.len(), passed.len(), "each point has a window: {said:#}");
    for ((sessions, reads), passed) in reads.iter().zip(passed) {
        assert!(near(*reads, *passed), "{sessions} sessions: {reads} reads/s, {passed} were let pass");
        assert!(*passed <= limit * (1.0 + SLACK), "{passed} reads/s, the limit is {limit}");
    }
    // The device has other users, too.
    for ((sessions, reads), passed) in points(said, "device_reads_per_s").iter().zip(passed) {
        assert!(*reads >= passed * (1.0 - SLACK), "{sessions} sessions: {reads} reads/s of the device");
    }
    passed.iter().all(|passed| near(*passed, limit))
}

/// Counts a limit that this machine was too busy to reach.
fn not_reached(what: &str, passed: &[f64]) {
    dyno_testbed::cannot(
        what,
        &format!("others keep the machine too busy to reach the limit: {passed:.0?} reads/s"),
    );
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

fn near(value: f64, limit: f64) -> bool {
    (value / limit - 1.0).abs() <= SLACK
}

#[test]
fn reads_of_a_throttled_device_reach_its_limit_and_no_more() {
    for limit in [500_u32, 2_000] {
        let desk = Desk::new();
        let what = format!("SQLite on a device of {limit} reads/s");
        let Some(throttle) = Throttle::reads(&what, desk.path(), limit) else { return };
        let url = format!("sqlite:{}?direct=on&cache=64K", desk.file("data.db").display());
        assert_eq!(desk.dyno(&load(&url)).code, 0);
        let sweep = [&sweep(&url, LOOKUPS)[..], &["--verbose"]].concat();
        let (said, passed) = measured(&throttle, throttle.around(&desk.command(&sweep)));
        if !reads_agree(&said, "physical_read_requests_per_s", &passed, f64::from(limit)) {
            not_reached(&what, &passed);
            continue;
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
    let Some(version) = Postgres::available().into_iter().rfind(|version| version.major >= 16) else {
        return dyno_testbed::skip(
            "a server on a throttled device",
            "it takes PostgreSQL 16 for direct reads",
        );
    };
    const LIMIT: u32 = 1_000;
    let settings = [
        ("debug_io_direct", "data"),
        ("shared_buffers", "1MB"),
        ("autovacuum", "off"),
        ("track_io_timing", "on"),
    ];
    let server = Postgres::start(&version, &settings);
    let what = format!("PostgreSQL on a device of {LIMIT} reads/s");
    let Some(throttle) = Throttle::reads(&what, &server.data_dir(), LIMIT) else { return };
    let (desk, url) = (Desk::new(), server.url());
    assert_eq!(desk.dyno(&load(&url)).code, 0);
    throttle.take(server.pid().unwrap());
    let sweep = [&sweep(&url, LOOKUPS)[..], &["--verbose"]].concat();
    let (said, passed) = measured(&throttle, desk.command(&sweep));
    if reads_agree(&said, "physical_reads_per_s", &passed, LIMIT.into()) {
        // As above: the first point may be a few percent below the others.
        assert!(knee(&said) <= 2.0, "{:#}", said["findings"]);
    } else {
        not_reached(&what, &passed);
    }
    let (_, last) = desk.json(&["show", "last"]);
    let events = last["waits"]["events"].as_array().unwrap();
    assert_eq!(events[0]["event"], "DataFileRead", "{events:#?}");
    // Samples against the server's own clock over the same window: how much of the time that its sessions were at work they
    // spent in reads, which is nearly all of it unless others have the processors.
    let counted = |name: &str| last["counters"]["portable"][name]["delta"].as_f64().unwrap();
    let clocked = 100.0 * counted("physical_read_time") / counted("db_time");
    let sampled = events[0]["share_pct"].as_f64().unwrap();
    // All sessions are in the same queue, so that a sample is one look, however many of them it finds there.
    let looks = last["waits"]["samples"].as_f64().unwrap();
    let chance = 500.0 * (clocked / 100.0 * (1.0 - clocked / 100.0).max(0.05) / looks).sqrt();
    assert!(
        (sampled - clocked).abs() <= chance + 5.0,
        "{sampled} % sampled, {clocked} % clocked: {events:#?}"
    );
    assert_eq!(check(&last, "physical_reads")["status"], "pass", "{:#}", last["audit"]);
}

#[test]
fn one_processor_is_found_to_be_the_limit() {
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
    let turns =
        ["sweep.repeats=3", "sweep.order=up-down", "run.warmup=200ms", "run.time=1s", "observe.waits=100/s"];
    let mut args = sweep(&url, "workload.lookup_pct=0");
    args.extend(turns.iter().flat_map(|set| ["--set", set]));
    let program = desk.command(&args);
    let mut pinned = std::process::Command::new("taskset");
    pinned.args(["-c", "0"]).arg(program.get_program()).args(program.get_args()).env_clear();
    pinned.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?)))).current_dir(desk.path());
    let output = pinned.output().unwrap();
    let said: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    // A processor is not throttled to a figure as a device is: others may have a part of it, and not the same part all the time.
    // So what was done is held against the time on the processor that the run and the server had: more sessions get no more
    // out of it, and wait as long as there are more of them.
    let shares = processor_shares(&desk);
    let of = |measure| -> Vec<(f64, f64)> { points(&said, measure) };
    let per_processor: Vec<f64> = of("ops_per_s").iter().map(|(at, ops)| ops / share(&shares, *at)).collect();
    let gain = per_processor.iter().copied().fold(0.0, f64::max) / per_processor[0];
    assert!(gain <= 1.6, "one processor is saturated by one session: {per_processor:?} {shares:?}");
    let latency: Vec<f64> = of("service_mean_us").iter().map(|(at, us)| us * share(&shares, *at)).collect();
    let factor = latency[3] / latency[0];
    assert!(
        (5.0..=16.0).contains(&factor),
        "8 sessions wait 8 times as long or longer: {latency:?} {shares:?}"
    );
    let (_, last) = desk.json(&["show", "last"]);
    assert_eq!(last["hosts"][0]["cpus_allowed"], 1);
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

/// `(sessions, share)` of each run: how much of a processor the run and its server had, one is all of it.
fn processor_shares(desk: &Desk) -> Vec<(f64, f64)> {
    let (_, listed) = desk.json(&["list"]);
    let runs = listed.as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap());
    let of = |id: &str| {
        let (_, record) = desk.json(&["show", id]);
        let host = |name: &str| {
            record["hosts"][0]["counters"][name].as_f64().unwrap_or_else(|| panic!("{name}: {record:#}"))
        };
        let share =
            (host("own.cpu_s") + host("server.cpu_s")) / record["window"]["seconds"].as_f64().unwrap();
        assert!(share <= 1.1, "nobody has more of a processor than all: {share}");
        (record["gate"]["sessions"].as_f64().unwrap(), share)
    };
    runs.map(of).collect()
}

/// The mean share of the runs with `sessions`.
fn share(shares: &[(f64, f64)], sessions: f64) -> f64 {
    let of: Vec<f64> = shares.iter().filter(|(at, _)| *at == sessions).map(|(_, share)| *share).collect();
    of.iter().sum::<f64>() / of.len() as f64
}
