//! Placement of threads next to the server's processes. It works on every engine that can report its
//! processes, the plan can switch it off, and record and result state it. Dyno takes a slow server for a
//! remote one, so nothing else runs meanwhile.

use crate::common::json::ExpectJson;
use crate::common::{TestEnv, short_run_args};
use dyno_testbed::{MySql, Postgres};
use serde_json::Value;

const DATA: [&str; 2] = ["--set", "data.scale=500 blocks"];
const SESSIONS: &str = "run.sessions_per_schema=4";

/// A run with `placement`: its record, and the result in words.
fn run(desk: &TestEnv, url: &str, placement: &str) -> (Value, String) {
    let placement = format!("run.placement={placement}");
    let args =
        ["run", "--target", url, "--set", SESSIONS, "--set", &placement, "--set", "workload.lookup_pct=100"];
    let output = desk.dyno(&short_run_args(&[&args[..], &DATA].concat()));
    assert!(output.code == 0 || output.code == 1, "{output:#?}");
    let record = desk.json(&["show", "last"]).1;
    (record["gate"]["placement"].clone(), output.out.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// With at least two processors: the plan's placement is applied, recorded and reported.
fn check(desk: &TestEnv, url: &str) {
    assert_eq!(desk.dyno(&[&["load", "--target", url][..], &DATA].concat()).code, 0);
    let several = std::thread::available_parallelism().unwrap().get() > 1;
    let (auto, words) = run(desk, url, "auto");
    assert_eq!(auto["told"], 4, "{auto}");
    if several {
        assert!(auto["kept"].count() > 0, "{auto}");
        assert!(words.contains("threads pinned"), "{words}");
    }
    let (placement_none, words) = run(desk, url, "none");
    assert_eq!(
        (&placement_none["kept"], &placement_none["beside"]),
        (&0.into(), &0.into()),
        "{placement_none}"
    );
    assert!(words.contains("(run.placement = none)"), "{words}");
}

#[test]
fn thread_placement_works_with_postgres_processes() {
    let Some(version) = Postgres::available().pop() else { return };
    let server = Postgres::start(&version, &[]);
    check(&TestEnv::new(), &server.url());
}

#[test]
fn thread_placement_works_with_mysql_and_mariadb_threads() {
    for version in MySql::available() {
        let server = MySql::start(&version, &[]);
        check(&TestEnv::new(), &server.url());
    }
}

#[test]
fn processor_placement_is_skipped_without_server() {
    let desk = TestEnv::new();
    assert_eq!(desk.dyno(&[&["load", "--target", "sqlite:a.db"][..], &DATA].concat()).code, 0);
    let (placement, words) = run(&desk, "sqlite:a.db", "auto");
    assert!(placement.is_null(), "{placement} {words}");
    assert!(!words.contains("kept on a processor"), "{placement} {words}");
}
