//! Custom SQL with other writers in the database, and on several targets. The expected costs of its
//! transactions are compared with each database, and the excess is attributed to others.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::common::json::ExpectJson;
use crate::common::{TestEnv, find_check};
use dyno_testbed::{MySql, Postgres};
use serde_json::Value;

const COUNTER: &str = r#"
name = "counter"
writes = true

[setup]
sql = """
CREATE TABLE company_counter (id INT NOT NULL PRIMARY KEY, n INT NOT NULL);
INSERT INTO company_counter VALUES (1, 0), (2, 0), (3, 0), (4, 0)
"""

[drop]
sql = "DROP TABLE company_counter"

[draw]
id = { uniform = [1, 4] }

[transaction.look]
sql = "SELECT n FROM company_counter WHERE id = :id"

[transaction.count]
retries = 20
sql = "UPDATE company_counter SET n = n + 1 WHERE id = :id"
"#;

fn env_with_counter() -> TestEnv {
    let desk = TestEnv::new();
    std::fs::create_dir_all(desk.file("counter")).unwrap();
    desk.write("counter/workload.toml", COUNTER);
    desk
}

fn args<'a>(command: &'a str, urls: &'a [String], more: &[&'a str]) -> Vec<&'a str> {
    let targets = urls.iter().flat_map(|url| ["--target", url.as_str()]);
    let sets = ["workload.folder=counter"].into_iter().chain(more.iter().copied());
    [command].into_iter().chain(targets).chain(sets.flat_map(|set| ["--set", set])).collect()
}

const WINDOW: [&str; 3] = ["run.time=2s", "run.warmup=1s", "workload.rate=200/s"];

/// A run during whose warm-up and window `other` is repeated, after the costs were learned.
fn run_beside(desk: &TestEnv, url: &str, other: impl Fn() + Sync) -> Value {
    let mut run = desk.start(&args("run", &[url.to_owned()], &WINDOW));
    run.wait_for_line("warm-up");
    let over = AtomicBool::new(false);
    let output = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::SeqCst) {
                other();
            }
        });
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run.wait()));
        over.store(true, Ordering::SeqCst);
        result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    assert!(matches!(output.code, 0 | 1), "{output:#?}");
    desk.json(&["show", "last"]).1
}

fn assert_foreign_rows_marked(desk: &TestEnv, url: &str, other: impl Fn() + Sync) {
    let load = desk.dyno(&args("load", &[url.to_owned()], &[]));
    assert_eq!(load.code, 0, "{load:#?}");
    // On a machine that stalls, rates may be left out with the reason; then there is no attribution.
    let attribution = |record: &Value, name: &str| {
        let is_known = record["metrics"][name]["value"].is_number();
        is_known.then(|| record["whose"][name].clone())
    };
    let (code, alone) = desk.json(&args("run", &[url.to_owned()], &WINDOW));
    assert_eq!(
        (code, find_check(&alone, "expected")["status"].as_str()),
        (0, Some("pass")),
        "{:#}",
        alone["audit"]
    );
    if let Some(rows) = attribution(&alone, "rows_written_per_s") {
        assert!(rows["others_pct"].number() < 1.0, "{rows}");
    }
    let beside = run_beside(desk, url, other);
    let expected = find_check(&beside, "expected");
    assert_eq!(expected["status"], "warn", "{expected:#}");
    assert!(expected["detail"].text().contains("other sessions add to the count"), "{expected:#}");
    // Most of the rows are theirs, and so may be any other activity that the database counts.
    if let Some(rows) = attribution(&beside, "rows_written_per_s") {
        assert!(rows["marked"] == true, "{rows}");
        assert!(rows["others_pct"].number() > 50.0, "{rows}");
        assert_ne!(rows["scope"], "run");
    }
    if let Some(reads) = attribution(&beside, "logical_reads_per_s") {
        assert!(reads["marked"] == true, "{reads}");
        assert!(reads["why"].text().contains("other sessions caused "), "{reads}");
    }
    assert_eq!(beside["whose"]["ops_per_s"]["scope"], "run");
    let shown = desk.dyno(&["show", "last"]).out;
    assert!(shown.contains('†'), "{shown}");
}

#[test]
fn rows_written_by_others_on_postgres_are_not_own() {
    let Some(version) = Postgres::available().pop() else { return };
    let server = Postgres::start(&version, &[("autovacuum", "off"), ("fsync", "off")]);
    server.psql("CREATE TABLE foreign_rows (n INT)");
    assert_foreign_rows_marked(&env_with_counter(), &server.url(), || {
        // If the run fails, the server ends this statement with the test.
        let sql = "INSERT INTO foreign_rows SELECT * FROM generate_series(1, 5000)";
        let _ = server.try_psql(server.superuser(), "postgres", sql);
    });
}

#[test]
fn rows_written_by_others_on_mysql_and_mariadb_are_not_own() {
    for version in MySql::available() {
        let server = MySql::start(&version, &[]);
        server.sql("CREATE DATABASE shop; CREATE TABLE shop.ten (n INT PRIMARY KEY)");
        server.sql("INSERT INTO shop.ten VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10)");
        server.sql("CREATE TABLE shop.more (n INT)");
        assert_foreign_rows_marked(&env_with_counter(), &server.url(), || {
            let _ = server.try_sql(
                server.superuser(),
                "INSERT INTO shop.more SELECT a.n FROM shop.ten a, shop.ten b, shop.ten c",
            );
        });
    }
}

#[test]
fn cost_learned_on_first_target_is_checked_on_each() {
    let Some(version) = Postgres::available().pop() else { return };
    let servers =
        [Postgres::start(&version, &[("fsync", "off")]), Postgres::start(&version, &[("fsync", "off")])];
    let (desk, urls) = (env_with_counter(), [servers[0].url(), servers[1].url()]);
    let load = desk.dyno(&args("load", &urls, &["run.sessions_per_schema=4"]));
    assert_eq!(load.code, 0, "{load:#?}");
    let run = || {
        let sets = [&WINDOW[..], &["run.sessions_per_schema=4"]].concat();
        let (_, record) = desk.json(&args("run", &urls, &sets));
        let expected_check = |at: usize| {
            let audit = record["targets"][at]["own"]["audit"].items();
            audit.iter().find(|check| check["check"] == "expected").unwrap().clone()
        };
        assert_eq!(record["status"], "valid", "{} {:#}", record["reasons"], record["audit"]);
        let marked =
            |at: usize| record["targets"][at]["own"]["whose"]["rows_written_per_s"]["marked"] == true;
        ([expected_check(0), expected_check(1)], [marked(0), marked(1)])
    };
    let (checks, marked) = run();
    for target_check in &checks {
        assert!(target_check["status"] == "pass", "{target_check:#}");
        assert!(target_check["detail"].text().contains("1.00 of each count"), "{target_check:#}");
    }
    assert_eq!(marked, [false, false]);
    // On the second target each update writes one more row.
    let trigger = "CREATE TABLE company_log (n INT);
        CREATE FUNCTION company_note() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN INSERT INTO company_log VALUES (NEW.n); RETURN NEW; END $$;
        CREATE TRIGGER company_note AFTER UPDATE ON company_counter FOR EACH ROW EXECUTE FUNCTION company_note();
        GRANT ALL ON company_log TO PUBLIC";
    servers[1].psql(trigger);
    let (checks, marked) = run();
    assert_eq!((&checks[0]["status"], &checks[1]["status"]), (&"pass".into(), &"warn".into()), "{checks:#?}");
    assert_eq!(marked, [false, true]);
}
