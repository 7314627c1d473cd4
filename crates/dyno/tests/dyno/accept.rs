//! `dyno check --accept` on each engine: what is proved, what is not proved and why, and what is wrong.

use dyno_testbed::{MySql, Postgres};
use serde_json::Value;

use crate::common::TestEnv;
use crate::common::json::ExpectJson;

/// The steps by name with their verdicts.
fn verdicts(accepted: &Value) -> Vec<(&str, &str)> {
    let steps = accepted["steps"].as_array().unwrap_or_else(|| panic!("{accepted:#}"));
    steps.iter().map(|step| (step["name"].text(), step["verdict"].text())).collect()
}

/// A finding of a step.
fn finding<'a>(accepted: &'a Value, step: &str, name: &str) -> &'a Value {
    let steps = accepted["steps"].items();
    let step = steps.iter().find(|one| one["name"] == step).unwrap();
    let findings = step["findings"].items();
    findings.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("no {name} in {step:#}"))
}

/// Asserts that every step of a server is proved and that the server creates no reports itself.
fn assert_accepted(desk: &TestEnv, url: &str) -> Value {
    let (code, accepted) = desk.json(&["check", "--accept", "--target", url, "--record", "accept.json"]);
    let expected =
        ["logon", "rights", "load", "types", "exactness", "plans", "errors", "break-off", "reports", "drop"];
    let verdict = |name: &'static str| (name, if name == "reports" { "not_applicable" } else { "proved" });
    assert_eq!(verdicts(&accepted), expected.map(verdict), "{accepted:#}");
    assert_eq!((code, accepted["verdict"].as_str()), (0, Some("proved")), "{accepted:#}");
    accepted
}

/// Asserts that the record contains none of `secrets`, and still states what was proved.
fn assert_masked(desk: &TestEnv, secrets: &[&str]) {
    let text = std::fs::read_to_string(desk.file("accept.json")).unwrap();
    for secret in secrets {
        assert!(!text.contains(secret), "{secret} is in {text}");
    }
    let record: Value = serde_json::from_str(&text).unwrap();
    let target = &record["targets"][0];
    assert_eq!(record["kind"], "acceptance");
    assert!(finding(target, "exactness", "client wait")["figures"]["commits_counted"].is_i64(), "{target:#}");
    assert_eq!(target["grants"], Value::Null);
}

#[test]
fn sqlite_passes_acceptance_and_leaves_no_file() {
    let desk = TestEnv::new();
    let (code, accepted) =
        desk.json(&["check", "--accept", "--target", "sqlite:secret-name.db", "--record", "accept.json"]);
    assert_eq!(code, 0, "{accepted:#}");
    assert_eq!(finding(&accepted, "load", "resume")["verdict"], "proved");
    assert_eq!(finding(&accepted, "exactness", "client wait")["figures"]["commits_counted"], 60);
    assert_eq!(finding(&accepted, "break-off", "break-off")["verdict"], "proved");
    assert!(!desk.file("secret-name.db").exists());
    assert_masked(&desk, &["secret-name", desk.path().to_str().unwrap()]);
    let (code, memory) = desk.json(&["check", "--accept", "--target", "sqlite::memory:"]);
    assert_eq!(code, 0, "{memory:#}");
    assert_eq!(finding(&memory, "load", "break-off")["verdict"], "not_applicable");
}

#[test]
fn acceptance_check_refuses_and_keeps_existing_data() {
    let desk = TestEnv::new();
    let size = ["--set", "data.scale=100 blocks", "--target", "sqlite:mine.db"];
    assert_eq!(desk.dyno(&[&["load"], &size[..]].concat()).code, 0);
    let refused = desk.dyno(&["check", "--accept", "--target", "sqlite:mine.db"]);
    assert!(refused.code == 3, "{refused:#?}");
    assert!(refused.err.contains("contains no Dyno data"), "{refused:#?}");
    let again = desk.dyno(&[&["load"], &size[..]].concat());
    assert!(again.err.contains("already exists"), "{again:#?}");
}

#[test]
fn postgres_passes_acceptance_and_record_is_anonymous() {
    for version in Postgres::newest_or_all() {
        let (server, desk) = (Postgres::start(&version, &[]), TestEnv::new());
        server.psql("CREATE DATABASE shopdata");
        server.psql(
            "CREATE ROLE acceptor LOGIN PASSWORD 'topsecret'; GRANT pg_monitor TO acceptor;
             GRANT CREATE ON DATABASE shopdata TO acceptor",
        );
        let accepted = assert_accepted(&desk, &server.url_of("acceptor", "shopdata"));
        for name in ["client wait", "server wait", "client nowait", "server nowait"] {
            let figures = &finding(&accepted, "exactness", name)["figures"];
            assert_eq!(figures["rows_updated_counted"], 320, "{name}: {figures}");
            assert_eq!(figures["commits_counted"], figures["commits_expected"], "{name}: {figures}");
        }
        let data_dir = server.data_dir();
        let secrets =
            ["acceptor", "shopdata", "topsecret", "127.0.0.1", "localhost", data_dir.to_str().unwrap()];
        assert_masked(&desk, &secrets);
        let left = "SELECT COUNT(*) FROM pg_namespace WHERE nspname = 'dyno'";
        assert_eq!(server.try_psql("acceptor", "shopdata", left).unwrap().trim(), "0");
    }
}

#[test]
fn mysql_and_mariadb_pass_acceptance() {
    for version in MySql::available() {
        let (server, desk) = (MySql::start(&version, &[]), TestEnv::new());
        let accepted = assert_accepted(&desk, &server.url());
        for name in ["client wait", "server wait"] {
            let figures = &finding(&accepted, "exactness", name)["figures"];
            assert_eq!(figures["commits_counted"], figures["commits_expected"], "{name}: {figures}");
        }
        assert_eq!(finding(&accepted, "errors", "deadlock")["verdict"], "proved");
        assert_masked(&desk, &["127.0.0.1", "localhost", server.data_dir().to_str().unwrap()]);
    }
}

#[test]
fn acceptance_without_track_counts_is_not_proved_with_reason() {
    let Some(version) = Postgres::available().pop() else { return };
    let (server, desk) = (Postgres::start(&version, &[("track_counts", "off")]), TestEnv::new());
    let (code, accepted) = desk.json(&["check", "--accept", "--target", &server.url()]);
    assert_eq!((code, accepted["verdict"].as_str()), (1, Some("not_proved")), "{accepted:#}");
    let exact = finding(&accepted, "exactness", "client wait");
    assert_eq!(exact["verdict"], "not_proved");
    assert!(exact["observed"].text().contains("track_counts"), "{exact:#}");
    let counters = finding(&accepted, "rights", "counters");
    assert_eq!(counters["verdict"], "not_proved");
    assert!(counters["observed"].text().contains("ALTER SYSTEM SET track_counts"), "{counters:#}");
}

#[test]
fn missing_postgres_grants_are_given_as_one_script() {
    let Some(version) = Postgres::available().pop() else { return };
    let (server, desk) = (Postgres::start(&version, &[]), TestEnv::new());
    server.psql("CREATE ROLE poor LOGIN");
    let url = server.url_of("poor", "postgres");
    let page = desk.dyno(&["check", "--accept", "--target", &url]);
    assert_eq!(page.code, 1, "{page:#?}");
    let script: String = page.out.split("for an administrator to run:\n").nth(1).unwrap().to_owned();
    let (_, accepted) = desk.json(&["check", "--accept", "--target", &url]);
    assert_eq!(finding(&accepted, "rights", "privileges")["verdict"], "not_proved");
    assert_eq!(finding(&accepted, "types", "data")["verdict"], "not_proved");
    assert_eq!(finding(&accepted, "drop", "drop")["verdict"], "proved");
    for grant in script.lines().filter(|line| !line.trim().is_empty()) {
        server.psql(grant);
    }
    let (code, accepted) = desk.json(&["check", "--accept", "--target", &url]);
    assert_eq!((code, accepted["grants"].as_str()), (0, None), "{script}\n{accepted:#}");
}

#[test]
fn acceptance_rejects_postgres_plan_without_index() {
    let Some(version) = Postgres::available().pop() else { return };
    let (server, desk) = (Postgres::start(&version, &[]), TestEnv::new());
    server.psql(
        "ALTER ROLE postgres SET enable_indexscan = off; ALTER ROLE postgres SET enable_bitmapscan = off",
    );
    server.psql("ALTER ROLE postgres SET enable_indexonlyscan = off");
    let page = desk.dyno(&["check", "--accept", "--target", &server.url()]);
    assert!(page.code == 1, "{page:#?}");
    assert!(page.out.contains("6 ✗ wrong"), "{page:#?}");
    assert!(page.out.contains("lookup: no line of the plan reaches its rows by an index"), "{page:#?}");
}

#[test]
fn interrupted_postgres_acceptance_drops_its_objects() {
    let Some(version) = Postgres::available().pop() else { return };
    let (server, desk) = (Postgres::start(&version, &[]), TestEnv::new());
    let mut accept = desk.start(&["check", "--accept", "--target", &server.url()]);
    accept.wait_for_line("step 5");
    accept.signal("INT");
    let output = accept.wait();
    assert!(output.code == 130, "{output:#?}");
    assert!(output.err.contains("the objects it created were dropped"), "{output:#?}");
    assert_eq!(server.psql("SELECT COUNT(*) FROM pg_namespace WHERE nspname = 'dyno'").trim(), "0");
}
