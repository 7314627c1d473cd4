//! Custom SQL as a user runs it: set up, checked, run, proved and removed, on each engine.

use crate::common::json::ExpectJson;
use crate::common::{TestEnv, find_check, wait_until};
use dyno_testbed::{MySql, Postgres};
use serde_json::Value;

/// Accounts between which transfers move money: two of three sessions use the same rows.
const BANK: [(&str, &str); 3] = [
    (
        "workload.toml",
        r#"
name = "bank"
writes = true

[setup]
sql = "setup.sql"

[drop]
sql = "DROP TABLE bank_accounts"

[draw]
from = { uniform = [1, 20] }
to = { expr = "from % 20 + 1" }
amount = { uniform = [1, 100] }
said = { template = ":kind" }
maybe = { text = 3, null_pct = 50 }

[transaction.transfer]
weight = 50
isolation = "serializable"
retries = 20
sql = "transfer.sql"
steps = [
  { run = "read", read = "left" },
  { run = "take", rows = 1 },
  { run = "give", rows = 1 },
  { rollback = "left < 0" },
]

[transaction.balance]
weight = 10
sql = "SELECT balance FROM bank_accounts WHERE id = :from"

# Columns of every kind that later statements and conditions are given.
[transaction.columns]
weight = 10
steps = [
  { sql = "SELECT id, balance * 1.5, CASE WHEN id > 0 THEN 'own' ELSE '' END FROM bank_accounts WHERE :from = id", read = ["id", "worth", "kind"], rows = 1 },
  { if = "worth > -1_000_000 and id = from", steps = [
    { sql = "SELECT balance FROM bank_accounts WHERE id = :id AND :kind = 'own' AND :said = 'own' AND COALESCE(:maybe, 'none') <> ''", rows = 1 },
  ], else = [{ sql = "UPDATE bank_accounts SET balance = -1 WHERE id = 1", rows = 0 }] },
]

# What finds no row, by itself and in a transaction, and what is always taken back.
[transaction.nobody]
weight = 10
sql = "UPDATE bank_accounts SET balance = 0 WHERE id = -1"

[transaction.nobody_twice]
weight = 10
commit = "end"
steps = [{ sql = "UPDATE bank_accounts SET balance = 0 WHERE id = -1" }]

[transaction.regret]
weight = 10
commit = "end"
steps = [
  { sql = "UPDATE bank_accounts SET balance = balance - 1 WHERE id = :from", rows = 1 },
  { rollback = true },
]

[[invariant]]
name = "money"
sql = "SELECT SUM(balance) FROM bank_accounts"
"#,
    ),
    (
        "setup.sql",
        "CREATE TABLE bank_accounts (id INT NOT NULL PRIMARY KEY, balance INT NOT NULL);
         INSERT INTO bank_accounts SELECT 10 * a.n + b.n, 1000 FROM
           (SELECT 0 AS n UNION ALL SELECT 1) a,
           (SELECT 1 AS n UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6
            UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9 UNION ALL SELECT 10) b;",
    ),
    (
        "transfer.sql",
        "-- name: read
         SELECT balance FROM bank_accounts WHERE id = :from;
         -- name: take
         UPDATE bank_accounts SET balance = balance - :amount WHERE id = :from;
         -- name: give
         UPDATE bank_accounts SET balance = balance + :amount WHERE id = :to;",
    ),
];

/// Writes a workload into `folder` of the test environment.
fn write(desk: &TestEnv, folder: &str, files: &[(&str, &str)]) {
    std::fs::create_dir_all(desk.file(folder)).unwrap();
    for (name, text) in files {
        desk.write(&format!("{folder}/{name}"), text);
    }
}

/// Writes the example of `dyno init --workload`.
fn write_shop(desk: &TestEnv) {
    let output = desk.dyno(&["init", "--workload", "shop"]);
    assert_eq!(output.code, 0, "{output:#?}");
}

fn args<'a>(command: &'a str, folder: &'a str, url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let head = [command, "--target", url, "--set", folder];
    [&head[..], more].concat()
}

fn load(desk: &TestEnv, folder: &str, url: &str) {
    let load = desk.dyno(&args("load", folder, url, &[]));
    assert_eq!(load.code, 0, "{load:#?}");
}

/// Runs four sessions for this number of transactions each, and returns the record.
fn run(desk: &TestEnv, folder: &str, url: &str, more: &[&str]) -> Value {
    let few = [
        "--set",
        "run.sessions_per_schema=4",
        "--set",
        "run.ops_per_session=150",
        "--set",
        "run.warmup=0s",
        "--json",
    ];
    let run = desk.dyno(&args("run", folder, url, &[&few[..], more].concat()));
    assert!(run.out.starts_with('{'), "{run:#?}");
    serde_json::from_str(&run.out).unwrap()
}

/// What must hold for a valid run of either workload.
fn assert_proved(record: &Value) {
    assert_eq!(record["status"], "valid", "{}", record["reasons"]);
    for name in ["operations", "errors", "invariants", "commits_whole", "sessions", "edges"] {
        assert_ne!(find_check(record, name)["status"], "fail", "{:#}", find_check(record, name));
    }
    assert_eq!(find_check(record, "invariants")["status"], "pass", "{:#}", find_check(record, "invariants"));
    // Exactly, even with rollbacks and retries.
    let commits = find_check(record, "commits_whole");
    assert_eq!(commits["status"], "pass", "{commits:#}");
    assert!(record["workload"]["digest"].text().len() == 64);
    assert!(record["targets"][0]["data"].is_null(), "it has no test data of Dyno's");
}

/// What must hold for a run that has learned the costs of its transactions.
fn assert_learned(record: &Value) {
    let expected = find_check(record, "expected");
    assert_eq!(expected["status"], "pass", "{expected:#}");
    for class_figures in record["workload"]["expected"].items() {
        let rows = class_figures["learned"]["counters"]["rows_written"]["mean"].number();
        let exact = match class_figures["class"].text() {
            "transfer" | "pay" => 2.0,
            "balance" | "columns" | "look" | "top" | "nobody" | "nobody_twice" => 0.0,
            // Engines differ in whether they count rolled back rows.
            "regret" => rows.round().min(1.0),
            // Two, and one for each line, of which there are about 2 to 8.
            "order" => rows.clamp(4.0, 16.0),
            other => panic!("{other}"),
        };
        assert!((rows - exact).abs() < 0.01, "{class_figures:#}");
        assert!(class_figures["learned"]["alone_us"].number() > 0.0, "{class_figures:#}");
    }
}

/// The whole test on one target.
fn assert_full_cycle(url: &str) {
    let desk = TestEnv::new();
    write_shop(&desk);
    write(&desk, "bank", &BANK);
    for (folder, table) in [("workload.folder=shop", "shop_stock"), ("workload.folder=bank", "bank_accounts")]
    {
        load(&desk, folder, url);
        let checked = desk.dyno(&args("check", folder, url, &[]));
        assert!(checked.out.contains("prepares all"), "{checked:#?}");
        let record = run(&desk, folder, url, &[]);
        assert_proved(&record);
        let classes: Vec<&str> = record["classes"].items().iter().map(|class| class["name"].text()).collect();
        match table {
            "shop_stock" => assert_eq!(classes, ["order", "pay", "look", "top"]),
            _ => {
                assert_eq!(classes, ["transfer", "balance", "columns", "nobody", "nobody_twice", "regret"]);
                let op_count = |class: &str| record["ops"][class]["count"].count();
                assert!(op_count("transfer") > op_count("balance"), "{:#}", record["ops"]);
                assert_eq!(find_check(&record, "mix")["status"], "pass");
            }
        }
        let learned = run(&desk, folder, url, &["--set", "run.warmup=1s"]);
        assert_proved(&learned);
        assert_learned(&learned);
        for time in ["first", "second"] {
            let dropped = desk.dyno(&args("drop", folder, url, &["--yes"]));
            assert_eq!(dropped.code, 0, "{time}: {dropped:#?}");
            // Removed tables can be created again.
            load(&desk, folder, url);
        }
    }
}

#[test]
fn a_workload_runs_on_sqlite() {
    let desk = TestEnv::new();
    assert_full_cycle(&format!("sqlite:{}", desk.file("own.db").display()));
}

#[test]
fn a_workload_runs_on_postgres() {
    for version in Postgres::newest_or_all() {
        let server = Postgres::start(&version, &[("autovacuum", "off")]);
        assert_full_cycle(&server.url());
    }
}

#[test]
fn a_workload_runs_on_mysql_and_mariadb() {
    for version in MySql::available() {
        let server = MySql::start(&version, &[]);
        assert_full_cycle(&server.url());
    }
}

#[test]
fn in_memory_sqlite_run_sets_up_its_workload() {
    let desk = TestEnv::new();
    write(&desk, "bank", &BANK);
    assert_proved(&run(&desk, "workload.folder=bank", "sqlite::memory:", &[]));
}

#[test]
fn conflicts_are_retried_on_threads_with_several_sessions() {
    let Some(version) = Postgres::available().into_iter().next() else { return };
    let server = Postgres::start(&version, &[("autovacuum", "off")]);
    let desk = TestEnv::new();
    write(&desk, "bank", &BANK);
    load(&desk, "workload.folder=bank", &server.url());
    let many = ["--set", "run.sessions_per_schema=16", "--set", "run.threads=2"];
    let record = run(&desk, "workload.folder=bank", &server.url(), &many);
    assert_proved(&record);
    let conflicts = record["errors"].items().iter().find(|error| error["code"] == "40001");
    assert!(conflicts.is_some_and(|error| error["retried"].as_u64() > Some(0)), "{}", record["errors"]);
    // A retried transaction that succeeded in the end counts as an operation.
    assert!(record["ops"]["all"]["count"].count() >= 16 * 150, "{:#}", record["ops"]["all"]);
}

/// No part of the learning continues during the run.
#[test]
fn lock_of_other_session_ends_cost_profiling_but_not_the_run() {
    let Some(version) = Postgres::available().into_iter().next() else { return };
    let server = Postgres::start(&version, &[("autovacuum", "off")]);
    let desk = TestEnv::new();
    write(&desk, "bank", &BANK);
    load(&desk, "workload.folder=bank", &server.url());
    let url = server.url();
    let holder_clause = "FROM pg_stat_activity WHERE query LIKE '%pg_sleep%' AND wait_event = 'PgSleep'";
    let time = ["--set", "run.time=2s", "--set", "run.warmup=1s", "--set", "run.sessions_per_schema=4"];
    let output = std::thread::scope(|scope| {
        let lock = "LOCK TABLE bank_accounts IN EXCLUSIVE MODE; SELECT pg_sleep(600)";
        scope.spawn(|| server.try_psql(server.superuser(), "postgres", lock));
        wait_until("the lock", || server.psql(&format!("SELECT count(*) {holder_clause}")) == "1");
        let mut running = desk.start(&args("run", "workload.folder=bank", &url, &time));
        running.wait_for_line("could not be measured");
        server.psql(&format!("SELECT pg_terminate_backend(pid) {holder_clause}"));
        running.wait()
    });
    assert_eq!(output.code, 0, "{output:#?}");
    let record = desk.json(&["show", "last"]).1;
    assert_proved(&record);
    assert_eq!(find_check(&record, "expected")["status"], "skipped");
}

#[test]
fn declared_transaction_cost_is_checked_against_counters() {
    let desk = TestEnv::new();
    let toml_expecting = |rows: u32| {
        BANK[0].1.replace("retries = 20", &format!("retries = 20\nexpect = {{ rows_written = {rows} }}"))
    };
    for (rows, status) in [(2, "pass"), (3, "fail")] {
        write(&desk, "bank", &[("workload.toml", &toml_expecting(rows)), BANK[1], BANK[2]]);
        let record = run(&desk, "workload.folder=bank", "sqlite::memory:", &["--set", "run.warmup=500ms"]);
        let check = find_check(&record, "expected");
        assert_eq!(check["status"], status, "{check:#}");
        assert!(check["detail"].text().contains(&format!("{rows}.00 of each transfer")), "{check:#}");
        assert_eq!(record["status"], if rows == 2 { "valid" } else { "invalid" });
    }
    // A transaction that never occurs is not missed.
    let toml = toml_expecting(2).replace("weight = 20", "weight = 0");
    write(&desk, "bank", &[("workload.toml", &toml), BANK[1], BANK[2]]);
    let short = ["--set", "run.warmup=200ms", "--set", "run.time=1s"];
    let ran = desk.dyno(&args("run", "workload.folder=bank", "sqlite::memory:", &short));
    assert!(ran.code == 0, "{ran:#?}");
    assert!(!ran.err.contains("could not be measured"), "{ran:#?}");
    let shown = desk.dyno(&["show", "last"]);
    assert!(shown.out.contains("one transaction, measured on a single session"), "{}", shown.out);
}

#[test]
fn postgres_protocols_give_the_same_outcome_for_custom_sql() {
    let Some(version) = Postgres::available().into_iter().next() else { return };
    let server = Postgres::start(&version, &[("autovacuum", "off")]);
    let desk = TestEnv::new();
    write(&desk, "bank", &BANK);
    load(&desk, "workload.folder=bank", &server.url());
    for protocol in ["prepared", "extended", "simple"] {
        let set = format!("workload.protocol={protocol}");
        for threads in ["run.threads=1", "run.threads=4"] {
            let record =
                run(&desk, "workload.folder=bank", &server.url(), &["--set", &set, "--set", threads]);
            assert_proved(&record);
            assert_eq!(record["plan"]["workload"]["protocol"].as_str().unwrap_or("prepared"), protocol);
        }
    }
    let output = desk.dyno(&args(
        "run",
        "workload.folder=bank",
        "sqlite::memory:",
        &["--set", "workload.protocol=simple"],
    ));
    assert_eq!(output.code, 2, "{output:#?}");
    assert!(output.err.contains("sqlite does not support the simple protocol"), "{}", output.err);
}

/// Counters of the server since its start.
fn status_counters(server: &MySql, names: &[&str]) -> Vec<u64> {
    let status_value = |name: &&str| {
        let row = server.sql(&format!("SHOW GLOBAL STATUS LIKE '{name}'"));
        row.split('\t').nth(1).and_then(|count| count.parse().ok()).unwrap_or_else(|| panic!("{name}: {row}"))
    };
    names.iter().map(status_value).collect()
}

/// Each product runs both protocols; each protocol has each way of threads and connections on one of the products.
#[test]
fn mysql_protocols_give_the_same_outcome_for_custom_sql() {
    const WAYS: [&str; 3] = ["run.threads=1", "run.threads=4", "workload.connect=transaction"];
    for (product, version) in MySql::available().into_iter().enumerate() {
        let server = MySql::start(&version, &[]);
        let desk = TestEnv::new();
        write(&desk, "bank", &BANK);
        load(&desk, "workload.folder=bank", &server.url());
        for (at, protocol) in ["prepared", "simple"].into_iter().enumerate() {
            let set = format!("workload.protocol={protocol}");
            for more in WAYS.into_iter().skip((product + at) % 2).step_by(2) {
                let count =
                    || status_counters(&server, &["Com_stmt_execute", "Com_update", "Com_stmt_prepare"]);
                let before = count();
                let more = ["--set", &set, "--set", more];
                let record = run(&desk, "workload.folder=bank", &server.url(), &more);
                assert_proved(&record);
                assert_eq!(record["plan"]["workload"]["protocol"].as_str().unwrap_or("prepared"), protocol);
                let moved: Vec<u64> =
                    count().iter().zip(&before).map(|(count, before)| count - before).collect();
                // Each transfer is at least two of them.
                let transfers = record["ops"]["transfer"]["count"].count();
                assert!(moved[1] >= 2 * transfers, "{moved:?}");
                match protocol {
                    // The observer executes one, to see whether the server counts such statements.
                    "simple" => assert!(moved[0] <= 1, "{moved:?}"),
                    _ => assert!(moved[0] >= moved[1], "{moved:?}"),
                }
                assert!(
                    protocol != "simple" || moved[2] <= 12 * 8,
                    "looked at when a session opens: {moved:?}"
                );
            }
        }
        let set = ["--set", "workload.protocol=extended"];
        let output = desk.dyno(&args("run", "workload.folder=bank", &server.url(), &set));
        assert_eq!(output.code, 2, "{output:#?}");
        assert!(output.err.contains("mysql does not support the extended protocol"), "{}", output.err);
        assert!(output.err.contains("\"simple\" or \"prepared\""), "{}", output.err);
    }
}

/// Statements without tables, alone and in transactions; transactions without effect, and a rollback.
const ODD: &str = r#"
name = "odd"
writes = true
[table.odd_rows]
rows = 20
primary_key = "id"
[table.odd_rows.columns]
id = { type = "integer", expr = "row" }
v = { type = "integer", value = 1000 }
[draw]
id = { uniform = [1, 20] }
n = { uniform = [1, 10] }
[transaction.one]
sql = "SELECT 1 + :n"
[transaction.ones]
commit = "end"
steps = [{ sql = "SELECT 1" }, { sql = "SELECT 2" }]
[transaction.seldom]
commit = "end"
steps = [{ if = "n > 5", steps = [{ sql = "SELECT v FROM odd_rows WHERE id = :id" }] }]
[transaction.regret]
commit = "end"
steps = [{ sql = "UPDATE odd_rows SET v = v + 1 WHERE id = :id" }, { rollback = true }]
[transaction.regret_reading]
commit = "end"
steps = [{ sql = "SELECT v FROM odd_rows WHERE id = :id" }, { rollback = true }]
[transaction.none]
sql = "UPDATE odd_rows SET v = v + 1 WHERE id = -1"

[[invariant]]
name = "sum"
sql = "SELECT SUM(v) FROM odd_rows"
"#;

#[test]
fn commits_that_mysql_does_not_count_are_not_missing() {
    // Each product has the usual protocol and connections, and one of the other ways.
    let ways =
        [["run.warmup=0s", "workload.protocol=simple"], ["run.warmup=1s", "workload.connect=transaction"]];
    for (version, ways) in MySql::available().into_iter().zip(ways) {
        let server = MySql::start(&version, &[("skip_log_bin", "1")]);
        let desk = TestEnv::new();
        write(&desk, "odd", &[("workload.toml", ODD)]);
        load(&desk, "workload.folder=odd", &server.url());
        for more in ways {
            let record = run(&desk, "workload.folder=odd", &server.url(), &["--set", more]);
            assert_proved(&record);
            let whole = find_check(&record, "commits_whole");
            let of_class = |name: &str| record["ops"][name]["count"].count();
            assert!(of_class("one") > 0);
            assert!(of_class("ones") > 0);
            assert!(of_class("seldom") > 0);
            if more != "workload.connect=transaction" {
                assert_eq!(whole["expected"], whole["observed"], "{more}: {whole:#}");
            }
        }
    }
}

/// Other texts in the same folder are another workload, whatever the plan says.
#[test]
fn runs_with_different_sql_texts_are_not_repeats() {
    let desk = TestEnv::new();
    let balance = "SELECT balance FROM bank_accounts WHERE id = :from";
    for text in [balance, "SELECT COUNT(*) FROM bank_accounts WHERE id <> :from"] {
        write(&desk, "bank", &[("workload.toml", &BANK[0].1.replace(balance, text)), BANK[1], BANK[2]]);
        assert_proved(&run(&desk, "workload.folder=bank", "sqlite::memory:", &["--variant", "same"]));
    }
    let compared = desk.dyno(&["compare", "last", "last~1"]);
    assert!(compared.out.contains("workload.version"), "{compared:#?}");
}

/// A transaction whose condition is false sends no request.
#[test]
fn transaction_without_a_request_finishes_immediately() {
    let Some(version) = Postgres::available().into_iter().next() else { return };
    let server = Postgres::start(&version, &[("autovacuum", "off")]);
    let desk = TestEnv::new();
    let toml = r#"
name = "seldom"
[draw]
n = { uniform = [1, 10] }
[transaction.look]
weight = 1
commit = "each"
steps = [{ if = "n > 9", steps = [{ sql = "SELECT 1" }] }]
"#;
    write(&desk, "seldom", &[("workload.toml", toml)]);
    for url in [server.url(), "sqlite::memory:".to_owned()] {
        let record = run(&desk, "workload.folder=seldom", &url, &["--set", "run.threads=1"]);
        assert_eq!(record["status"], "valid", "{}", record["reasons"]);
        assert!(record["ops"]["look"]["count"].count() >= 4 * 150, "{:#}", record["ops"]);
    }
}

#[test]
fn broken_invariant_or_missing_row_invalidates_run() {
    let desk = TestEnv::new();
    let transfer = BANK[2].1.replace("balance + :amount", "balance + :amount + 1");
    write(&desk, "bank", &[BANK[0], BANK[1], ("transfer.sql", &transfer)]);
    let record = run(&desk, "workload.folder=bank", "sqlite::memory:", &[]);
    assert_eq!(record["status"], "invalid");
    let detail = find_check(&record, "invariants")["detail"].text().to_owned();
    assert!(detail.starts_with("broken by the run: money was 20000 before and is "), "{detail}");

    let toml = BANK[0].1.replace("from = { uniform = [1, 20] }", "from = { uniform = [1, 30] }");
    let toml = toml.replace("id = :from\", rows = 1", "id = :from\"");
    // Only transfers must find their rows.
    let toml = toml.replace("[transaction.columns]\nweight = 10", "[transaction.columns]\nweight = 0");
    write(&desk, "bank", &[("workload.toml", &toml), BANK[1], BANK[2]]);
    let record = run(&desk, "workload.folder=bank", "sqlite::memory:", &[]);
    assert_eq!(record["status"], "failed");
    let reasons = record["reasons"].to_string();
    assert!(
        reasons.contains("bank/transfer.sql:4:10: transfer_2 touched 0 rows, but must touch 1"),
        "{reasons}"
    );
}

#[test]
fn server_kill_during_transactions_keeps_the_invariant() {
    let Some(version) = Postgres::available().into_iter().next() else { return };
    let mut server = Postgres::start(&version, &[("autovacuum", "off")]);
    let desk = TestEnv::new();
    write(&desk, "bank", &BANK);
    load(&desk, "workload.folder=bank", &server.url());
    let url = server.url();
    let time = ["--set", "run.time=4s", "--set", "run.warmup=0s", "--set", "run.sessions_per_schema=4"];
    let mut running = desk.start(&args("run", "workload.folder=bank", &url, &time));
    running.wait_for_line("window");
    let moved = || server.psql("SELECT balance FROM bank_accounts WHERE id = 1");
    let first = moved();
    wait_until("a transfer", || moved() != first);
    server.kill9();
    let output = running.wait();
    assert_ne!(output.code, 0, "{output:#?}");
    server.restart();
    assert_eq!(server.psql("SELECT SUM(balance) FROM bank_accounts"), "20000");
    let record = desk.json(&["show", "last"]).1;
    assert_eq!(record["status"], "failed", "{}", record["reasons"]);
    // The conditions could not be queried, and the check says so.
    let invariants_check = find_check(&record, "invariants");
    assert!(invariants_check["detail"].text().contains("could not be queried"), "{invariants_check:#}");
}

#[test]
fn custom_sql_that_does_not_fit_is_reported_with_location() {
    let desk = TestEnv::new();
    let transfer = BANK[2].1.replace("balance - :amount", "balence - :amount");
    write(&desk, "bank", &[BANK[0], BANK[1], ("transfer.sql", &transfer)]);
    load(&desk, "workload.folder=bank", "sqlite:own.db");
    let checked = desk.dyno(&args("check", "workload.folder=bank", "sqlite:own.db", &[]));
    assert!(checked.out.contains("balence"), "{checked:#?}");
    let prove_output = desk.dyno(&args("prove", "workload.folder=bank", "sqlite:own.db", &["updates"]));
    assert_eq!(prove_output.code, 2, "{prove_output:#?}");
    assert!(prove_output.err.contains("a proof requires the block workload"), "{}", prove_output.err);
    let mixed = args("run", "workload.folder=bank", "sqlite:own.db", &["--set", "workload.update_pct=20"]);
    let mixed_output = desk.dyno(&mixed);
    assert_eq!(mixed_output.code, 2, "{mixed_output:#?}");
    assert!(
        mixed_output
            .err
            .contains("keys of the block workload are set together with the transactions of bank"),
        "{}",
        mixed_output.err
    );
}
