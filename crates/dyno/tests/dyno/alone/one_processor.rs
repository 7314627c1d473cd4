//! Server and program on one processor: the processor is found as the bottleneck.

use crate::common::json::ExpectJson;
use crate::common::{TestEnv, find_check};
use dyno_testbed::Postgres;
use serde_json::Value;

use super::sweeps::{load, points, sweep};

#[test]
fn one_processor_is_found_to_be_the_limit() {
    let version = Postgres::available().remove(0);
    let server = Postgres::start(&version, &[("fsync", "off")]);
    let (desk, url) = (TestEnv::new(), server.url());
    assert_eq!(desk.dyno(&load(&url)).code, 0);
    // The postmaster's children inherit its processors, and so do the program's threads.
    let pin = |pid: &str| {
        std::process::Command::new("taskset")
            .args(["-a", "-p", "-c", "0", pid])
            .output()
            .is_ok_and(|o| o.status.success())
    };
    if !pin(&server.pid().unwrap().to_string()) {
        return dyno_testbed::skip_unsupported("a server on one processor", "taskset cannot pin it");
    }
    // Three interleaved runs of each point: other users of the machine may slow a different point each time.
    let turns =
        ["sweep.repeats=3", "sweep.order=up-down", "run.warmup=200ms", "run.time=1s", "observe.waits=100/s"];
    let mut args = sweep(&url, "workload.lookup_pct=0");
    args.extend(turns.iter().flat_map(|set| ["--set", set]));
    let program = desk.command(&args);
    let mut pinned = std::process::Command::new("taskset");
    pinned.args(["-c", "0"]).arg(program.get_program()).args(program.get_args()).env_clear();
    pinned.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?)))).current_dir(desk.path());
    let output = pinned.output().unwrap();
    let sweep_result: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    // A processor cannot be throttled to a fixed rate as a device can: others may use a varying part of it.
    // Therefore the test relates the work to the processor time of the run and the server: more sessions get
    // no more of it, and wait as long as there are more of them.
    let shares = processor_shares(&desk);
    let points_of = |measure| -> Vec<(f64, f64)> { points(&sweep_result, measure) };
    let per_processor: Vec<f64> =
        points_of("ops_per_s").iter().map(|(at, ops)| ops / share(&shares, *at)).collect();
    let gain = per_processor.iter().copied().fold(0.0, f64::max) / per_processor[0];
    assert!(gain <= 1.6, "one processor is saturated by one session: {per_processor:?} {shares:?}");
    let latency: Vec<f64> =
        points_of("service_mean_us").iter().map(|(at, us)| us * share(&shares, *at)).collect();
    let factor = latency[3] / latency[0];
    assert!(
        (5.0..=16.0).contains(&factor),
        "8 sessions wait 8 times as long or longer: {latency:?} {shares:?}"
    );
    let (_, last) = desk.json(&["show", "last"]);
    assert_eq!(last["hosts"][0]["cpus_allowed"], 1);
    // Sessions wait only for the processor. The database sees little of that, since it regards a session as
    // idle until its process runs. Any wait found in samples was this one.
    let events = last["waits"]["events"].items();
    if let Some(first) = events.first() {
        assert!(first["event"].text().contains("CPU"), "{events:#?}");
    }
    let detail = find_check(&last, "active_sessions")["detail"].text().to_owned();
    assert!(detail.contains("until their server process has a processor"), "{detail}");
    let shown = desk.dyno(&["show", "last"]).out;
    assert!(shown.contains("the client saw"), "{shown}");
    assert!(shown.contains("busy: samples see less than half"), "{shown}");
}

/// `(sessions, share)` of each run: the run's and the server's share of a processor, where one is all of it.
fn processor_shares(desk: &TestEnv) -> Vec<(f64, f64)> {
    let (_, listed) = desk.json(&["list"]);
    let runs = listed.items().iter().map(|run| run["id"].text());
    let run_share = |id: &str| {
        let (_, record) = desk.json(&["show", id]);
        let host = |name: &str| {
            record["hosts"][0]["counters"][name].as_f64().unwrap_or_else(|| panic!("{name}: {record:#}"))
        };
        let share = (host("own.cpu_s") + host("server.cpu_s")) / record["window"]["seconds"].number();
        assert!(share <= 1.1, "nobody has more of a processor than all: {share}");
        (record["gate"]["sessions"].number(), share)
    };
    runs.map(run_share).collect()
}

/// The mean share of the runs with `sessions`.
fn share(shares: &[(f64, f64)], sessions: f64) -> f64 {
    let matching_shares: Vec<f64> =
        shares.iter().filter(|(at, _)| *at == sessions).map(|(_, share)| *share).collect();
    matching_shares.iter().sum::<f64>() / matching_shares.len() as f64
}
