//! A server and a program on one processor: the processor is found to be the limit.

use crate::common::{Desk, check};
use dyno_testbed::Postgres;
use serde_json::Value;

use super::sweeps::{load, points, sweep};

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
