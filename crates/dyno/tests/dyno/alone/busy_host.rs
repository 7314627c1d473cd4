//! A machine whose processors others keep busy: the run's counts hold, and it states who used the processors.

use crate::common::burners::Burners;
use crate::common::json::ExpectJson;
use crate::common::{SHORT, TestEnv, assert_fits_schema, find_check};
use dyno_testbed::{MySql, Postgres};
use serde_json::Value;

/// Loads and runs at `target` while a burner occupies every processor.
fn run_beside_burners(target: &str) -> Value {
    let desk = TestEnv::new();
    desk.dyno(&["init"]);
    let target =
        ["--target", target, "--set", "data.scale=2000 blocks", "--set", "run.sessions_per_schema=2"];
    let output = desk.dyno(&[&["load"], &target[..]].concat());
    assert_eq!(output.code, 0, "{output:#?}");
    let _others = Burners::one_per_processor();
    let (code, record) = desk.json(&[&["run"], &target[..], &SHORT[..]].concat());
    assert_eq!(code, 0, "counts hold on a busy machine: {}", record["reasons"]);
    assert_fits_schema(&record);
    record
}

/// Asserts that the record says that others used the processors, and names them.
fn assert_others_are_named(record: &Value) {
    let processor = find_check(record, "processor");
    assert_eq!(processor["status"], "warn", "{processor}");
    let words = processor["detail"].text();
    assert!(words.contains(", largest: "), "{words}");
    assert!(record["metrics"]["others_cpu_pct"]["value"].number() > 5.0, "{record}");
    assert!(record["hosts"][0]["counters"]["others.sh.cpu_s"].number() > 0.0);
}

#[test]
fn sqlite_cpu_counts_as_own_and_burners_as_others() {
    let desk = TestEnv::new();
    let record = run_beside_burners(&format!("sqlite:{}", desk.file("bench.db").display()));
    assert_others_are_named(&record);
    assert!(record["hosts"][0]["counters"].get("server.cpu_s").is_none());
    let dyno_cpu_s = record["hosts"][0]["counters"]["own.cpu_s"].number();
    assert!(dyno_cpu_s > 0.0, "{dyno_cpu_s}");
}

#[test]
fn postgres_processes_are_not_background_activity() {
    for version in Postgres::available() {
        let server = Postgres::start(&version, &[]);
        let record = run_beside_burners(&server.url());
        assert_others_are_named(&record);
        assert!(record["hosts"][0]["counters"]["server.cpu_s"].number() > 0.0, "{record}");
    }
}

#[test]
fn mysql_and_mariadb_process_is_not_background_activity() {
    for version in MySql::available() {
        // Two servers started at the same time are distinguished by the file with the process number.
        let (server, twin) = (MySql::start(&version, &[]), MySql::start(&version, &[]));
        let record = run_beside_burners(&server.url());
        assert_others_are_named(&record);
        assert!(record["hosts"][0]["counters"]["server.cpu_s"].number() > 0.0, "{record}");
        drop(twin);
    }
}
