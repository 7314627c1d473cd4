//! Someone changes the platform during a run: a setting, statistics, an index. The run reports it and is no
//! result.

use crate::common::json::ExpectJson;
use crate::common::{TestEnv, assert_passes, find_check};
use dyno_testbed::{MySql, Postgres};
use serde_json::Value;

const DATA: [&str; 4] = ["--set", "data.scale=1000 blocks", "--set", "data.scan_scale=50 blocks"];

/// A window with ten snapshots.
const RUN: [&str; 11] = [
    "run",
    "--set",
    "workload.rate=100/s",
    "--set",
    "run.time=3s",
    "--set",
    "run.warmup=100ms",
    "--set",
    "observe.interval=300ms",
    "--set",
    "workload.update_pct=20",
];

/// A window in which a change is made and undone, each by a program that must be started first.
const LONG: &str = "run.time=6s";

fn args<'a>(head: &[&'a str], url: &'a str) -> Vec<&'a str> {
    [head, &DATA, &["--target", url]].concat()
}

fn loaded(url: &str) -> TestEnv {
    let desk = TestEnv::new();
    let load = desk.dyno(&args(&["load"], url));
    assert_eq!(load.code, 0, "{load:#?}");
    desk
}

/// The record of a run during whose window `meanwhile` is executed.
fn run_while(desk: &TestEnv, url: &str, meanwhile: impl FnOnce()) -> Value {
    run_for_while("run.time=3s", desk, url, meanwhile)
}

fn run_for_while(time: &str, desk: &TestEnv, url: &str, meanwhile: impl FnOnce()) -> Value {
    let mut run = desk.start(&args(&[&RUN[..], &["--set", time]].concat(), url));
    run.wait_for_line("window");
    meanwhile();
    drop(run.wait());
    desk.json(&["show", "last"]).1
}

/// A pause in which some snapshots see the change before it is undone.
fn while_snapshots_are_taken() {
    std::thread::park_timeout(std::time::Duration::from_millis(900));
}

/// Asserts that the run is invalid because of `name`, that its finding contains all of `words`, and that it
/// mentions no restart.
fn assert_invalid(record: &Value, name: &str, words: &[&str]) {
    let (status, finding) = (&record["status"], find_check(record, name));
    assert_eq!((status.as_str(), finding["status"].as_str()), (Some("invalid"), Some("fail")), "{finding:#}");
    let detail = finding["detail"].text();
    assert!(words.iter().all(|word| detail.contains(word)), "{words:?}: {detail}");
    if name != "counters_epoch" {
        assert!(!record["reasons"].to_string().contains("restarted"), "{}", record["reasons"]);
    }
}

fn assert_undisturbed(desk: &TestEnv, url: &str, meanwhile: impl FnOnce()) {
    let record = run_while(desk, url, meanwhile);
    for name in ["settings", "shape", "counters_monotone", "counters_epoch"] {
        assert_passes(&record, name);
    }
    for part in ["changes", "falls"] {
        assert!(record["counters"][part].is_null(), "{:#}", record["counters"][part]);
    }
}

/// Asserts that no interval of the series has a negative rate.
fn assert_no_negative_rates(record: &Value) {
    for point in record["series"]["points"].items() {
        for (name, value) in point["metrics"].fields() {
            assert!(value.number() >= 0.0, "{name} {value} at {}", point["at_s"]);
        }
    }
}

#[test]
fn postgres_setting_changed_in_window_is_reported() {
    for version in Postgres::available() {
        let server = Postgres::start(&version, &[]);
        let url = server.url();
        let desk = loaded(&url);
        let set = |value: &str| {
            server.psql(&format!("ALTER SYSTEM SET commit_delay = {value}"));
            server.psql("SELECT pg_reload_conf()");
        };
        let record = run_for_while(LONG, &desk, &url, || {
            set("30000");
            while_snapshots_are_taken();
            set("0");
        });
        let words = ["commit_delay was 0 and became 30000, seen at", "commit_delay was 30000 and became 0"];
        assert_invalid(&record, "settings", &words);
        // Privileges of another role, and what the server does itself, are not a change.
        assert_undisturbed(&desk, &url, || {
            server.psql("CREATE ROLE other");
            server.psql("ALTER ROLE other SET commit_delay = 7");
            server.psql("VACUUM (FREEZE, ANALYZE) dyno.rows_1");
            server.psql("CHECKPOINT");
        });
    }
}

#[test]
fn changes_to_postgres_tables_in_the_window_are_reported() {
    for version in Postgres::available() {
        let server = Postgres::start(&version, &[("fsync", "off")]);
        let url = server.url();
        let desk = loaded(&url);
        let noop_function = "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END'";
        server.psql(noop_function);
        let cases = [
            (
                "CREATE INDEX mine ON dyno.rows_1 (ver)",
                "index mine on rows_1 was created",
                "DROP INDEX dyno.mine",
            ),
            (
                "CREATE TRIGGER mine AFTER UPDATE ON dyno.rows_1 FOR EACH ROW EXECUTE FUNCTION f()",
                "trigger mine on rows_1 was created",
                "DROP TRIGGER mine ON dyno.rows_1",
            ),
            (
                "ALTER TABLE dyno.rows_1 ADD CONSTRAINT mine CHECK (ver >= 0)",
                "constraint mine on rows_1 was created",
                "ALTER TABLE dyno.rows_1 DROP CONSTRAINT mine",
            ),
            ("CLUSTER dyno.rows_1 USING rows_1_custid", "table rows_1 was changed", "load --replace"),
        ];
        for (sql, words, way_out) in cases {
            let record = run_while(&desk, &url, || drop(server.psql(sql)));
            assert_invalid(&record, "shape", &[words, "seen at"]);
            // The next run is refused before it begins, with a hint.
            let next = desk.dyno(&args(&RUN, &url));
            assert!(next.code == 3, "{sql}: {next:#?}");
            assert!(next.err.contains(way_out), "{sql}: {next:#?}");
            if !way_out.contains("load") {
                server.psql(way_out);
            }
        }
    }
}

#[test]
fn mysql_setting_changed_and_restored_in_window_is_reported() {
    for version in MySql::available() {
        let server = MySql::start(&version, &[]);
        let url = server.url();
        let desk = loaded(&url);
        let (name, other) = match server.is_mariadb() {
            true => ("innodb_flush_log_at_trx_commit", "0"),
            false => ("sync_binlog", "0"),
        };
        let record = run_for_while(LONG, &desk, &url, || {
            server.sql(&format!("SET GLOBAL {name} = {other}"));
            while_snapshots_are_taken();
            server.sql(&format!("SET GLOBAL {name} = 1"));
        });
        let (change_text, back) =
            (format!("{name} was 1 and became 0"), format!("{name} was 0 and became 1"));
        assert_invalid(&record, "settings", &[&change_text, &back]);
        // On a busy machine an index takes seconds.
        let create = || drop(server.sql("CREATE INDEX mine ON dyno_rows_1 (ver)"));
        let record = run_for_while(LONG, &desk, &url, create);
        assert_invalid(&record, "shape", &["index mine on dyno_rows_1 was created"]);
        let next = desk.dyno(&args(&RUN, &url));
        assert!(next.code == 3, "{next:#?}");
        assert!(next.err.contains("index mine"), "{next:#?}");
        server.sql("DROP INDEX mine ON dyno_rows_1");
        assert_undisturbed(&desk, &url, || drop(server.sql("ANALYZE TABLE dyno_scan_1")));
    }
}

#[test]
fn mysql_summary_truncated_in_window_invalidates_run() {
    for version in MySql::available() {
        // MariaDB counts files only with this startup option.
        let server =
            MySql::start(&version, &[("performance_schema", "ON"), ("innodb_buffer_pool_size", "8M")]);
        let url = server.url();
        let desk = loaded(&url);
        let record = run_while(&desk, &url, || {
            while_snapshots_are_taken();
            server.sql("TRUNCATE performance_schema.file_summary_by_event_name");
        });
        assert_invalid(&record, "counters_monotone", &["from", "into the window"]);
        assert_no_negative_rates(&record);
        let record = run_while(&desk, &url, || ());
        let requests = find_check(&record, "read_requests");
        assert_ne!(requests["status"], "fail", "{requests:#}");
    }
}

#[test]
fn changes_by_another_sqlite_connection_are_reported() {
    for journal in ["delete", "wal"] {
        let folder = TestEnv::new();
        let file = folder.file("a.db");
        let url = format!("sqlite:{}?journal={journal}&busy=5s", file.display());
        let desk = loaded(&url);
        let other = rusqlite::Connection::open(&file).unwrap();
        other.busy_timeout(std::time::Duration::from_secs(20)).unwrap();
        assert_undisturbed(&desk, &url, || ());
        let record =
            run_while(&desk, &url, || other.execute_batch("CREATE INDEX mine ON dyno_rows_1 (ver)").unwrap());
        assert_invalid(&record, "shape", &["index mine on dyno_rows_1 was created"]);
        let next = desk.dyno(&args(&RUN, &url));
        assert!(next.code == 3, "{next:#?}");
        assert!(next.err.contains("mine"), "{next:#?}");
    }
}
