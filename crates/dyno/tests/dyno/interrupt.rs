//! Ctrl-C, SIGTERM and kill: what was measured is kept, and the next command knows what it finds.

use crate::common::Desk;

fn loaded() -> Desk {
    let desk = Desk::new();
    desk.dyno(&["init"]);
    let load = desk.dyno(&["load", "--set", "data.scale=1000 blocks"]);
    assert_eq!(load.code, 0, "{load:#?}");
    desk
}

const LONG: [&str; 7] =
    ["run", "--set", "data.scale=1000 blocks", "--set", "run.time=10m", "--set", "observe.interval=100ms"];

#[test]
fn ctrl_c_in_the_window_stores_what_was_measured() {
    // Started under `nohup`, which is inherited, a program is not to end with its terminal.
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap().trim();
    let hangup = (u64::from_str_radix(ignored, 16).unwrap() & 1 == 0).then_some("HUP");
    for signal in ["INT", "TERM"].into_iter().chain(hangup) {
        let desk = loaded();
        let mut run = desk.start(&[&LONG[..], &["--set", "run.warmup=0s", "--json"]].concat());
        run.until("ops/s");
        run.signal(signal);
        let said = run.end();
        assert_eq!(said.code, 130, "{said:#?}");
        let record: serde_json::Value = serde_json::from_str(&said.out).unwrap();
        assert_eq!(record["status"], "interrupted");
        assert!(record["ops"]["all"]["count"].as_u64().unwrap() > 0);
        assert!(desk.dyno(&["list"]).out.contains("interrupted"));
    }
}

#[test]
fn ctrl_c_in_the_warm_up_stores_that_there_was_no_window() {
    let desk = loaded();
    let mut run = desk.start(&[&LONG[..], &["--set", "run.warmup=10m"]].concat());
    run.until("warm-up");
    run.signal("INT");
    assert_eq!(run.end().code, 130);
    let (_, record) = desk.json(&["show", "last"]);
    assert_eq!((record["status"].as_str(), record["window"].is_null()), (Some("interrupted"), true));
}

#[test]
fn a_killed_run_is_listed_as_interrupted() {
    let desk = loaded();
    let mut run = desk.start(&[&LONG[..], &["--set", "run.warmup=0s"]].concat());
    run.until("ops/s");
    assert!(desk.dyno(&["list"]).out.contains("running"), "a run that goes on is listed as running");
    run.signal("KILL");
    run.end();
    let list = desk.dyno(&["list"]);
    assert!(list.out.contains("interrupted"), "{list:#?}");
    let next = desk.dyno(&crate::common::short(&["run", "--set", "data.scale=1000 blocks"]));
    assert_eq!(next.code, 0, "{next:#?}");
}

#[test]
fn an_interrupted_load_is_recognised_and_resumed() {
    let desk = Desk::new();
    desk.dyno(&["init"]);
    let args = ["load", "--set", "data.scale=4G"];
    let mut load = desk.start(&args);
    load.until("rows …");
    load.signal("INT");
    let said = load.end();
    assert_eq!(said.code, 130, "{said:#?}");
    let run = desk.dyno(&["run", "--set", "data.scale=4G"]);
    assert_eq!(run.code, 3);
    assert!(run.err.contains("resumes"), "{run:#?}");
    assert_eq!(desk.dyno(&["drop", "--yes"]).code, 0);
    assert!(!desk.file("dyno.db").exists());
}
