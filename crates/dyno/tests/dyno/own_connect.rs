//! Transactions that each open a connection, on each engine.

use crate::common::json::ExpectJson;
use crate::common::{TestEnv, assert_passes, find_check};
use dyno_testbed::{MySql, Postgres};
use serde_json::Value;

/// Visits to a counter: transactions of several statements, one of them repeated, single statements, and a
/// rollback.
const VISITS: &str = r#"
name = "visits"
writes = true

[table.visits]
rows = 50
primary_key = "id"
[table.visits.columns]
id = { type = "integer", expr = "row" }
paid = { type = "integer", value = 0 }
seen = { type = "bigint", value = 0 }

[draw]
from = { uniform = [1, 40] }
to = { expr = "from + 10" }
amount = { uniform = [1, 9] }

[transaction.pay]
retries = 20
steps = [
  { repeat = 2, steps = [{ sql = "UPDATE visits SET paid = paid - :amount WHERE id = :from", rows = 1 }] },
  { sql = "UPDATE visits SET paid = paid + 2 * :amount WHERE id = :to", rows = 1 },
]

[transaction.look]
sql = "SELECT paid FROM visits WHERE id = :from"

[transaction.apart]
commit = "each"
steps = [
  { sql = "SELECT id FROM visits WHERE id = :to", read = "found" },
  { sql = "UPDATE visits SET seen = seen + :found WHERE id = :from" },
]

[transaction.regret]
commit = "end"
steps = [
  { sql = "UPDATE visits SET paid = paid + 1 WHERE id = :from", rows = 1 },
  { rollback = true },
]

[[invariant]]
name = "money"
sql = "SELECT SUM(paid) FROM visits"
"#;

/// A test environment with that workload.
fn env_with_workload() -> TestEnv {
    let desk = TestEnv::new();
    std::fs::create_dir(desk.file("visits")).unwrap();
    desk.write("visits/workload.toml", VISITS);
    desk
}

fn run_dyno(desk: &TestEnv, command: &str, url: &str, more: &[&str]) -> String {
    let head = [command, "--target", url, "--set", "workload.folder=visits"];
    let output = desk.dyno(&[&head[..], more].concat());
    assert_eq!(output.code, 0, "{output:#?}");
    output.out
}

/// Runs a few transactions of four sessions, and checks what must hold.
fn run(desk: &TestEnv, url: &str, sets: &[&str]) -> Value {
    let base_sets = ["workload.connect=transaction", "run.sessions_per_schema=4"];
    let sets: Vec<&str> =
        base_sets.iter().chain(sets).flat_map(|set| ["--set", set]).chain(["--json"]).collect();
    let record: Value = serde_json::from_str(&run_dyno(desk, "run", url, &sets)).unwrap();
    assert_eq!(record["status"], "valid", "{}", record["reasons"]);
    for name in ["invariants", "commits_whole", "operations"] {
        assert_passes(&record, name);
    }
    let whole = find_check(&record, "commits_whole");
    assert_eq!(whole["expected"], whole["observed"], "to the unit: {whole:#}");
    for check in record["audit"].items() {
        assert_ne!(check["status"], "fail", "{check:#}");
    }
    record
}

/// Asserts the figures of the connections.
fn assert_connected(record: &Value) {
    let (all, connect) = (&record["ops"]["all"], &record["ops"]["connect"]);
    let count = |ops: &Value| ops["count"].count();
    // One for each transaction; some of the window's first ones were opened before it.
    assert!(count(connect) <= count(all), "{:#}", record["ops"]);
    assert!(count(connect) + 4 >= count(all), "{:#}", record["ops"]);
    let mean = |ops: &Value| ops["service_us"]["mean"].number();
    assert!(mean(connect) > 0.0, "{:#}", record["ops"]);
    assert!(mean(connect) < mean(all), "{:#}", record["ops"]);
    assert!(record["window"]["closing_s"].number() > 0.0);
}

fn assert_full_cycle(url: &str) {
    let desk = env_with_workload();
    run_dyno(&desk, "load", url, &[]);
    for more in [&[][..], &["workload.protocol=extended"][..], &["workload.protocol=simple"][..]] {
        let takes_it = url.starts_with("postgres") || more.is_empty();
        if !takes_it {
            continue;
        }
        let few = ["run.ops_per_session=100", "run.warmup=0s"];
        assert_connected(&run(&desk, url, &[&few[..], more].concat()));
    }
    let learned = run(&desk, url, &["run.time=1s", "run.warmup=1s"]);
    assert_connected(&learned);
    let expected = find_check(&learned, "expected");
    assert_eq!(expected["status"], "pass", "{expected:#}");
    let shown = desk.dyno(&["show", "last"]).out;
    assert!(shown.lines().any(|line| line.trim_start().starts_with("connect ")), "{shown}");
    run_dyno(&desk, "drop", url, &["--yes"]);
}

#[test]
fn connection_per_transaction_works_on_sqlite() {
    let folder = TestEnv::new();
    assert_full_cycle(&format!("sqlite:{}", folder.file("own.db").display()));
}

#[test]
fn connection_per_transaction_works_on_postgres() {
    for version in Postgres::newest_or_all() {
        assert_full_cycle(&Postgres::start(&version, &[("autovacuum", "off")]).url());
    }
}

#[test]
fn connection_per_transaction_works_on_mysql_and_mariadb() {
    for version in MySql::available() {
        assert_full_cycle(&MySql::start(&version, &[]).url());
    }
}

/// With too few connections for all sessions, transactions fail, and the others are counted exactly.
#[test]
fn refused_connection_is_an_error_of_its_transaction() {
    let Some(version) = Postgres::available().into_iter().next() else { return };
    let server = Postgres::start(&version, &[("autovacuum", "off")]);
    let desk = env_with_workload();
    run_dyno(&desk, "load", &server.url(), &[]);
    let url = server.url();
    server.psql("CREATE ROLE doorkeeper SUPERUSER LOGIN");
    let keeper = |sql: &str| server.try_psql("doorkeeper", "postgres", sql).unwrap();
    let door = |word: &str| keeper(&format!("ALTER ROLE {} {word}", server.superuser()));
    let sets = ["workload.connect=transaction", "run.sessions_per_schema=4", "run.time=3s", "run.warmup=0s"];
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
    let args = ["run", "--target", &url, "--set", "workload.folder=visits"];
    let mut running = desk.start(&[&args[..], &sets].concat());
    running.wait_for_line("window");
    door("NOLOGIN");
    let session_count_sql =
        "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'dyno session%'";
    // There is also no session between two transactions, but not repeatedly.
    crate::common::wait_until("no session", || (0..10).all(|_| keeper(session_count_sql).trim() == "0"));
    door("LOGIN");
    running.wait();
    let record = desk.json(&["show", "last"]).1;
    let errors = record["errors"].items();
    assert!(errors.iter().any(|error| error["code"] == "connect"), "{errors:#?}");
    assert_ne!(
        find_check(&record, "commits_whole")["status"],
        "fail",
        "{:#}",
        find_check(&record, "commits_whole")
    );
    assert_eq!(
        find_check(&record, "invariants")["status"],
        "pass",
        "{:#}",
        find_check(&record, "invariants")
    );
}

#[test]
fn connect_per_transaction_is_refused_where_meaningless() {
    let desk = env_with_workload();
    let memory = "sqlite::memory:";
    for (url, sets, words) in [
        (memory, &["workload.update_pct=20"][..], "on connections that stay open"),
        (memory, &["workload.folder=visits"][..], "a database in memory has no file to reopen"),
        (
            "postgres://u@h/d",
            &["workload.folder=visits", "target.observe_url=postgres://u@i/d"][..],
            "it is unknown when they have recorded",
        ),
    ] {
        let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
        let head = ["run", "--target", url, "--set", "workload.connect=transaction"];
        let output = desk.dyno(&[&head[..], &sets].concat());
        assert!(output.code != 0, "{output:#?}");
        assert!(format!("{}{}", output.out, output.err).contains(words), "{output:#?}");
    }
}
