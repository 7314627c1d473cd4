//! Stored procedures as steps of transactions.

use crate::common::json::ExpectJson;
use crate::common::{TestEnv, find_check};
use dyno_testbed::{MySql, Postgres};
use serde_json::Value;

/// Procedures that transfer money, return the remaining amount, and change a row in a separate transaction.
const CALLS: [(&str, &str); 3] = [
    (
        "workload.toml",
        r#"
name = "calls"
writes = true

[table.calls_accounts]
rows = 20
primary_key = "id"
[table.calls_accounts.columns]
id = { type = "integer", expr = "row" }
balance = { type = "integer", value = 1000 }

[setup]
sql = "setup.sql"
[drop]
sql = "drop.sql"

[draw]
from = { uniform = [1, 20] }
to = { expr = "from % 20 + 1" }
amount = { uniform = [1, 100] }
zero = 0

[transaction.move]
commit = "end"
retries = 20
steps = [
  { sql = "CALL calls_move(:from, :to, :amount)" },
  { sql = "CALL calls_balance(:from, :zero)", read = ["balance"] },
  { rollback = "balance < 0" },
]

[transaction.alone]
sql = "CALL calls_add(:from, 0 * :amount)"

[[invariant]]
name = "money"
sql = "SELECT SUM(balance) FROM calls_accounts"
"#,
    ),
    (
        "setup.sql",
        "CREATE PROCEDURE calls_move(a BIGINT, b BIGINT, n BIGINT) LANGUAGE SQL AS $$
           UPDATE calls_accounts SET balance = balance - n WHERE id = a;
           UPDATE calls_accounts SET balance = balance + n WHERE id = b;
         $$;
         CREATE PROCEDURE calls_balance(a BIGINT, INOUT left_over BIGINT) LANGUAGE plpgsql AS $$
           BEGIN SELECT balance INTO left_over FROM calls_accounts WHERE id = a; END
         $$;
         CREATE PROCEDURE calls_add(a BIGINT, n BIGINT) LANGUAGE SQL AS $$
           UPDATE calls_accounts SET balance = balance + n WHERE id = a
         $$;",
    ),
    ("drop.sql", "DROP PROCEDURE calls_move; DROP PROCEDURE calls_balance; DROP PROCEDURE calls_add;"),
];

/// The procedures for MySQL and MariaDB, with others that begin and commit themselves, and others that return
/// rows but no number.
const OF_MYSQL: &str = "CREATE PROCEDURE calls_move(a BIGINT, b BIGINT, n BIGINT) BEGIN
    UPDATE calls_accounts SET balance = balance - n WHERE id = a;
    UPDATE calls_accounts SET balance = balance + n WHERE id = b;
  END;
  CREATE PROCEDURE calls_balance(a BIGINT, INOUT left_over BIGINT)
    SELECT balance INTO left_over FROM calls_accounts WHERE id = a;
  CREATE PROCEDURE calls_left(a BIGINT) BEGIN
    SELECT 'first', 'of two results';
    SELECT balance, 'second' FROM calls_accounts WHERE id = a;
  END;
  CREATE PROCEDURE calls_add(a BIGINT, n BIGINT) UPDATE calls_accounts SET balance = balance + n WHERE id = a;
  CREATE PROCEDURE calls_thrice(a BIGINT) BEGIN
    UPDATE calls_accounts SET balance = balance + 1 WHERE id = a;
    START TRANSACTION;
    UPDATE calls_accounts SET balance = balance - 2 WHERE id = a;
    COMMIT;
    UPDATE calls_accounts SET balance = balance + 1 WHERE id = a;
  END;
  CREATE PROCEDURE calls_nothing() BEGIN DECLARE x INT; SET x = 1; END";

const ONLY_THERE: &str = r#"
[transaction.thrice]
sql = "CALL calls_thrice(:from)"

[transaction.nothing]
sql = "CALL calls_nothing()"

[transaction.told]
commit = "end"
steps = [
  { sql = "CALL calls_left(:from)", read = ["told", "said"], rows = 2 },
  { if = "told < -1_000_000", steps = [{ rollback = true }] },
  { sql = "SELECT id FROM calls_accounts WHERE id = :from AND :said = 'second'", rows = 1 },
]

[[invariant]]
"#;

/// A test environment with the workload and these texts.
fn env_with_workload(texts: &[(&str, &str)]) -> TestEnv {
    let desk = TestEnv::new();
    std::fs::create_dir(desk.file("calls")).unwrap();
    texts.iter().for_each(|(name, text)| desk.write(&format!("calls/{name}"), text));
    desk
}

fn run_dyno(desk: &TestEnv, command: &str, url: &str, more: &[&str]) -> String {
    let head = [command, "--target", url, "--set", "workload.folder=calls"];
    let output = desk.dyno(&[&head[..], more].concat());
    assert_eq!(output.code, 0, "{output:#?}");
    output.out
}

/// The record of a run of four sessions with these settings.
fn run(desk: &TestEnv, url: &str, sets: &[&str]) -> Value {
    let sets = ["run.sessions_per_schema=4"].iter().chain(sets);
    let sets: Vec<&str> = sets.flat_map(|set| ["--set", set]).chain(["--json"]).collect();
    serde_json::from_str(&run_dyno(desk, "run", url, &sets)).unwrap()
}

fn assert_valid(record: &Value) {
    assert_eq!(record["status"], "valid", "{}", record["reasons"]);
    assert_eq!(find_check(record, "invariants")["status"], "pass");
    let whole = find_check(record, "commits_whole");
    assert_eq!(whole["status"], "pass", "{whole:#}");
}

#[test]
fn procedure_calls_run_on_postgres() {
    for version in Postgres::newest_or_all() {
        let server = Postgres::start(&version, &[("autovacuum", "off")]);
        let (desk, url) = (env_with_workload(&CALLS), server.url());
        run_dyno(&desk, "load", &url, &[]);
        for threads in ["run.threads=1", "run.threads=4"] {
            assert_valid(&run(&desk, &url, &["run.ops_per_session=60", "run.warmup=0s", threads]));
        }
        run_dyno(&desk, "drop", &url, &["--yes"]);
    }
}

/// The server counts each statement within a procedure: their number is learned, and all of them are counted
/// exactly. Four servers cover each pair of product, binary log and protocol.
#[test]
fn procedure_calls_run_and_are_counted_on_mysql_and_mariadb() {
    let toml = CALLS[0].1.replace("[[invariant]]", ONLY_THERE.trim_start());
    let drop = format!(
        "{} DROP PROCEDURE calls_left; DROP PROCEDURE calls_thrice; DROP PROCEDURE calls_nothing;",
        CALLS[2].1
    );
    // A procedure's output parameter goes to a prepared statement; the text protocol needs a variable for it.
    let simple = toml.replace("CALL calls_balance(:from, :zero)", "CALL calls_left(:from)");
    let settings: [&[(&str, &str)]; 2] =
        [&[("skip_log_bin", "1")], &[("log_bin", "binlog"), ("server_id", "1")]];
    let protocols = [("workload.protocol=prepared", &toml), ("workload.protocol=simple", &simple)];
    for (product, version) in MySql::available().iter().enumerate() {
        for (log, settings) in settings.into_iter().enumerate() {
            let (protocol, toml) = protocols[(product + log) % 2];
            let server = MySql::start(version, settings);
            let url = server.url();
            let desk =
                env_with_workload(&[("workload.toml", toml), ("setup.sql", OF_MYSQL), ("drop.sql", &drop)]);
            run_dyno(&desk, "load", &url, &[]);
            for sets in [
                &["run.ops_per_session=60", "run.warmup=0s", "run.threads=1"][..],
                &["run.ops_per_session=60", "run.warmup=0s", "run.threads=4"],
                &["run.ops_per_session=60", "run.warmup=0s", "workload.connect=transaction"],
                &["run.time=1s", "run.warmup=1s", "run.threads=1"],
            ] {
                let mut record = run(&desk, &url, &[sets, &[protocol]].concat());
                // On a busy machine a second may be too short to execute each of the transactions.
                for warmup in ["run.warmup=5s", "run.warmup=30s"] {
                    if sets.contains(&"run.warmup=1s")
                        && find_check(&record, "expected")["status"] == "skipped"
                    {
                        record = run(&desk, &url, &["run.time=1s", "run.threads=1", warmup, protocol]);
                    }
                }
                assert_valid(&record);
                let whole = find_check(&record, "commits_whole");
                if record["errors"].items().is_empty() {
                    assert_eq!(whole["expected"], whole["observed"], "{sets:?}: {whole:#}");
                }
                if sets.contains(&"run.warmup=1s") {
                    let expected = find_check(&record, "expected");
                    assert_eq!(expected["status"], "pass", "{expected:#}");
                    let words = expected["detail"].text();
                    assert!(words.contains("4.00 of each thrice"), "{words}");
                    assert!(words.contains("0.00 of each nothing"), "{words}");
                    let commits = find_check(&record, "commits");
                    assert_ne!(commits["status"], "fail", "{commits:#}");
                }
            }
            run_dyno(&desk, "drop", &url, &["--yes"]);
        }
    }
}

/// A procedure that does more under concurrency: the learned costs do not apply.
#[test]
fn procedure_with_more_commits_than_profiled_is_detected() {
    let toml = r#"
name = "calls"
writes = true
[setup]
sql = "setup.sql"
[drop]
sql = "drop.sql"
[draw]
id = { uniform = [1, 4] }
[transaction.busy]
sql = "CALL calls_busy(:id)"
"#;
    // The first connection that calls it is the one that learns the costs.
    let setup = "CREATE TABLE calls_rows (id INT PRIMARY KEY, n INT); INSERT INTO calls_rows VALUES (1, 0), (2, 0), (3, 0), (4, 0);
      CREATE TABLE calls_first (id INT PRIMARY KEY, connection INT);
      CREATE PROCEDURE calls_busy(i INT) BEGIN
        INSERT IGNORE INTO calls_first VALUES (1, CONNECTION_ID());
        UPDATE calls_rows SET n = n + 1 WHERE id = i;
        IF CONNECTION_ID() <> (SELECT connection FROM calls_first) THEN
          UPDATE calls_rows SET n = n - 1 WHERE id = i;
        END IF;
      END";
    let drop = "DROP PROCEDURE calls_busy; DROP TABLE calls_rows; DROP TABLE calls_first;";
    for version in MySql::available() {
        let server = MySql::start(&version, &[]);
        let url = server.url();
        for (expectation, status) in [("", "warn"), ("expect = { commits = 3 }\n", "fail")] {
            let desk = env_with_workload(&[
                ("workload.toml", &format!("{toml}{expectation}")),
                ("setup.sql", setup),
                ("drop.sql", drop),
            ]);
            run_dyno(&desk, "load", &url, &[]);
            let head = ["run", "--target", &url, "--set", "workload.folder=calls", "--json"];
            let sets = ["run.sessions_per_schema=2", "run.time=1s", "run.warmup=1s"];
            let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
            let run = desk.dyno(&[&head[..], &sets].concat());
            let record: Value = serde_json::from_str(&run.out).unwrap();
            let expected = find_check(&record, "expected");
            assert_eq!(expected["status"], status, "{expected:#}");
            assert!(expected["detail"].text().contains("commits: "), "{expected:#}");
            run_dyno(&desk, "drop", &url, &["--yes"]);
        }
    }
}
