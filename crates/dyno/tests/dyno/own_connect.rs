//! Transactions that open a connection each, on each engine.

use crate::common::{Desk, assert_passes, check};
use dyno_testbed::{MySql, Postgres};
use serde_json::Value;

/// Visits to a counter: transactions of several statements, one of them twice, single ones, and what is taken back.
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

/// A desk with that workload.
fn desk() -> Desk {
    let desk = Desk::new();
    std::fs::create_dir(desk.file("visits")).unwrap();
    desk.write("visits/workload.toml", VISITS);
    desk
}

fn dyno(desk: &Desk, command: &str, url: &str, more: &[&str]) -> String {
    let head = [command, "--target", url, "--set", "workload.folder=visits"];
    let said = desk.dyno(&[&head[..], more].concat());
    assert_eq!(said.code, 0, "{said:#?}");
    said.out
}

/// Runs a few transactions of four sessions, and checks what has to hold.
fn run(desk: &Desk, url: &str, sets: &[&str]) -> Value {
    let own = ["workload.connect=transaction", "run.sessions_per_schema=4"];
    let sets: Vec<&str> = own.iter().chain(sets).flat_map(|set| ["--set", set]).chain(["--json"]).collect();
    let record: Value = serde_json::from_str(&dyno(desk, "run", url, &sets)).unwrap();
    assert_eq!(record["status"], "valid", "{}", record["reasons"]);
    for name in ["invariants", "commits_whole", "operations"] {
        assert_passes(&record, name);
    }
    let whole = check(&record, "commits_whole");
    assert_eq!(whole["expected"], whole["observed"], "to the unit: {whole:#}");
    for check in record["audit"].as_array().unwrap() {
        assert_ne!(check["status"], "fail", "{check:#}");
    }
    record
}

/// What is said of the connections.
fn assert_connected(record: &Value) {
    let (all, connect) = (&record["ops"]["all"], &record["ops"]["connect"]);
    let count = |ops: &Value| ops["count"].as_u64().unwrap();
    // One for each transaction: of those at the window's begin some were opened before.
    assert!(count(connect) <= count(all) && count(connect) + 4 >= count(all), "{:#}", record["ops"]);
    let mean = |ops: &Value| ops["service_us"]["mean"].as_f64().unwrap();
    assert!(mean(connect) > 0.0 && mean(connect) < mean(all), "{:#}", record["ops"]);
    assert!(record["window"]["closing_s"].as_f64().unwrap() > 0.0);
}

fn through(url: &str) {
    let desk = desk();
    dyno(&desk, "load", url, &[]);
    for more in [&[][..], &["workload.protocol=extended"][..], &["workload.protocol=simple"][..]] {
        let takes_it = url.starts_with("postgres") || more.is_empty();
        if !takes_it {
            continue;
        }
        let few = ["run.ops_per_session=100", "run.warmup=0s"];
        assert_connected(&run(&desk, url, &[&few[..], more].concat()));
    }
    let learned = run(&desk, url, &["run.time=2s", "run.warmup=1s"]);
    assert_connected(&learned);
    let expected = check(&learned, "expected");
    assert_eq!(expected["status"], "pass", "{expected:#}");
    let shown = desk.dyno(&["show", "last"]).out;
    assert!(shown.lines().any(|line| line.trim_start().starts_with("connect ")), "{shown}");
    dyno(&desk, "drop", url, &["--yes"]);
}

#[test]
fn each_transaction_opens_a_connection_on_sqlite() {
    let folder = Desk::new();
    through(&format!("sqlite:{}", folder.file("own.db").display()));
}

#[test]
fn each_transaction_opens_a_connection_on_postgres() {
    for version in Postgres::newest_or_all() {
        through(&Postgres::start(&version, &[("autovacuum", "off")]).url());
    }
}

#[test]
fn each_transaction_opens_a_connection_on_mysql_and_mariadb() {
    for version in MySql::available() {
        through(&MySql::start(&version, &[]).url());
    }
}

/// Where there are not enough connections for all, transactions fail for that, and those that did not are counted to the unit.
#[test]
fn a_connection_that_is_refused_is_an_error_of_its_transaction() {
    let Some(version) = Postgres::available().into_iter().next() else { return };
    let server = Postgres::start(&version, &[("autovacuum", "off")]);
    let desk = desk();
    dyno(&desk, "load", &server.url(), &[]);
    let url = server.url();
    server.psql("CREATE ROLE doorkeeper SUPERUSER LOGIN");
    let keeper = |sql: &str| server.try_psql("doorkeeper", "postgres", sql).unwrap();
    let door = |word: &str| keeper(&format!("ALTER ROLE {} {word}", server.superuser()));
    let sets = ["workload.connect=transaction", "run.sessions_per_schema=4", "run.time=3s", "run.warmup=0s"];
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
    let args = ["run", "--target", &url, "--set", "workload.folder=visits"];
    let mut running = desk.start(&[&args[..], &sets].concat());
    running.until("window");
    door("NOLOGIN");
    let there = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'dyno session%'";
    // Between two transactions there is none either, but not time after time.
    crate::common::until("no session", || (0..10).all(|_| keeper(there).trim() == "0"));
    door("LOGIN");
    running.end();
    let record = desk.json(&["show", "last"]).1;
    let errors = record["errors"].as_array().unwrap();
    assert!(errors.iter().any(|error| error["code"] == "connect"), "{errors:#?}");
    assert_ne!(check(&record, "commits_whole")["status"], "fail", "{:#}", check(&record, "commits_whole"));
    assert_eq!(check(&record, "invariants")["status"], "pass", "{:#}", check(&record, "invariants"));
}

#[test]
fn where_it_has_no_meaning_it_is_refused() {
    let desk = desk();
    let memory = "sqlite::memory:";
    for (url, sets, words) in [
        (memory, &["workload.update_pct=20"][..], "on connections that stay open"),
        (memory, &["workload.folder=visits"][..], "a database in memory has no file to open anew"),
        (
            "postgres://u@h/d",
            &["workload.folder=visits", "target.observe_url=postgres://u@i/d"][..],
            "nobody can tell when they have booked",
        ),
    ] {
        let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
        let head = ["run", "--target", url, "--set", "workload.connect=transaction"];
        let said = desk.dyno(&[&head[..], &sets].concat());
        assert!(said.code != 0 && format!("{}{}", said.out, said.err).contains(words), "{said:#?}");
    }
}
