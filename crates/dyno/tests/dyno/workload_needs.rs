//! Checks, audit and hints depend on what the workload does, not on keys of a workload that does not run.

use crate::common::json::ExpectJson;
use crate::common::{TestEnv, find_check, short_run_args};
use dyno_testbed::Postgres;
use serde_json::Value;

/// A workload with one statement on the table `orders`.
fn write_workload(desk: &TestEnv, name: &str, writes: bool, sql: &str) {
    let head = if writes { "writes = true\n" } else { "" };
    let text = format!(
        "name = \"{name}\"\n{head}[draw]\nid = {{ uniform = [1, 100] }}\n[transaction.one]\nsql = \"one.sql\"\n"
    );
    std::fs::create_dir_all(desk.file(name)).unwrap();
    desk.write(&format!("{name}/workload.toml"), &text);
    desk.write(&format!("{name}/one.sql"), sql);
}

fn env_with_workloads() -> TestEnv {
    let desk = TestEnv::new();
    write_workload(&desk, "look", false, "SELECT pad FROM orders WHERE id = :id");
    write_workload(&desk, "pay", true, "UPDATE orders SET pad = 'paid' WHERE id = :id");
    desk
}

/// The table `orders` with 100 rows, for any engine.
fn orders_sql() -> String {
    let rows: Vec<String> = (1..=100).map(|id| format!("({id}, '{}')", "x".repeat(200))).collect();
    format!(
        "CREATE TABLE orders (id INTEGER PRIMARY KEY, pad TEXT); INSERT INTO orders VALUES {}",
        rows.join(", ")
    )
}

/// Cases, each with whether the workload writes and whether it uses Dyno's test tables.
const CASES: [(&str, &[&str], bool, bool); 8] = [
    ("block, reading", &["data.scale=500 blocks", "workload.update_pct=0"], false, true),
    ("block, updating", &["data.scale=500 blocks", "workload.update_pct=20"], true, true),
    ("block, inserting", &["data.scale=500 blocks", "workload.insert_pct=10"], true, true),
    ("custom, reading", &["workload.folder=look"], false, false),
    ("custom, writing", &["workload.folder=pay"], true, false),
    ("point-select", &["workload.folder=@point-select"], false, false),
    ("tpcb", &["workload.folder=@tpcb"], true, false),
    ("orders", &["workload.folder=@orders"], true, false),
];

/// The findings of `check` with two sessions.
fn findings(desk: &TestEnv, url: &str, sets: &[&str]) -> Vec<Value> {
    let mut args = vec!["check", "--target", url, "--set", "run.sessions_per_schema=2"];
    sets.iter().for_each(|set| args.extend(["--set", set]));
    let (_, json) = desk.json(&args);
    json["advice"].as_array().unwrap_or_else(|| panic!("{sets:?}: {json:#}")).clone()
}

fn finding_text<'a>(findings: &'a [Value], check: &str) -> Option<&'a str> {
    findings.iter().find(|one| one["check"] == check).and_then(|one| one["found"].as_str())
}

/// Loads `@tpcb` so that its tables have a size.
fn load(desk: &TestEnv, url: &str) {
    let output = desk.dyno(&["load", "--target", url, "--set", "workload.folder=@tpcb"]);
    assert_eq!(output.code, 0, "{output:#?}");
}

#[test]
fn check_describes_each_workload_on_sqlite() {
    let desk = env_with_workloads();
    rusqlite::Connection::open(desk.file("it.db")).unwrap().execute_batch(&orders_sql()).unwrap();
    load(&desk, "sqlite:it.db");
    for (name, sets, writes, on_test_tables) in CASES {
        let findings = findings(&desk, "sqlite:it.db", sets);
        assert_eq!(finding_text(&findings, "writers").is_some(), writes, "{name}: {findings:#?}");
        assert_eq!(finding_text(&findings, "disk space").is_some(), on_test_tables, "{name}: {findings:#?}");
        let cache = finding_text(&findings, "page cache").unwrap();
        let subject = if on_test_tables { "the data " } else { "the file " };
        assert!(cache.starts_with(subject), "{name}: {cache}");
    }
}

#[test]
fn custom_workload_runs_with_unsupported_test_data_block_size() {
    let desk = env_with_workloads();
    let small = rusqlite::Connection::open(desk.file("small.db")).unwrap();
    small.execute_batch(&format!("PRAGMA page_size = 1024; {}", orders_sql())).unwrap();
    drop(small);
    // A key of the block workload that a server's plan may contain for other runs.
    let wish = ["--set", "data.block_size=8K"];
    let set = ["--target", "sqlite:small.db", "--set", "workload.folder=look"];
    let (code, record) = desk.json(&short_run_args(&[&["run"], &set[..], &wish].concat()));
    assert_eq!((code, record["status"].as_str()), (0, Some("valid")), "{:#}", record["reasons"]);
    let checked = desk.dyno(&[&["check"], &set[..], &wish].concat());
    assert_eq!(checked.code, 0, "{checked:#?}");
    let block = desk.dyno(&["check", "--target", "sqlite:small.db", "--set", "data.scale=500 blocks"]);
    assert!(block.out.contains("pages of 1024 bytes"), "{block:#?}");
}

#[test]
fn check_describes_each_workload_on_postgres() {
    for version in Postgres::newest_or_all() {
        let server = Postgres::start(&version, &[]);
        let (desk, url) = (env_with_workloads(), server.url());
        server.psql(&orders_sql());
        load(&desk, &url);
        for (name, sets, writes, on_test_tables) in CASES {
            let findings = findings(&desk, &url, sets);
            let checkpoints = finding_text(&findings, "checkpoints").unwrap();
            assert_eq!(checkpoints.contains("only reads"), !writes, "{name}: {checkpoints}");
            assert_eq!(
                finding_text(&findings, "disk_space").is_some(),
                on_test_tables,
                "{name}: {findings:#?}"
            );
            let subject = if on_test_tables { "the data has " } else { "the workload's tables have " };
            // The tables of two workloads do not exist.
            match finding_text(&findings, "cache") {
                Some(cache) => {
                    assert!(cache.starts_with(subject), "{name}: {cache}");
                    assert!(!cache.contains("0.0 B"), "{name}: {cache}");
                }
                None => assert!(["point-select", "orders"].contains(&name), "{name}: {findings:#?}"),
            }
        }
    }
}

#[test]
fn check_and_run_agree_on_standby() {
    for version in Postgres::newest_or_all() {
        let primary = Postgres::start(&version, &[]);
        primary.psql(&orders_sql());
        let standby = primary.standby();
        let (desk, url) = (env_with_workloads(), standby.url());
        for (folder, code) in [("look", 0), ("pay", 2)] {
            let set = format!("workload.folder={folder}");
            let args =
                ["--target", url.as_str(), "--set", set.as_str(), "--set", "run.sessions_per_schema=2"];
            for command in ["check", "run"] {
                let args = [&[command], &args[..]].concat();
                let output = desk.dyno(&if command == "run" { short_run_args(&args) } else { args });
                assert_eq!(output.code, code, "{command} {folder}: {output:#?}");
                let refused = output.err.contains("it accepts only reads, and pay writes");
                assert_eq!(refused, code == 2, "{command} {folder}: {output:#?}");
            }
        }
    }
}

#[test]
fn standby_accepts_only_read_only_mix() {
    for version in Postgres::newest_or_all() {
        let primary = Postgres::start(&version, &[]);
        let (desk, folder) = (TestEnv::new(), "workload.folder=@key-value");
        let load = desk.dyno(&["load", "--target", &primary.url(), "--set", folder]);
        assert_eq!(load.code, 0, "{load:#?}");
        let standby = primary.standby();
        let url = standby.url();
        for (mix, code) in [("c", 0), ("b", 2)] {
            let mix = format!("workload.mix={mix}");
            let args = ["--target", &url, "--set", folder, "--set", &mix];
            let checked = desk.dyno(&[&["check"], &args[..]].concat());
            assert_eq!(checked.code, code, "{mix}: {checked:#?}");
            let run = desk.dyno(&short_run_args(&[&["run"], &args[..]].concat()));
            assert_eq!(run.code, code, "{mix}: {run:#?}");
            let refused = run.err.contains("it accepts only reads, and key-value writes");
            assert_eq!(refused, code == 2, "{mix}: {run:#?}");
        }
    }
}

#[test]
fn custom_workload_shares_are_kept_on_primary_and_standby() {
    for version in Postgres::newest_or_all() {
        let primary = Postgres::start(&version, &[]);
        let standby = primary.standby();
        let (desk, urls) = (TestEnv::new(), [primary.url(), standby.url()]);
        let select = ["--set", "workload.folder=@point-select"];
        let load = desk.dyno(&[&["load", "--target", &urls[0]], &select[..]].concat());
        assert_eq!(load.code, 0, "{load:#?}");
        let targets = ["run", "--target", &urls[0], "--target", &urls[1], "--set", "target.data=shared"];
        let more = ["--set", "run.sessions_per_schema=4"];
        let (code, record) = desk.json(&short_run_args(&[&targets[..], &select, &more].concat()));
        assert_eq!((code, record["status"].as_str()), (0, Some("valid")), "{:#}", record["reasons"]);
        for target in record["targets"].items() {
            let audit = target["own"]["audit"].items();
            let mix = audit.iter().find(|check| check["check"] == "mix").unwrap();
            assert_eq!(
                (&mix["status"], &mix["expected"]),
                (&"pass".into(), &"100 % point".into()),
                "{mix:#}"
            );
        }
    }
}

#[test]
fn run_without_successful_transaction_reports_errors() {
    let Some(version) = Postgres::available().pop() else { return };
    let server = Postgres::start(&version, &[]);
    server.psql(
        "CREATE FUNCTION always() RETURNS int LANGUAGE plpgsql AS $$
         BEGIN RAISE EXCEPTION 'not today' USING ERRCODE = '40001'; END $$",
    );
    let desk = TestEnv::new();
    write_workload(&desk, "never", false, "SELECT always() WHERE :id > 0");
    let url = server.url();
    let args =
        ["run", "--target", &url, "--set", "workload.folder=never", "--set", "run.sessions_per_schema=1"];
    let (code, record) = desk.json(&short_run_args(&args));
    assert_ne!(code, 0, "{record:#}");
    let operations = find_check(&record, "operations")["detail"].text();
    assert!(operations.contains("40001"), "{operations}");
    assert!(operations.contains("fix the cause"), "{operations}");
    assert!(!operations.contains("work_unit"), "{operations}");
}
