//! Wrong data is found before the run, not after it.

use crate::common::json::ExpectJson;
use crate::common::{CommandOutput, TestEnv, find_check, short_run_args};
use dyno_testbed::{MySql, Postgres};

const DATA: [&str; 4] = ["--set", "data.scale=400 blocks", "--set", "data.scan_scale=100 blocks"];

fn args<'a>(head: &[&'a str], url: &'a str) -> Vec<&'a str> {
    [head, &DATA, &["--target", url]].concat()
}

/// A run and a load both report `what`, nothing is started, and a load with --replace repairs it.
fn assert_found(desk: &TestEnv, url: &str, problem: &str, damage: &str) {
    let names = |said: &CommandOutput| said.err.contains(problem) && said.err.contains("hint: ");
    let run = desk.dyno(&args(&short_run_args(&["run"]), url));
    assert!(run.code == 3, "{damage}: {run:#?}");
    assert!(names(&run), "{damage}: {run:#?}");
    assert!(desk.dyno(&["list"]).err.contains("no runs"), "{damage}: the run was started");
    let check = desk.dyno(&args(&["check"], url));
    assert!(check.code == 3, "{damage}: {check:#?}");
    let load = desk.dyno(&args(&["load"], url));
    assert!(load.code == 3, "{damage}: {load:#?}");
    assert!(names(&load), "{damage}: {load:#?}");
    let load = desk.dyno(&args(&["load", "--replace"], url));
    assert!(load.code == 0, "{damage}: {load:#?}");
    assert!(load.err.contains("loading again"), "{damage}: {load:#?}");
    let check = desk.dyno(&args(&["check"], url));
    assert_eq!(check.code, 0, "{damage}: {check:#?}");
}

/// Damage done to the data, and the expected words of the refusal.
const DAMAGES: [(&str, &str); 9] = [
    ("DELETE FROM {t} WHERE custid % 5 = 0", "rows"),
    ("DELETE FROM {t} WHERE custid = 400", "400"),
    ("DELETE FROM {t}", "row"),
    ("UPDATE {t} SET custid = custid + 1000000", "keys from"),
    ("UPDATE {t} SET custid = custid - 1 WHERE custid % 4 = 2", "with key"),
    ("UPDATE {t} SET c7 = c8", "other text"),
    ("UPDATE {t} SET ver = ver + 1", "none of Dyno's values"),
    ("DELETE FROM {s} WHERE custid % 2 = 0", "row"),
    ("UPDATE {s} SET c20 = c19", "other text"),
];

#[test]
fn changed_data_on_sqlite_is_detected_before_run() {
    let desk = TestEnv::new();
    let file = desk.file("a.db");
    let url = format!("sqlite:{}", file.display());
    assert_eq!(desk.dyno(&args(&["load"], &url)).code, 0);
    let mut damages = DAMAGES.to_vec();
    // Two rows share a key here, and the engine determines which of the affected counts is seen first.
    damages[4].1 = "secondary key";
    damages.extend([
        ("DROP INDEX dyno_rows_1_custid", "index"),
        ("CREATE INDEX mine ON {t}(c2)", "mine"),
        ("CREATE TRIGGER mine AFTER UPDATE ON {t} BEGIN SELECT 1; END", "mine"),
        ("DROP TABLE {s}", "dyno_scan_1"),
        ("ALTER TABLE {t} RENAME COLUMN c7 TO mine", "other columns"),
        ("ALTER TABLE {s} ADD COLUMN mine TEXT", "other columns"),
    ]);
    for (damage, what) in damages {
        let sql = damage.replace("{t}", "dyno_rows_1").replace("{s}", "dyno_scan_1");
        rusqlite::Connection::open(&file).unwrap().execute_batch(&sql).unwrap();
        assert_found(&desk, &url, what, &sql);
    }
}

#[test]
fn changed_data_on_postgres_is_detected_before_run() {
    assert_found_on_postgres(&DAMAGES);
}

#[test]
fn changes_to_postgres_tables_are_found_before_the_run() {
    assert_found_on_postgres(&[
        ("TRUNCATE {t}", "0 blocks"),
        ("DELETE FROM {t} WHERE custid > 300; VACUUM {t}", "but the load wrote"),
        ("DROP INDEX dyno.rows_1_custid", "rows_1_custid"),
        ("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'dyno.rows_1_custid'::regclass", "index"),
        ("CREATE INDEX mine ON {t} (c2)", "further index mine"),
        ("CLUSTER {t} USING rows_1_custid", "in the order of their keys (correlation 1.00"),
        ("CREATE RULE mine AS ON UPDATE TO {t} DO ALSO SELECT 1", "rule mine"),
        ("ALTER TABLE {t} ADD CONSTRAINT mine CHECK (ver >= 0)", "constraint mine"),
        ("ALTER TABLE {t} ADD CONSTRAINT mine PRIMARY KEY (custid)", "constraint mine"),
        ("ALTER TABLE {t} ENABLE ROW LEVEL SECURITY", "ROW LEVEL SECURITY"),
        ("CREATE PUBLICATION mine FOR TABLE {t}", "publication mine"),
        (
            "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END';
                 CREATE TRIGGER mine BEFORE UPDATE ON {t} FOR EACH ROW EXECUTE FUNCTION f()",
            "trigger mine",
        ),
        ("DROP TABLE {s}", "scan_1"),
        ("ALTER TABLE {t} DROP COLUMN c20", "c20"),
        ("ALTER TABLE {s} RENAME COLUMN c7 TO mine", "c7"),
    ]);
}

/// Each damage is found on a server, and repaired.
fn assert_found_on_postgres(damages: &[(&str, &str)]) {
    for version in Postgres::newest_or_all() {
        let server = Postgres::start(&version, &[("fsync", "off")]);
        let url = server.url();
        let desk = TestEnv::new();
        assert_eq!(desk.dyno(&args(&["load"], &url)).code, 0);
        for (damage, what) in damages {
            let sql = damage.replace("{t}", "dyno.rows_1").replace("{s}", "dyno.scan_1");
            // VACUUM cannot run in a transaction with other statements.
            if sql.contains("VACUUM") {
                sql.split("; ").for_each(|statement| drop(server.psql(statement)));
            } else {
                server.psql(&sql);
            }
            assert_found(&desk, &url, what, &sql);
        }
    }
}

#[test]
fn changed_data_on_mysql_and_mariadb_is_detected_and_repaired() {
    for version in MySql::available() {
        let server = MySql::start(&version, &[]);
        let (url, desk) = (server.url(), TestEnv::new());
        let load = desk.dyno(&args(&["load"], &url));
        assert_eq!(load.code, 0, "{load:#?}");
        for (damage, what) in [
            ("DELETE FROM dyno_rows_1 WHERE custid % 5 = 0", "row"),
            ("UPDATE dyno_rows_1 SET c7 = c8 WHERE custid IS NOT NULL", "other text"),
            ("DROP INDEX dyno_rows_1_custid ON dyno_rows_1", "index"),
            ("DROP TABLE dyno_scan_1", "dyno_scan_1"),
            ("TRUNCATE dyno_rows_1", "row"),
            ("ALTER TABLE dyno_rows_1 DROP COLUMN c20", "c20"),
            ("DELETE FROM dyno_meta", "format"),
        ] {
            server.sql(damage);
            assert_found(&desk, &url, what, damage);
        }
    }
}

#[test]
fn damaged_unfinished_load_is_replaced() {
    let Some(version) = Postgres::available().pop() else { return };
    let server = Postgres::start(&version, &[("fsync", "off")]);
    let (url, desk) = (server.url(), TestEnv::new());
    assert_eq!(desk.dyno(&args(&["load"], &url)).code, 0);
    for damage in [
        "DELETE FROM dyno.meta WHERE key = 'finished_at'; DROP TABLE dyno.rows_1",
        "DELETE FROM dyno.meta WHERE key = 'finished_at'; TRUNCATE dyno.rows_1",
        "DROP TABLE dyno.meta",
        "DELETE FROM dyno.meta WHERE key = 'rows'",
    ] {
        server.psql(damage);
        let load = desk.dyno(&args(&["load", "--replace"], &url));
        assert_eq!(load.code, 0, "{damage}: {load:#?}");
        let run = desk.dyno(&args(&short_run_args(&["run"]), &url));
        assert_eq!(run.code, 0, "{damage}: {run:#?}");
    }
}

#[test]
fn drop_lists_what_it_keeps_and_why() {
    let desk = TestEnv::new();
    let file = desk.file("a.db");
    let url = format!("sqlite:{}", file.display());
    assert_eq!(desk.dyno(&args(&["load"], &url)).code, 0);
    rusqlite::Connection::open(&file).unwrap().execute_batch("CREATE TABLE mine(a)").unwrap();
    let (code, dropped) = desk.json(&args(&["drop", "--yes"], &url));
    assert_eq!(code, 0);
    let left: Vec<&str> = dropped["left"].items().iter().map(|left| left["name"].text()).collect();
    assert_eq!(left, ["mine", file.to_str().unwrap()], "{dropped}");
    let again = desk.dyno(&args(&["drop", "--yes"], &url));
    assert!(again.err.contains("contains nothing that Dyno created"), "{again:#?}");
    assert!(again.err.contains("left object mine: "), "{again:#?}");
    let Some(version) = Postgres::available().pop() else { return };
    let server = Postgres::start(&version, &[]);
    assert_eq!(desk.dyno(&args(&["load"], &server.url())).code, 0);
    server.psql("CREATE TABLE dyno.mine(a int)");
    let output = desk.dyno(&args(&["drop", "--yes"], &server.url()));
    for words in [
        "left table dyno.mine: it is not in the list",
        "left schema dyno: it existed before the load, or contains",
    ] {
        assert!(output.code == 0, "{output:#?}");
        assert!(output.err.contains(words), "{output:#?}");
    }
    let again = desk.dyno(&args(&["drop", "--yes"], &server.url()));
    assert!(again.code == 0, "{again:#?}");
    assert!(again.err.contains("left table dyno.mine"), "{again:#?}");
}

#[test]
fn data_changed_by_own_updates_is_accepted() {
    let test = |desk: &TestEnv, url: &str| {
        assert_eq!(desk.dyno(&args(&["load"], url)).code, 0);
        for redo in ["workload.redo=heavy", "workload.redo=lite"] {
            let run =
                ["run", "--set", "workload.update_pct=100", "--set", redo, "--set", "workload.work_unit=8"];
            let run = desk.dyno(&args(&short_run_args(&run), url));
            assert_eq!(run.code, 0, "{run:#?}");
        }
        let again = desk.dyno(&args(&["load"], url));
        assert!(again.code == 0, "{again:#?}");
        assert!(again.err.contains("already"), "{again:#?}");
    };
    let desk = TestEnv::new();
    test(&desk, &format!("sqlite:{}", desk.file("a.db").display()));
    if let Some(version) = Postgres::available().last() {
        test(&TestEnv::new(), &Postgres::start(version, &[]).url());
    }
}

#[test]
fn own_deletions_on_postgres_avoid_full_key_count() {
    for version in Postgres::available() {
        let server = Postgres::start(&version, &[("log_statement", "all")]);
        let (url, desk) = (server.url(), TestEnv::new());
        let counted =
            || server.log().matches("SELECT count(*), min(custid), max(custid), sum(custid) FROM").count();
        let load = || desk.dyno(&args(&["load"], &url));
        assert_eq!(load().code, 0);
        let churn = ["run", "--set", "workload.insert_pct=40", "--set", "workload.work_unit=8"];
        for _ in 0..2 {
            let run = desk.dyno(&args(&short_run_args(&churn), &url));
            assert_eq!(run.code, 0, "{run:#?}");
        }
        let deleted = server.psql("SELECT pg_stat_get_tuples_deleted('dyno.rows_1'::regclass)");
        assert_ne!(deleted, "0");
        assert_eq!((load().code, counted()), (0, 0), "{deleted} own deletions");
        // Another user deletes one more row, and the repaired data is checked once more.
        server.psql(
            "CREATE TEMP TABLE t AS SELECT * FROM dyno.rows_1 WHERE custid = 123;
             DELETE FROM dyno.rows_1 WHERE custid = 123; INSERT INTO dyno.rows_1 SELECT * FROM t",
        );
        assert_eq!((load().code, counted()), (0, 1));
        assert_eq!((load().code, counted()), (0, 1));
        server.psql("DELETE FROM dyno.rows_1 WHERE custid = 123");
        assert_eq!((load().code, counted()), (3, 2));
    }
}

#[test]
fn rows_moved_together_by_updates_are_noted_but_not_a_fault() {
    let Some(version) = Postgres::available().last().cloned() else { return };
    let server = Postgres::start(&version, &[("fsync", "off")]);
    let (url, desk) = (server.url(), TestEnv::new());
    assert_eq!(desk.dyno(&args(&["load"], &url)).code, 0);
    let finding = || {
        let (code, record) = desk.json(&args(&short_run_args(&["run"]), &url));
        assert_eq!(code, 0, "{record:#}");
        let data = find_check(&record, "data");
        format!("{}: {}", data["status"].text(), data["detail"].text())
    };
    assert!(finding().starts_with("pass: "), "{}", finding());
    // Ranges of ten keys in a shuffled order, as updates of ten rows each leave them. A block has room for
    // some versions of its row before the row moves.
    server.psql(
        "DO $$ BEGIN FOR pass IN 1..6 LOOP FOR range IN 0..39 LOOP
           FOR key IN range * 7 % 40 * 10 + 1 .. range * 7 % 40 * 10 + 10 LOOP
             UPDATE dyno.rows_1 SET c2 = c2 WHERE custid = key;
         END LOOP; END LOOP; END LOOP; END $$",
    );
    let warning = finding();
    assert!(warning.starts_with("warn: table dyno.rows_1 has "), "{warning}");
    assert!(warning.contains("moved rows together"), "{warning}");
    let check_output = desk.dyno(&args(&["check"], &url));
    let check_text = format!("{}{}", check_output.out, check_output.err);
    assert!(check_output.code == 0, "{check_output:#?}");
    assert!(check_text.contains("load --replace"), "{check_output:#?}");
    assert_eq!(desk.dyno(&args(&["load", "--replace"], &url)).code, 0);
    assert!(finding().starts_with("pass: "), "{}", finding());
}
