//! Ctrl-C, SIGTERM and kill: measurements are kept, and the next command handles what it finds.

use crate::common::TestEnv;
use crate::common::json::ExpectJson;

fn load_data() -> TestEnv {
    let desk = TestEnv::new();
    desk.dyno(&["init"]);
    let load = desk.dyno(&["load", "--set", "data.scale=1000 blocks"]);
    assert_eq!(load.code, 0, "{load:#?}");
    desk
}

const LONG: [&str; 7] =
    ["run", "--set", "data.scale=1000 blocks", "--set", "run.time=10m", "--set", "observe.interval=100ms"];

#[test]
fn ctrl_c_during_window_stores_measured_results() {
    // Under `nohup`, which is inherited, a program must not end with its terminal.
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap().trim();
    let hangup = (u64::from_str_radix(ignored, 16).unwrap() & 1 == 0).then_some("HUP");
    for signal in ["INT", "TERM"].into_iter().chain(hangup) {
        let desk = load_data();
        let mut run = desk.start(&[&LONG[..], &["--set", "run.warmup=0s", "--json"]].concat());
        run.wait_for_line("ops/s");
        run.signal(signal);
        let output = run.wait();
        assert_eq!(output.code, 130, "{output:#?}");
        let record: serde_json::Value = serde_json::from_str(&output.out).unwrap();
        assert_eq!(record["status"], "interrupted");
        assert!(record["ops"]["all"]["count"].count() > 0);
        assert!(desk.dyno(&["list"]).out.contains("interrupted"));
    }
}

#[test]
fn ctrl_c_during_warm_up_stores_run_without_window() {
    let desk = load_data();
    let mut run = desk.start(&[&LONG[..], &["--set", "run.warmup=10m"]].concat());
    run.wait_for_line("warm-up");
    run.signal("INT");
    assert_eq!(run.wait().code, 130);
    let (_, record) = desk.json(&["show", "last"]);
    assert_eq!((record["status"].as_str(), record["window"].is_null()), (Some("interrupted"), true));
}

#[test]
fn a_killed_run_is_listed_as_interrupted() {
    let desk = load_data();
    let mut run = desk.start(&[&LONG[..], &["--set", "run.warmup=0s"]].concat());
    run.wait_for_line("ops/s");
    assert!(desk.dyno(&["list"]).out.contains("running"), "a run that goes on is listed as running");
    run.signal("KILL");
    run.wait();
    let list = desk.dyno(&["list"]);
    assert!(list.out.contains("interrupted"), "{list:#?}");
    let next = desk.dyno(&crate::common::short_run_args(&["run", "--set", "data.scale=1000 blocks"]));
    assert_eq!(next.code, 0, "{next:#?}");
}

#[test]
fn interrupted_load_is_recognized_and_run_suggests_resume() {
    let desk = TestEnv::new();
    desk.dyno(&["init"]);
    let args = ["load", "--set", "data.scale=4G"];
    let mut load = desk.start(&args);
    load.wait_for_line("rows …");
    load.signal("INT");
    let output = load.wait();
    assert_eq!(output.code, 130, "{output:#?}");
    let run = desk.dyno(&["run", "--set", "data.scale=4G"]);
    assert_eq!(run.code, 3);
    assert!(run.err.contains("resumes"), "{run:#?}");
    assert_eq!(desk.dyno(&["drop", "--yes"]).code, 0);
    assert!(!desk.file("dyno.db").exists());
}
