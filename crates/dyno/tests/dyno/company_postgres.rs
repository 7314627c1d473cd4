//! Other users on a PostgreSQL server: attribution of figures, invalid runs, and no false findings without
//! other users.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::common::json::ExpectJson;
use crate::common::{TestEnv, find_check};
use dyno_testbed::Postgres;
use serde_json::Value;

/// Small caches, so that a table read by nobody else comes from storage; autovacuum runs all the time.
const SETTINGS: [(&str, &str); 3] =
    [("shared_buffers", "4MB"), ("autovacuum_naptime", "1s"), ("fsync", "off")];

const DATA: [&str; 4] = ["--set", "data.scale=300 blocks", "--set", "data.scan_scale=50 blocks"];
const WINDOW: [&str; 4] = ["--set", "run.time=3s", "--set", "run.warmup=300ms"];

/// A window in which another user is found: it need not be longer.
const SHORTER: [&str; 2] = ["--set", "run.time=2s"];

const CHECKS: [&str; 4] = ["others", "others_test_tables", "others_server", "others_sessions"];

/// Statement of the other user.
const READ: &str = "SELECT count(*) FROM goods";
const WRITE: &str = "INSERT INTO goods SELECT i, repeat('x', 400) FROM generate_series(1, 3000) i";
const WORK: &str = "SELECT sum(sqrt(i::float8)) FROM generate_series(1, 20000000) i";

fn load(desk: &TestEnv, url: &str) {
    let output = desk.dyno(&[&["load", "--target", url][..], &DATA].concat());
    assert_eq!(output.code, 0, "{output:#?}");
}

fn run(desk: &TestEnv, url: &str, more: &[&str]) -> (i32, Value) {
    desk.json(&[&["run", "--target", url][..], &DATA, &WINDOW, more].concat())
}

/// Runs while another user repeats `sql` in `database`.
fn run_disturbed(
    server: &Postgres,
    database: &str,
    sql: &str,
    run: impl FnOnce() -> (i32, Value),
) -> (i32, Value) {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::SeqCst) {
                // If the run fails, the server ends this statement with the test.
                let _ = server.try_psql(server.superuser(), database, sql);
            }
        });
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
        stop.store(true, Ordering::SeqCst);
        outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn create_goods(server: &Postgres, database: &str) {
    let sql = "CREATE TABLE goods AS SELECT i, repeat('x', 900) AS t FROM generate_series(1, 20000) i";
    server.try_psql(server.superuser(), database, sql).unwrap();
}

fn attribution<'a>(record: &'a Value, figure: &str) -> &'a Value {
    &record["whose"][figure]
}

#[test]
fn foreign_scans_in_same_database_are_not_own() {
    for version in Postgres::available() {
        let (server, desk) = (Postgres::start(&version, &SETTINGS), TestEnv::new());
        create_goods(&server, "postgres");
        load(&desk, &server.url());
        let lookups = ["--set", "workload.lookup_pct=100", "--set", "workload.rate=50/s"];
        let lookups = [&lookups[..], &SHORTER].concat();
        let (code, record) = run_disturbed(&server, "postgres", READ, || run(&desk, &server.url(), &lookups));
        assert_eq!(record["status"], "invalid", "{:#}", record["audit"]);
        assert_eq!(code, 1);
        let others_check = find_check(&record, "others");
        assert_eq!(others_check["status"], "fail", "{others_check:#}");
        assert!(others_check["detail"].text().contains("physical reads (9"), "{others_check:#}");
        let physical = attribution(&record, "physical_read_mb_per_s");
        assert_eq!(physical["scope"], "database");
        assert_eq!(physical["marked"], true);
        assert!(physical["others_pct"].number() > 80.0, "{physical}");
        assert_eq!(attribution(&record, "ops_per_s")["scope"], "run");
        assert_eq!(attribution(&record, "ops_per_s")["scope"], "run");
    }
}

#[test]
fn scans_of_test_tables_by_others_are_detected_by_rows_read() {
    let Some(version) = Postgres::available().pop() else { return };
    let (server, desk) = (Postgres::start(&version, &SETTINGS), TestEnv::new());
    load(&desk, &server.url());
    let lookups = ["--set", "workload.lookup_pct=100", "--set", "workload.rate=200/s"];
    let scan = "SELECT count(c2) FROM dyno.rows_1";
    let (_, record) = run_disturbed(&server, "postgres", scan, || run(&desk, &server.url(), &lookups));
    let rows = find_check(&record, "others_test_tables");
    assert_eq!(rows["status"], "fail", "{rows:#}");
    assert_eq!(attribution(&record, "rows_read_per_s")["marked"], true);
}

#[test]
fn inserts_in_other_database_are_attributed_as_foreign_redo() {
    for version in Postgres::available() {
        let (server, desk) = (Postgres::start(&version, &SETTINGS), TestEnv::new());
        server.psql("CREATE DATABASE shop");
        create_goods(&server, "shop");
        load(&desk, &server.url());
        let updates = ["--set", "workload.update_pct=100", "--set", "workload.work_unit=4"];
        let updates = [&updates[..], &SHORTER].concat();
        let (_, record) = run_disturbed(&server, "shop", WRITE, || run(&desk, &server.url(), &updates));
        assert_eq!(record["status"], "invalid", "{:#}", record["audit"]);
        let server_check = find_check(&record, "others_server");
        assert_eq!(server_check["status"], "fail", "{server_check:#}");
        let redo = attribution(&record, "redo_mb_per_s");
        assert_eq!((&redo["scope"], &redo["marked"]), (&"server".into(), &true.into()), "{redo}");
        assert!(redo["others_pct"].number() > 5.0, "{redo}");
        assert_eq!(find_check(&record, "others")["status"], "pass", "its own database is its own");
    }
}

#[test]
fn active_sessions_in_another_database_are_detected_early() {
    let Some(version) = Postgres::available().pop() else { return };
    let (server, desk) = (Postgres::start(&version, &SETTINGS), TestEnv::new());
    server.psql("CREATE DATABASE shop");
    load(&desk, &server.url());
    let (_, record) = run_disturbed(&server, "shop", WORK, || run(&desk, &server.url(), &[]));
    let sessions_check = find_check(&record, "others_sessions");
    assert_eq!(sessions_check["status"], "fail", "{sessions_check:#}");
    assert!(sessions_check["detail"].text().contains("psql in database shop"), "{sessions_check:#}");
    assert_eq!(attribution(&record, "redo_mb_per_s")["marked"], true);
    let show = desk.dyno(&["show", record["id"].text()]);
    assert!(show.out.contains("psql in database shop"), "{}", show.out);
}

#[test]
fn concurrent_runs_on_shared_server_are_valid_and_marked() {
    let Some(version) = Postgres::available().pop() else { return };
    let server = Postgres::start(&version, &SETTINGS);
    server.psql("CREATE DATABASE second");
    let urls = [server.url(), server.url_of(server.superuser(), "second")];
    let desks = [TestEnv::new(), TestEnv::new()];
    for (desk, url) in desks.iter().zip(&urls) {
        load(desk, url);
    }
    let shared = ["--set", "workload.update_pct=100", "--set", "target.shared=true"];
    let records: Vec<Value> = std::thread::scope(|scope| {
        let run_threads: Vec<_> =
            desks.iter().zip(&urls).map(|(desk, url)| scope.spawn(|| run(desk, url, &shared).1)).collect();
        run_threads.into_iter().map(|one| one.join().unwrap()).collect()
    });
    for record in &records {
        assert_eq!(record["status"], "valid", "{:#} {:#}", record["reasons"], record["audit"]);
        assert_eq!(
            find_check(record, "others_server")["status"],
            "warn",
            "{:#}",
            find_check(record, "others_server")
        );
        let redo = attribution(record, "redo_mb_per_s");
        assert_eq!(redo["marked"], true, "{redo}");
        let others_pct = redo["others_pct"].number();
        assert!((20.0..80.0).contains(&others_pct), "about half is the other's: {redo}");
        let words = find_check(record, "others_sessions")["detail"].text().to_owned();
        assert!(words.contains("dyno in database"), "{words}");
    }
}

#[test]
fn run_alone_on_server_shows_no_background_activity() {
    // Each version has the first three runs, and in turn one of the others.
    for (at, version) in Postgres::available().iter().enumerate() {
        let (server, desk) = (Postgres::start(version, &SETTINGS), TestEnv::new());
        // Otherwise autovacuum analyzes the catalogs of a new server and writes the result.
        server.try_psql(server.superuser(), "template1", "VACUUM ANALYZE").unwrap();
        load(&desk, &server.url());
        let runs: [&[&str]; 5] = [
            &["--set", "workload.lookup_pct=100", "--set", "workload.rate=20/s"],
            &["--set", "workload.scan_pct=100"],
            // Few rows are updated repeatedly, so that autovacuum works in the test tables.
            &["--set", "workload.update_pct=100", "--set", "workload.work_unit=1"],
            &["--set", "workload.update_pct=20", "--set", "workload.drive=server"],
            &[
                "--set",
                "workload.work_unit=1",
                "--set",
                "observe.waits=off",
                "--set",
                "run.sessions_per_schema=6",
            ],
        ];
        let in_turn = runs[3..].iter().skip(at % 2).step_by(2);
        for &more in runs[..3].iter().chain(in_turn) {
            let (code, record) = run(&desk, &server.url(), more);
            assert_eq!(
                code, 0,
                "PostgreSQL {} {more:?}: {:#} {:#}",
                version.full, record["reasons"], record["audit"]
            );
            for name in CHECKS {
                let finding = find_check(&record, name);
                let skipped = name == "others_sessions" && more.contains(&"observe.waits=off");
                let due = if skipped { "skipped" } else { "pass" };
                assert_eq!(finding["status"], due, "PostgreSQL {} {more:?}: {finding:#}", version.full);
            }
            for (name, whose) in record["whose"].fields() {
                // Processor use of others on the machine is a separate matter, and also marks the rate.
                let of_machine = whose["scope"] == "host" || whose["scope"] == "run";
                let is_own = of_machine || whose["marked"].is_null();
                assert!(is_own, "PostgreSQL {} {more:?}: {name} {whose}", version.full);
            }
        }
    }
}
