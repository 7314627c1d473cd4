//! Threads beside the server's processes: the same on every engine that can tell them, switched off by the plan, recorded, and
//! said in the result. A server that takes long to answer is taken for one elsewhere, so nothing else runs meanwhile.

use crate::common::{Desk, short};
use dyno_testbed::{MySql, Postgres};
use serde_json::Value;

const DATA: [&str; 2] = ["--set", "data.scale=500 blocks"];
const SESSIONS: &str = "run.sessions_per_schema=4";

/// A run with `placement`: what its record says of it, and the result in words.
fn run(desk: &Desk, url: &str, placement: &str) -> (Value, String) {
    let placement = format!("run.placement={placement}");
    let args =
        ["run", "--target", url, "--set", SESSIONS, "--set", &placement, "--set", "workload.lookup_pct=100"];
    let said = desk.dyno(&short(&[&args[..], &DATA].concat()));
    assert!(said.code == 0 || said.code == 1, "{said:#?}");
    let record = desk.json(&["show", "last"]).1;
    (record["gate"]["placement"].clone(), said.out.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// With two processors and more: what the plan says is done, recorded and said.
fn check(desk: &Desk, url: &str) {
    assert_eq!(desk.dyno(&[&["load", "--target", url][..], &DATA].concat()).code, 0);
    let several = std::thread::available_parallelism().unwrap().get() > 1;
    let (auto, words) = run(desk, url, "auto");
    assert_eq!(auto["told"], 4, "{auto}");
    if several {
        assert!(auto["kept"].as_u64().unwrap() > 0, "{auto}");
        assert!(words.contains("threads pinned"), "{words}");
    }
    let (none, words) = run(desk, url, "none");
    assert_eq!((&none["kept"], &none["beside"]), (&0.into(), &0.into()), "{none}");
    assert!(words.contains("(run.placement = none)"), "{words}");
}

#[test]
fn threads_are_placed_beside_the_processes_of_postgres() {
    let Some(version) = Postgres::available().pop() else { return };
    let server = Postgres::start(&version, &[]);
    check(&Desk::new(), &server.url());
}

#[test]
fn threads_are_placed_beside_the_threads_of_mysql_and_mariadb() {
    for version in MySql::available() {
        let server = MySql::start(&version, &[]);
        check(&Desk::new(), &server.url());
    }
}

#[test]
fn nothing_is_placed_where_there_is_no_server() {
    let desk = Desk::new();
    assert_eq!(desk.dyno(&[&["load", "--target", "sqlite:a.db"][..], &DATA].concat()).code, 0);
    let (placement, words) = run(&desk, "sqlite:a.db", "auto");
    assert!(placement.is_null() && !words.contains("kept on a processor"), "{placement} {words}");
}
