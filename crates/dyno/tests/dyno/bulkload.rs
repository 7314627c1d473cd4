//! A bulk load as a measurement: record and audit as for any run, with the figures of a load.

use serde_json::Value;

use crate::common::json::ExpectJson;
use crate::common::{TestEnv, assert_fits_schema, assert_passes};
use dyno_testbed::{MySql, Postgres};

const FOLDER: &str = "workload.folder=@bulkload";

fn args<'a>(command: &'a str, url: &'a str, sets: &[&'a str]) -> Vec<&'a str> {
    let sets = [FOLDER].into_iter().chain(sets.iter().copied());
    [command, "--target", url].into_iter().chain(sets.flat_map(|set| ["--set", set])).collect()
}

fn load(desk: &TestEnv, url: &str) {
    let load = desk.dyno(&args("load", url, &[]));
    assert_eq!(load.code, 0, "{load:#?}");
}

/// Loads data and checks that all rows exist.
fn run(desk: &TestEnv, url: &str, sets: &[&str]) -> Value {
    let (code, record) = desk.json(&args("run", url, sets));
    assert_eq!(
        (code, &record["status"]),
        (0, &"valid".into()),
        "{} {:#}",
        record["reasons"],
        record["audit"]
    );
    assert_fits_schema(&record);
    for name in ["operations", "expected", "loaded", "commits_whole", "littles_law", "window_length"] {
        assert_passes(&record, name);
    }
    let loaded = &record["workload"]["loaded"];
    for rows in [&loaded["wanted"], &loaded["rows"], &loaded["counted"]["Ok"], &record["ops"]["all"]["rows"]]
    {
        assert_eq!(rows.as_u64(), Some(90_000), "{loaded:#} {:#}", record["ops"]);
    }
    let seconds = loaded["seconds"].number();
    let window = record["window"]["seconds"].number();
    assert!(seconds > 0.0, "{seconds} s in {window} s");
    assert!(seconds <= window, "{seconds} s in {window} s");
    let rate = figure(&record, "load_rows_per_s").unwrap();
    assert!((rate * seconds / 90_000.0 - 1.0).abs() < 1e-9, "{rate} rows/s for {seconds} s");
    let bytes = loaded["bytes"].count();
    assert!((90_000 * 80..90_000 * 160).contains(&bytes), "{bytes} bytes");
    record
}

fn figure(record: &Value, name: &str) -> Option<f64> {
    record["metrics"][name]["value"].as_f64()
}

/// Each load begins with an empty table, and the loaders divide it among them.
fn serial_and_parallel(desk: &TestEnv, url: &str) -> Value {
    load(desk, url);
    let serial = run(desk, url, &["run.sessions_per_schema=1"]);
    let loaded = &serial["workload"]["loaded"];
    assert_eq!(loaded["indexes"], serde_json::json!([3, 0]), "{loaded:#}");
    assert!(loaded["durable_s"]["Ok"].as_f64().is_some_and(|seconds| seconds >= 0.0), "{loaded:#}");
    assert!(figure(&serial, "load_durable_rows_per_s") <= figure(&serial, "load_rows_per_s"));
    let behind = run(desk, url, &["run.sessions_per_schema=3", "workload.mix=behind"]);
    let loaded = &behind["workload"]["loaded"];
    // Engines that store rows in primary key order create that key with the table.
    let key_first = i32::from(!url.starts_with("postgres"));
    assert_eq!(loaded["indexes"], serde_json::json!([key_first, 3 - key_first]), "{loaded:#}");
    assert!(figure(&behind, "load_index_s").is_some_and(|seconds| seconds > 0.0), "{loaded:#}");
    assert_eq!(behind["gate"]["sessions"], 3);
    behind
}

fn constrained(desk: &TestEnv, url: &str) {
    let constrained = run(desk, url, &["run.sessions_per_schema=2", "workload.mix=constrained"]);
    assert_eq!(constrained["workload"]["loaded"]["constraints"], 3);
}

#[test]
fn bulk_load_into_sqlite_serial_and_parallel() {
    let desk = TestEnv::new();
    let url = &format!("sqlite:{}", desk.file("a.db").display());
    serial_and_parallel(&desk, url);
    constrained(&desk, url);
    // An option that the engine lacks is refused before anything is dropped, with a hint.
    let refused = desk.dyno(&args("run", url, &["workload.mix=unlogged"]));
    assert_ne!(refused.code, 0);
    assert!(refused.err.contains("writes a log for every table"), "{refused:#?}");
    let refused = desk.dyno(&args("run", url, &["workload.rate=5/s"]));
    assert_eq!(refused.code, 2, "{refused:#?}");
    assert!(refused.err.contains("workload.rate cannot be combined with"), "{refused:#?}");
    // Loaders are an axis like sessions, and their results are shown.
    let sweep = desk.dyno(&args("sweep", url, &["sweep.sessions=1,2", "workload.mix=plain"]));
    assert_eq!(sweep.code, 0, "{sweep:#?}");
    let drop = desk.dyno(&[&args("drop", url, &[])[..], &["--yes"]].concat());
    assert_eq!(drop.code, 0, "{drop:#?}");
}

#[test]
fn bulk_load_into_postgres_logged_and_unlogged() {
    let desk = TestEnv::new();
    let Some(version) = Postgres::newest_or_all().pop() else { return };
    let server = Postgres::start(&version, &[("autovacuum", "off")]);
    let url = &server.url();
    serial_and_parallel(&desk, url);
    constrained(&desk, url);
    let plain = run(&desk, url, &["workload.mix=plain", "run.sessions_per_schema=1"]);
    let unlogged = run(&desk, url, &["workload.mix=unlogged", "run.sessions_per_schema=1"]);
    let redo = |record| figure(record, "load_redo_bytes_per_row").unwrap();
    assert!(redo(&plain) > 60.0, "{} {}", redo(&plain), redo(&unlogged));
    assert!(redo(&unlogged) < redo(&plain) / 10.0, "{} {}", redo(&plain), redo(&unlogged));
    assert!(unlogged["workload"]["loaded"]["durable_s"]["Err"].is_string());
    assert!(figure(&unlogged, "load_durable_rows_per_s").is_none());
    let shown = desk.dyno(&["show", unlogged["id"].text()]);
    assert!(shown.out.contains("into bulkload_unlogged, without indexes, without a log"), "{shown:#?}");
}

#[test]
fn bulk_load_into_mysql_and_mariadb_by_file_and_by_insert() {
    for (version, local_infile) in MySql::available().into_iter().zip(["ON", "OFF"]) {
        let server = MySql::start(&version, &[("local_infile", local_infile)]);
        serial_and_parallel(&TestEnv::new(), &server.url());
    }
}
