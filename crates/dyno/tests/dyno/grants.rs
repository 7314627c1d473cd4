//! `check --grants`: its statements suffice to load, run and drop, and no check then misses a privilege.

use crate::common::json::ExpectJson;
use crate::common::{TestEnv, short_run_args};
use dyno_testbed::{MySql, Postgres};

const DATA: [&str; 4] = ["--set", "data.scale=500 blocks", "--set", "data.scan_scale=100 blocks"];

fn args<'a>(head: &[&'a str], url: &'a str) -> Vec<&'a str> {
    [head, &DATA, &["--target", url]].concat()
}

/// The executable statements, with those about a user and a database that are only comments there.
fn statements(desk: &TestEnv, url: &str) -> Vec<String> {
    let output = desk.dyno(&["check", "--grants", "--target", url]);
    assert_eq!(output.code, 0, "{output:#?}");
    let made = ["-- CREATE USER ", "-- CREATE ROLE "];
    let lines =
        output.out.lines().filter(|line| !line.starts_with("--") || made.iter().any(|m| line.starts_with(m)));
    let lines = lines.map(|line| line.trim_start_matches("-- ").replace(" PASSWORD 'choose-a-password'", ""));
    let lines = lines.map(|line| line.replace(" IDENTIFIED BY 'choose-a-password'", ""));
    lines.filter(|line| !line.trim().is_empty()).collect()
}

/// Asserts that everything works for the user, and that no check names a missing privilege.
fn assert_enough(desk: &TestEnv, url: &str) {
    let (code, checked) = desk.json(&args(&["check"], url));
    assert_eq!(code, 0, "{checked:#}");
    for finding in checked["advice"].items() {
        assert!(!finding["way_out"].text().contains("GRANT"), "{finding:#}");
    }
    assert_eq!(desk.dyno(&args(&["load"], url)).code, 0);
    let write = ["run", "--set", "workload.update_pct=20", "--set", "workload.insert_pct=10"];
    let (code, record) = desk.json(&args(&short_run_args(&write), url));
    assert_eq!(code, 0, "{} {:#}", record["reasons"], record["audit"]);
    assert!(!record["audit"].to_string().contains("GRANT"), "{:#}", record["audit"]);
    assert_eq!(desk.dyno(&args(&["drop", "--yes"], url)).code, 0);
}

#[test]
fn printed_grants_are_sufficient_on_postgres() {
    for version in Postgres::available() {
        let server = Postgres::start(&version, &[]);
        let (desk, url) = (TestEnv::new(), server.url_of("Some \"one", "postgres"));
        for statement in statements(&desk, &url) {
            server.psql(&statement);
        }
        assert_enough(&desk, &url);
    }
}

#[test]
fn printed_grants_are_sufficient_on_mysql_and_mariadb() {
    for version in MySql::available() {
        let server = MySql::start(&version, &[]);
        let superuser = server.url();
        let database = superuser.rsplit('/').next().unwrap();
        let (desk, url) = (TestEnv::new(), server.url_of("some_one", database));
        for statement in statements(&desk, &url) {
            server.sql(&statement);
        }
        assert_enough(&desk, &url);
    }
}

#[test]
fn missing_privilege_is_named_in_each_check_it_skips() {
    let Some(version) = Postgres::available().pop() else { return };
    let server = Postgres::start(&version, &[]);
    server.psql(
        "CREATE ROLE poor LOGIN; GRANT CREATE ON DATABASE postgres TO poor; REVOKE SELECT ON pg_stat_wal FROM PUBLIC;
         REVOKE SELECT ON pg_stat_io FROM PUBLIC",
    );
    let (desk, url) = (TestEnv::new(), server.url_of("poor", "postgres"));
    let (_, checked) = desk.json(&args(&["check"], &url));
    for name in ["statistics", "disk_space"] {
        let finding = checked["advice"].items().iter().find(|f| f["check"] == name).unwrap();
        assert!(finding["way_out"].text().contains("GRANT pg_monitor TO poor;"), "{finding:#}");
    }
    assert_eq!(desk.dyno(&args(&["load"], &url)).code, 0);
    let (_, record) = desk.json(&args(&short_run_args(&["run", "--set", "workload.update_pct=50"]), &url));
    let skipped: Vec<&serde_json::Value> =
        record["audit"].items().iter().filter(|check| check["status"] == "skipped").collect();
    let named =
        |name: &str| skipped.iter().any(|c| c["check"] == name && c["detail"].text().contains("GRANT"));
    assert!(named("durable_commits"), "{skipped:#?}");
}

#[test]
fn grants_are_printed_for_every_engine_without_server() {
    let desk = TestEnv::new();
    for (url, words) in [
        ("oracle://me@db1/bench", "GRANT CREATE SESSION, CREATE TABLE TO me;"),
        ("postgres://me@nowhere.invalid/bench", "GRANT CONNECT, CREATE ON DATABASE bench TO me;"),
        ("mysql://me@nowhere.invalid/bench", "ON `bench`.* TO 'me'@'%';"),
        ("sqlite:a.db", "no users"),
    ] {
        let output = desk.dyno(&["check", "--grants", "--target", url]);
        assert!(output.code == 0, "{output:#?}");
        assert!(output.out.contains(words), "{output:#?}");
    }
}
