//! A processor profile of the window: recorded, read, compared, and left out with its reason.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::common::json::ExpectJson;
use crate::common::{TestEnv, assert_fits_schema, wait_until};
use dyno_testbed::Postgres;

const RUN: [&str; 11] = [
    "run",
    "--set",
    "data.scale=500 blocks",
    "--set",
    "workload.work_unit=8",
    "--set",
    "run.warmup=200ms",
    "--set",
    "run.time=2s",
    "--set",
    "observe.perf=true",
];

fn load(desk: &TestEnv, url: &str) {
    let load = desk.dyno(&["load", "--set", "data.scale=500 blocks", "--target", url]);
    assert_eq!(load.code, 0, "{load:#?}");
}

fn load_sqlite(desk: &TestEnv) -> String {
    let url = format!("sqlite:{}", desk.file("a.db").display());
    load(desk, &url);
    url
}

/// The record of a run with a profile, or nothing if this machine does not permit profiling.
fn run_profiled(desk: &TestEnv, url: &str) -> Option<Value> {
    let (code, record) = desk.json(&[&RUN[..], &["--target", url]].concat());
    assert_eq!((code, record["status"].as_str()), (0, Some("valid")), "{record:#?}");
    assert_fits_schema(&record);
    match record["profile"]["absent"].as_str() {
        None => Some(record),
        // A container may forbid it; whether perf is installed can be checked.
        Some(reason)
            if std::env::var_os("DYNO_TEST_REQUIRE_ALL").is_none()
                || ["may not sample", "Permission denied", "not permitted"]
                    .iter()
                    .any(|no| reason.contains(no)) =>
        {
            eprintln!("skipped: {reason}");
            None
        }
        Some(reason) => panic!("{reason}"),
    }
}

fn list<'a>(value: &'a Value, name: &str) -> &'a Vec<Value> {
    value[name].as_array().unwrap_or_else(|| panic!("no {name}"))
}

/// Asserts that the busy time agrees with the kernel's counters, within the accuracy of both.
fn assert_matches_kernel(record: &Value) {
    let profile = &record["profile"];
    let number = |name: &str| profile[name].as_f64().unwrap_or_else(|| panic!("no {name}"));
    let counters = &record["hosts"][0]["counters"];
    let cpu = |name: &str| counters[name].as_f64().unwrap_or(0.0);
    assert_eq!(profile["seconds"], record["window"]["seconds"], "it is cut to the window");
    let capacity_s = number("cpus") * number("seconds");
    let counted_s = cpu("cpu.busy_pct") / 100.0 * capacity_s;
    let (samples, idle, hz) = (number("samples"), number("idle_samples"), number("frequency_hz"));
    let sampled_s = match profile["event"].text() {
        // The time that its samples represent, in ns.
        "cpu-clock" => number("weight") / 1e9,
        _ => samples / hz,
    };
    // At most five standard deviations of a share that is estimated from this number of samples: the
    // profile's, and the kernel's own ticks, of which there are at least a hundred a second.
    let off_s = |looks: f64| 5.0 * 0.5 / looks.max(1.0).sqrt() * capacity_s;
    // The kernel's counters have steps of 10 ms: user and system time of each processor, at either end.
    let steps_s = 4.0 * number("cpus") * 0.01;
    // Time that is neither known as busy nor as idle: missing samples, and time taken by the hypervisor.
    let missing_s = (capacity_s - (samples + idle) / hz).abs() + cpu("cpu.steal_pct") / 100.0 * capacity_s;
    // The kernel's counters are read with the snapshots, which a busy machine delays.
    let edges_s: f64 = (0..2).map(|end| record["window"]["edge_us_max"][end].number() / 1e6).sum();
    let late_s = edges_s * number("cpus");
    let bound_s = off_s(capacity_s * hz) + off_s(capacity_s * 100.0) + steps_s + missing_s + late_s;
    assert!(
        (sampled_s - counted_s).abs() <= bound_s,
        "{sampled_s} s by samples, {counted_s} s by the kernel, ± {bound_s} s: {counters:#}"
    );
}

/// Asserts that the tables' shares add up to the whole, and the tree's programs to its weight.
fn assert_shares_add_up(profile: &Value) {
    for table in ["processes", "symbols"] {
        let sum: f64 = list(profile, table).iter().map(|one| one["share_pct"].number()).sum();
        assert!((sum - 100.0).abs() < 1e-6, "{table}: {sum}");
    }
    let programs = list(profile, "stacks").iter().filter(|node| node["depth"] == 0);
    let sum: u64 = programs.map(|node| node["weight"].count()).sum();
    assert_eq!(Some(sum), profile["weight"].as_u64());
}

#[test]
fn profile_finds_embedded_engine_inside_dyno_process() {
    let desk = TestEnv::new();
    let url = load_sqlite(&desk);
    let Some(record) = run_profiled(&desk, &url) else { return };
    let profile = &record["profile"];
    assert_matches_kernel(&record);
    assert_shares_add_up(profile);
    let dyno_process =
        list(profile, "processes").iter().find(|one| one["kind"] == "dyno").expect("this program");
    assert_eq!(dyno_process["name"], "dyno");
    let of_engine = |one: &&Value| one["symbol"].text().starts_with("sqlite3");
    assert!(list(profile, "symbols").iter().any(|one| of_engine(&one)), "{:#?}", list(profile, "symbols"));
    // In the terminal and on the page.
    let shown = desk.dyno(&["show", "last"]).out;
    assert!(shown.contains("CPU profile"), "{shown}");
    assert!(shown.contains("sqlite3"), "{shown}");
    assert_eq!(desk.dyno(&["report", "last", "-o", "page.html"]).code, 0);
    let page = std::fs::read_to_string(desk.file("page.html")).unwrap();
    assert!(page.contains("flame graph"), "no flame graph");
    assert!(page.contains("<title>dyno: "), "no flame graph");
    // Between two runs, the cost of each function; nothing if one of them has no profile.
    let first = record["id"].text().to_owned();
    let second_id = run_profiled(&desk, &url).unwrap()["id"].text().to_owned();
    let compared = desk.dyno(&["compare", &first, &second_id]).out;
    assert!(compared.contains("processor time for each operation"), "{compared}");
    let (code, without) = desk.json(&[&RUN[..9], &["--target", &url]].concat());
    assert_eq!((code, without.get("profile")), (0, None), "nobody asked for one");
    let compared = desk.dyno(&["compare", &first, without["id"].text()]).out;
    assert!(!compared.contains("processor time for each operation"), "{compared}");
}

#[test]
fn profile_separates_server_from_load_generator() {
    let Some(version) = Postgres::available().last().cloned() else { return };
    let (server, desk) = (Postgres::start(&version, &[("fsync", "off")]), TestEnv::new());
    load(&desk, &server.url());
    let Some(record) = run_profiled(&desk, &server.url()) else { return };
    let profile = &record["profile"];
    assert_matches_kernel(&record);
    assert_shares_add_up(profile);
    let process_of_kind = |kind: &str| list(profile, "processes").iter().find(|one| one["kind"] == kind);
    assert_eq!(process_of_kind("database").expect("the server")["name"], "postgres");
    assert_eq!(process_of_kind("dyno").expect("this program")["name"], "dyno");
    let of_server = |one: &&Value| {
        one["kind"] == "database"
            && one["module"].text().ends_with("/postgres")
            && one["symbol"] != "[unknown]"
    };
    assert!(list(profile, "symbols").iter().any(|one| of_server(&one)), "{:#?}", list(profile, "symbols"));
}

#[test]
fn run_without_its_profile_is_valid() {
    let desk = TestEnv::new();
    let url = load_sqlite(&desk);
    let run = |path: &str| {
        let output = desk.dyno_with(("PATH", path), &[&RUN[..], &["--target", &url, "--json"]].concat());
        let record: Value =
            serde_json::from_str(&output.out).unwrap_or_else(|error| panic!("{error}: {output:#?}"));
        assert_eq!((output.code, record["status"].as_str()), (0, Some("valid")));
        record["profile"]["absent"].as_str().unwrap_or_else(|| panic!("{record:#?}")).to_owned()
    };
    let nowhere = run("/nonexistent");
    assert!(nowhere.contains("linux-perf"), "{nowhere}");
    // A profiler that dies in the window.
    desk.write("perf", "#!/bin/sh\nread x\necho ack >&2\nread x\necho 'no luck' >&2\nexit 9\n");
    std::fs::set_permissions(desk.file("perf"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let died = run(desk.path().to_str().unwrap());
    assert!(died.contains("ended before the window did"), "{died}");
    assert!(died.contains("no luck"), "{died}");
    let shown = desk.dyno(&["show", "last"]).out;
    assert!(shown.contains("no luck"), "{shown}");
}

/// Process numbers of the `perf` processes that this process has started.
fn profilers(parent: u32) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_one = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(')').is_some_and(|(name, rest)| {
            name.ends_with("(perf") && rest.split_ascii_whitespace().nth(1) == Some(&parent.to_string())
        })
    };
    numbers.filter(is_one).collect()
}

#[test]
fn profiler_leaves_no_process_or_file_behind() {
    let desk = TestEnv::new();
    let url = load_sqlite(&desk);
    if run_profiled(&desk, &url).is_none() {
        return;
    }
    for signal in ["INT", "KILL"] {
        let mut run = desk.start(&[&RUN[..], &["--target", &url, "--set", "run.time=10m"]].concat());
        run.wait_for_line("ops/s");
        let perf = profilers(run.pid());
        assert_eq!(perf.len(), 1, "{signal}");
        // Its file is unlinked, so nothing has to be removed.
        let file = std::fs::read_link(format!("/proc/{}/fd/1", perf[0])).unwrap();
        assert!(file.to_string_lossy().ends_with(" (deleted)"), "{file:?}");
        run.signal(signal);
        run.wait();
        wait_until("the profiler's end", || {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", perf[0])).unwrap_or_default();
            !stat.contains("(perf)") || stat.contains(") Z ")
        });
    }
    let (_, record) = desk.json(&["show", "last"]);
    let record = record.get(0).unwrap_or(&record);
    assert_eq!(record["status"], "interrupted");
    assert!(record["profile"]["absent"].text().contains("stopped"), "{}", record["profile"]);
}
