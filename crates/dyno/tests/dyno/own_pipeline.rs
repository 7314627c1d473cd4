//! Transactions whose requests are sent together, on PostgreSQL; on other engines the folder runs without
//! that.

use crate::common::json::ExpectJson;
use crate::common::{TestEnv, assert_passes, find_check};
use dyno_testbed::Postgres;
use serde_json::Value;

/// Transfers in all forms: without waits, with expected rows, with a number for later steps, with loops, and
/// with a rollback.
const PIPED: &str = r#"
name = "piped"
writes = true

[table.piped]
rows = 20
primary_key = "id"
[table.piped.columns]
id = { type = "integer", expr = "row" }
balance = { type = "integer", value = 1000 }

[draw]
from = { uniform = [1, 20] }
to = { expr = "from % 20 + 1" }
amount = { uniform = [1, 100] }
times = { uniform = [0, 3] }

[transaction.blind]
pipeline = true
isolation = "serializable"
retries = 50
steps = [
  { sql = "UPDATE piped SET balance = balance - :amount WHERE id = :from" },
  { sql = "SELECT balance FROM piped WHERE id = :from" },
  { sql = "UPDATE piped SET balance = balance + :amount WHERE id = :to" },
]

[transaction.checked]
pipeline = true
isolation = "serializable"
retries = 50
steps = [
  { sql = "UPDATE piped SET balance = balance - :amount WHERE id = :from", rows = 1 },
  { sql = "UPDATE piped SET balance = balance + :amount WHERE id = :to", rows = 1 },
]

[transaction.bounded]
pipeline = true
isolation = "serializable"
retries = 50
steps = [
  { sql = "UPDATE piped SET balance = balance - :amount WHERE id = :from" },
  { sql = "SELECT balance, 'x' FROM piped WHERE id = :from", read = ["left", "said"], rows = 1 },
  { if = "left < 0", steps = [{ rollback = true }] },
  { repeat = "times", steps = [{ sql = "SELECT id FROM piped WHERE id = :to AND :said = 'x'", rows = 1 }] },
  { sql = "UPDATE piped SET balance = balance + :amount WHERE id = :to" },
]

[transaction.regret]
pipeline = true
commit = "end"
steps = [
  { sql = "UPDATE piped SET balance = balance + 1 WHERE id = :from" },
  { rollback = true },
]

[transaction.look]
pipeline = true
commit = "end"
steps = [{ sql = "SELECT balance FROM piped WHERE id = :from" }]

[[invariant]]
name = "money"
sql = "SELECT SUM(balance) FROM piped"
"#;

fn env_with_workload(toml: &str) -> TestEnv {
    let desk = TestEnv::new();
    std::fs::create_dir(desk.file("piped")).unwrap();
    desk.write("piped/workload.toml", toml);
    desk
}

fn run_dyno(desk: &TestEnv, command: &str, url: &str, sets: &[&str], more: &[&str]) -> String {
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
    let head = [command, "--target", url, "--set", "workload.folder=piped"];
    let output = desk.dyno(&[&head[..], &sets, more].concat());
    assert_eq!(output.code, 0, "{output:#?}");
    output.out
}

/// Runs some transactions of four sessions.
fn run(desk: &TestEnv, url: &str, sets: &[&str]) -> Value {
    let few = ["run.sessions_per_schema=4", "run.ops_per_session=150", "run.warmup=0s"];
    serde_json::from_str(&run_dyno(desk, "run", url, &[&few[..], sets].concat(), &["--json"])).unwrap()
}

fn assert_proved(record: &Value) {
    assert_eq!(record["status"], "valid", "{}", record["reasons"]);
    for name in ["invariants", "commits_whole", "operations"] {
        assert_passes(record, name);
    }
    let whole = find_check(record, "commits_whole");
    if record["errors"].items().is_empty() {
        assert_eq!(whole["expected"], whole["observed"], "{whole:#}");
    }
}

#[test]
fn pipelined_requests_on_postgres_give_the_same_outcome() {
    for version in Postgres::newest_or_all() {
        let server = Postgres::start(&version, &[("autovacuum", "off")]);
        let (desk, url) = (env_with_workload(PIPED), server.url());
        run_dyno(&desk, "load", &url, &[], &[]);
        // A conflict and a refused transfer write other numbers of rows than expected. A single session has no
        // conflict, and accounts this full refuse no transfer, however many the warm-up makes.
        server.psql("UPDATE piped SET balance = 1000000");
        let record = run(&desk, &url, &["run.warmup=1s", "run.sessions_per_schema=1"]);
        assert_proved(&record);
        let expected = find_check(&record, "expected");
        assert_eq!(expected["status"], "pass", "{expected:#}");
        server.psql("UPDATE piped SET balance = 1000");
        for sets in [
            &["run.threads=1"][..],
            &["run.threads=4"],
            &["run.threads=4", "workload.protocol=extended"],
            &["run.threads=1", "workload.protocol=simple"],
            &["workload.connect=transaction"],
        ] {
            assert_proved(&run(&desk, &url, sets));
        }
        // Conflicts in the middle of a pipeline are rolled back and retried.
        assert_eq!(record["workload"]["pipelined"][0]["round_trips"], serde_json::json!([1, 1]));
        let shown = desk.dyno(&["show", "last"]).out;
        assert!(shown.contains("pipelined, blind 1 instead of 5; checked 2 instead of 4"), "{shown}");
        let many = ["run.sessions_per_schema=16", "run.threads=2", "run.ops_per_session=40"];
        let record = run(&desk, &url, &many);
        assert_proved(&record);
        let retried = |error: &Value| error["code"] == "40001" && error["retried"].as_u64() > Some(0);
        assert!(record["errors"].items().iter().any(retried), "{}", record["errors"]);
    }
}

/// Megabytes in both directions: neither side blocks the other.
#[test]
fn pipelined_long_values_and_results_do_not_deadlock() {
    let Some(version) = Postgres::available().into_iter().next() else { return };
    let server = Postgres::start(&version, &[("autovacuum", "off")]);
    let toml = r#"
name = "piped"
[draw]
long = { text = 900_000 }
[transaction.long]
pipeline = true
commit = "end"
steps = [{ repeat = 10, steps = [{ sql = "SELECT repeat('x', 5000000), length(:long)" }] }]
"#;
    let (desk, url) = (env_with_workload(toml), server.url());
    for threads in ["run.threads=1", "run.threads=2"] {
        let sets = ["run.sessions_per_schema=2", "run.ops_per_session=3", "run.warmup=0s", threads];
        let record: Value = serde_json::from_str(&run_dyno(&desk, "run", &url, &sets, &["--json"])).unwrap();
        assert_eq!(record["status"], "valid", "{}", record["reasons"]);
    }
}

/// Expected rows are checked before anything is committed.
#[test]
fn missing_row_is_detected_before_commit() {
    let Some(version) = Postgres::available().into_iter().next() else { return };
    let server = Postgres::start(&version, &[("autovacuum", "off")]);
    let toml = PIPED.replace(
        "SET balance = balance + :amount WHERE id = :to\", rows = 1",
        "SET balance = balance + :amount WHERE id = 100 + :to\", rows = 1",
    );
    let (desk, url) = (env_with_workload(&toml), server.url());
    run_dyno(&desk, "load", &url, &[], &[]);
    let sets = ["run.ops_per_session=50", "run.warmup=0s", "run.sessions_per_schema=1"];
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
    let output =
        desk.dyno(&[&["run", "--target", &url, "--set", "workload.folder=piped"][..], &sets].concat());
    assert_ne!(output.code, 0, "{output:#?}");
    let record = desk.json(&["show", "last"]).1;
    assert!(record["reasons"].to_string().contains("checked_2 touched 0 rows"), "{}", record["reasons"]);
    assert_eq!(server.psql("SELECT SUM(balance) FROM piped"), "20000");
}

#[test]
fn pipelined_workload_runs_on_engine_without_pipelines() {
    let desk = env_with_workload(PIPED);
    assert_proved(&run(&desk, "sqlite::memory:", &[]));
    let output = desk.dyno(&["workload", "check", "piped"]);
    let line =
        |name: &str| output.out.lines().find(|line| line.trim_start().starts_with(name)).unwrap().to_owned();
    assert!(line("blind").contains("5, pipelined 1"), "{}", output.out);
    assert!(line("checked").contains("4, pipelined 2"), "{}", output.out);
    assert!(line("look").contains("3, pipelined 1"), "{}", output.out);
}
