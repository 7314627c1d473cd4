//! Others on a PostgreSQL server: whose the figures are, what is invalid, and that nobody is seen where nobody is.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::common::{Desk, check};
use dyno_testbed::Postgres;
use serde_json::Value;

/// Small caches, so that a table that nobody else reads is read from storage; autovacuum comes all the time.
const SETTINGS: [(&str, &str); 3] =
    [("shared_buffers", "4MB"), ("autovacuum_naptime", "1s"), ("fsync", "off")];

const DATA: [&str; 4] = ["--set", "data.scale=300 blocks", "--set", "data.scan_scale=50 blocks"];
const WINDOW: [&str; 4] = ["--set", "run.time=3s", "--set", "run.warmup=300ms"];

/// The checks of others.
const CHECKS: [&str; 4] = ["others", "others_test_tables", "others_server", "others_sessions"];

/// What somebody else does.
const READ: &str = "SELECT count(*) FROM goods";
const WRITE: &str = "INSERT INTO goods SELECT i, repeat('x', 400) FROM generate_series(1, 3000) i";
const WORK: &str = "SELECT sum(sqrt(i::float8)) FROM generate_series(1, 20000000) i";

fn load(desk: &Desk, url: &str) {
    let said = desk.dyno(&[&["load", "--target", url][..], &DATA].concat());
    assert_eq!(said.code, 0, "{said:#?}");
}

fn run(desk: &Desk, url: &str, more: &[&str]) -> (i32, Value) {
    desk.json(&[&["run", "--target", url][..], &DATA, &WINDOW, more].concat())
}

/// Runs while somebody else does `sql` in `database` again and again.
fn disturbed(
    server: &Postgres,
    database: &str,
    sql: &str,
    run: impl FnOnce() -> (i32, Value),
) -> (i32, Value) {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::SeqCst) {
                // The server ends it with the test if the run has failed.
                let _ = server.try_psql(server.superuser(), database, sql);
            }
        });
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
        stop.store(true, Ordering::SeqCst);
        outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn goods(server: &Postgres, database: &str) {
    let sql = "CREATE TABLE goods AS SELECT i, repeat('x', 900) AS t FROM generate_series(1, 20000) i";
    server.try_psql(server.superuser(), database, sql).unwrap();
}

fn whose<'a>(record: &'a Value, figure: &str) -> &'a Value {
    &record["whose"][figure]
}

#[test]
fn somebody_elses_scans_in_the_same_database_are_not_the_runs() {
    for version in Postgres::available() {
        let (server, desk) = (Postgres::start(&version, &SETTINGS), Desk::new());
        goods(&server, "postgres");
        load(&desk, &server.url());
        let lookups = ["--set", "workload.lookup_pct=100", "--set", "workload.rate=50/s"];
        let (code, record) = disturbed(&server, "postgres", READ, || run(&desk, &server.url(), &lookups));
        assert_eq!(record["status"], "invalid", "{:#}", record["audit"]);
        assert_eq!(code, 1);
        let others = check(&record, "others");
        assert_eq!(others["status"], "fail", "{others:#}");
        assert!(others["detail"].as_str().unwrap().contains("physical reads (9"), "{others:#}");
        let physical = whose(&record, "physical_read_mb_per_s");
        assert_eq!(physical["scope"], "database");
        assert_eq!(physical["marked"], true);
        assert!(physical["others_pct"].as_f64().unwrap() > 80.0, "{physical}");
        assert_eq!(whose(&record, "ops_per_s")["scope"], "run");
        assert_eq!(whose(&record, "ops_per_s")["scope"], "run");
    }
}

#[test]
fn scans_of_the_test_tables_by_somebody_else_are_seen_by_their_rows() {
    let Some(version) = Postgres::available().pop() else { return };
    let (server, desk) = (Postgres::start(&version, &SETTINGS), Desk::new());
    load(&desk, &server.url());
    let lookups = ["--set", "workload.lookup_pct=100", "--set", "workload.rate=200/s"];
    let scan = "SELECT count(c2) FROM dyno.rows_1";
    let (_, record) = disturbed(&server, "postgres", scan, || run(&desk, &server.url(), &lookups));
    let rows = check(&record, "others_test_tables");
    assert_eq!(rows["status"], "fail", "{rows:#}");
    assert_eq!(whose(&record, "rows_read_per_s")["marked"], true);
}

#[test]
fn inserts_in_another_database_make_redo_somebody_elses() {
    for version in Postgres::available() {
        let (server, desk) = (Postgres::start(&version, &SETTINGS), Desk::new());
        server.psql("CREATE DATABASE shop");
        goods(&server, "shop");
        load(&desk, &server.url());
        let updates = ["--set", "workload.update_pct=100", "--set", "workload.work_unit=4"];
        let (_, record) = disturbed(&server, "shop", WRITE, || run(&desk, &server.url(), &updates));
        assert_eq!(record["status"], "invalid", "{:#}", record["audit"]);
        let found = check(&record, "others_server");
        assert_eq!(found["status"], "fail", "{found:#}");
        let redo = whose(&record, "redo_mb_per_s");
        assert_eq!((&redo["scope"], &redo["marked"]), (&"server".into(), &true.into()), "{redo}");
        assert!(redo["others_pct"].as_f64().unwrap() > 5.0, "{redo}");
        assert_eq!(check(&record, "others")["status"], "pass", "its own database is its own");
    }
}

#[test]
fn sessions_at_work_in_another_database_are_seen_before_they_have_booked_anything() {
    let Some(version) = Postgres::available().pop() else { return };
    let (server, desk) = (Postgres::start(&version, &SETTINGS), Desk::new());
    server.psql("CREATE DATABASE shop");
    load(&desk, &server.url());
    let (_, record) = disturbed(&server, "shop", WORK, || run(&desk, &server.url(), &[]));
    let found = check(&record, "others_sessions");
    assert_eq!(found["status"], "fail", "{found:#}");
    assert!(found["detail"].as_str().unwrap().contains("psql in database shop"), "{found:#}");
    assert_eq!(whose(&record, "redo_mb_per_s")["marked"], true);
    let show = desk.dyno(&["show", record["id"].as_str().unwrap()]);
    assert!(show.out.contains("psql in database shop"), "{}", show.out);
}

#[test]
fn two_dynos_on_two_databases_of_a_shared_server_are_valid_and_marked() {
    let Some(version) = Postgres::available().pop() else { return };
    let server = Postgres::start(&version, &SETTINGS);
    server.psql("CREATE DATABASE second");
    let urls = [server.url(), server.url_of(server.superuser(), "second")];
    let desks = [Desk::new(), Desk::new()];
    for (desk, url) in desks.iter().zip(&urls) {
        load(desk, url);
    }
    let shared = ["--set", "workload.update_pct=100", "--set", "target.shared=true"];
    let records: Vec<Value> = std::thread::scope(|scope| {
        let both: Vec<_> =
            desks.iter().zip(&urls).map(|(desk, url)| scope.spawn(|| run(desk, url, &shared).1)).collect();
        both.into_iter().map(|one| one.join().unwrap()).collect()
    });
    for record in &records {
        assert_eq!(record["status"], "valid", "{:#} {:#}", record["reasons"], record["audit"]);
        assert_eq!(check(record, "others_server")["status"], "warn", "{:#}", check(record, "others_server"));
        let redo = whose(record, "redo_mb_per_s");
        assert_eq!(redo["marked"], true, "{redo}");
        let others_pct = redo["others_pct"].as_f64().unwrap();
        assert!((20.0..80.0).contains(&others_pct), "about half is the other's: {redo}");
        let words = check(record, "others_sessions")["detail"].as_str().unwrap().to_owned();
        assert!(words.contains("dyno in database"), "{words}");
    }
}

#[test]
fn alone_on_a_server_nobody_else_is_seen() {
    for version in Postgres::available() {
        let (server, desk) = (Postgres::start(&version, &SETTINGS), Desk::new());
        // Or autovacuum finds the catalogs of a new server to analyse, and writes what it has found.
        server.try_psql(server.superuser(), "template1", "VACUUM ANALYZE").unwrap();
        load(&desk, &server.url());
        let runs: [&[&str]; 5] = [
            &["--set", "workload.lookup_pct=100", "--set", "workload.rate=20/s"],
            &["--set", "workload.scan_pct=100"],
            // Few rows, written over and over: autovacuum works in the test tables.
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
        for more in runs {
            let (code, record) = run(&desk, &server.url(), more);
            assert_eq!(
                code, 0,
                "PostgreSQL {} {more:?}: {:#} {:#}",
                version.full, record["reasons"], record["audit"]
            );
            for name in CHECKS {
                let found = check(&record, name);
                let skipped = name == "others_sessions" && more.contains(&"observe.waits=off");
                let due = if skipped { "skipped" } else { "pass" };
                assert_eq!(found["status"], due, "PostgreSQL {} {more:?}: {found:#}", version.full);
            }
            for (name, whose) in record["whose"].as_object().unwrap() {
                // What others on the machine had of its processors is another thing, and marks speed, too.
                let of_machine = whose["scope"] == "host" || whose["scope"] == "run";
                let is_own = of_machine || whose["marked"].is_null();
                assert!(is_own, "PostgreSQL {} {more:?}: {name} {whose}", version.full);
            }
        }
    }
}
