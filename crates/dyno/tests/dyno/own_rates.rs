//! Transactions with their own rates, among the others of their workload.

use serde_json::Value;

use crate::common::json::ExpectJson;
use crate::common::{TestEnv, assert_fits_schema, assert_passes, find_check};
use dyno_testbed::{MySql, Postgres};

/// Readers that pause briefly do not block a writer of SQLite.
const BANK: &str = r#"
name = "bank"
writes = true

[setup]
sql = """
CREATE TABLE rates_accounts (id INT NOT NULL PRIMARY KEY, balance INT NOT NULL);
INSERT INTO rates_accounts VALUES (1, 1000), (2, 1000), (3, 1000), (4, 1000);
CREATE TABLE rates_log (who INT NOT NULL, at INT NOT NULL, PRIMARY KEY (who, at))
"""

[drop]
sql = "DROP TABLE rates_accounts; DROP TABLE rates_log"

[draw]
from = { uniform = [1, 2] }
to = { expr = "from + 2" }
who = { uniform = [1, 1_000_000_000], per = "session" }
at = { sequence = [1, 1_000_000_000] }

[transaction.balance]
weight = 3
think = "2ms"
sql = "SELECT balance FROM rates_accounts WHERE id = :from"

[transaction.sums]
think = "2ms"
sql = "SELECT SUM(balance) FROM rates_accounts"

[transaction.transfer]
rate = "60/s"
sessions = 2
commit = "end"
retries = 20
steps = [
  { sql = "UPDATE rates_accounts SET balance = balance - 1 WHERE id = :from", rows = 1 },
  { sql = "UPDATE rates_accounts SET balance = balance + 1 WHERE id = :to", rows = 1 },
]

[transaction.note]
rate = "20/s"
retries = 20
sql = "INSERT INTO rates_log VALUES (:who, :at)"

[[invariant]]
name = "money"
sql = "SELECT SUM(balance) FROM rates_accounts"
"#;

fn env_with_bank() -> TestEnv {
    let desk = TestEnv::new();
    std::fs::create_dir_all(desk.file("bank")).unwrap();
    desk.write("bank/workload.toml", BANK);
    desk
}

fn args<'a>(command: &'a str, url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let sets = ["workload.folder=bank", "run.sessions_per_schema=2"].into_iter().chain(more.iter().copied());
    [command, "--target", url].into_iter().chain(sets.flat_map(|set| ["--set", set])).collect()
}

fn run(desk: &TestEnv, url: &str, more: &[&str]) -> Value {
    let (code, record) = desk.json(&args("run", url, more));
    assert_eq!(
        (code, record["status"].as_str()),
        (0, Some("valid")),
        "{} {:#}",
        record["reasons"],
        record["audit"]
    );
    assert_fits_schema(&record);
    for name in ["operations", "mix", "invariants", "commits_whole", "sessions"] {
        assert_passes(&record, name);
    }
    record
}

/// Whether the count is plausible for a Poisson process with this expectation.
fn is_near(count: u64, expected: f64) -> bool {
    (count as f64 - expected).abs() <= 5.0 * expected.sqrt() + 3.0
}

/// The first of several runs that is as wanted: a busy machine cannot keep up with a rate, and the run
/// reports that.
fn run_until_accepted(desk: &TestEnv, url: &str, more: &[&str], wanted: impl Fn(&Value) -> bool) -> Value {
    let mut record = run(desk, url, more);
    for _ in 0..4 {
        if wanted(&record) {
            break;
        }
        record = run(desk, url, more);
    }
    assert!(wanted(&record), "{:#}", record["ops"]);
    record
}

fn count(record: &Value, class: &str) -> u64 {
    record["ops"][class]["count"].as_u64().unwrap_or(0)
}

fn assert_rates_kept(desk: &TestEnv, url: &str) {
    let load = desk.dyno(&args("load", url, &[]));
    assert_eq!(load.code, 0, "{load:#?}");
    // Its classes keep their names; each with a rate comes at that rate, and the others continue as fast as
    // they can.
    let record = run_until_accepted(desk, url, &["run.time=2s", "run.warmup=1s"], |record| {
        is_near(count(record, "transfer"), 120.0) && is_near(count(record, "note"), 40.0)
    });
    let count = |class: &str| count(&record, class);
    let closed = count("balance") + count("sums");
    assert!(closed > 0, "{:#}", record["ops"]);
    assert!(count("all") == closed + count("transfer") + count("note"), "{:#}", record["ops"]);
    let share = |own: &Value| {
        let share = &own["share"];
        let figures =
            (share["sessions"].as_u64(), share["rate_per_s"].as_f64(), share["ops"]["count"].as_u64());
        (own["name"].text().to_owned(), figures)
    };
    assert_eq!(share(&record["workload"]), ("bank".to_owned(), (Some(2), None, Some(closed))));
    let beside: Vec<_> = record["beside"].items().iter().map(share).collect();
    assert_eq!(
        beside,
        [
            ("bank.transfer".to_owned(), (Some(2), Some(60.0), Some(count("transfer")))),
            ("bank.note".to_owned(), (Some(1), Some(20.0), Some(count("note"))))
        ]
    );
    let times = |class: &str| {
        let ops = &record["ops"][class];
        (ops["service_us"]["mean"].number(), ops["response_us"]["mean"].number())
    };
    assert!(times("transfer").1 > times("transfer").0, "{:#}", record["ops"]);
    assert_eq!(times("balance").0, times("balance").1);
    let words = find_check(&record, "open_loop")["detail"].text();
    assert!(words.starts_with("bank.transfer: 60.0/s requested, "), "{words}");
    assert!(words.contains("; bank.note: 20.0/s"), "{words}");
    assert_eq!(record["plan"]["workload"]["own_rates"][0]["transaction"], "transfer");
    let shown = desk.dyno(&["show", record["id"].text()]).out;
    assert!(shown.contains("bank.transfer"), "{shown}");
    assert!(shown.contains("open loop at 60/s"), "{shown}");

    // The others follow the run's rate, or its phases.
    run_until_accepted(desk, url, &["run.time=2s", "run.warmup=100ms", "workload.rate=40/s"], |rated| {
        is_near(self::count(rated, "balance") + self::count(rated, "sums"), 80.0)
            && is_near(self::count(rated, "transfer"), 120.0)
    });
    let phases = ["run.warmup=100ms", "workload.phases=hold 20/s 1s, hold 80/s 1s"];
    run_until_accepted(desk, url, &phases, |phased| {
        let mut phases = phased["phases"].items().iter().zip([20.0, 80.0]);
        phases.all(|(phase, asked)| {
            let op_count = |class: &str| self::count(phase, class);
            is_near(op_count("balance") + op_count("sums"), asked) && is_near(op_count("transfer"), 60.0)
        })
    });
    let drop = desk.dyno(&[&args("drop", url, &[])[..], &["--yes"]].concat());
    assert_eq!(drop.code, 0, "{drop:#?}");
}

#[test]
fn transaction_keeps_its_own_rate_on_sqlite() {
    let desk = env_with_bank();
    let url = format!("sqlite:{}", desk.file("t.db").display());
    assert_rates_kept(&desk, &url);
}

#[test]
fn transaction_keeps_its_own_rate_on_postgres() {
    for version in Postgres::newest_or_all() {
        let server = Postgres::start(&version, &[("autovacuum", "off")]);
        assert_rates_kept(&env_with_bank(), &server.url());
    }
}

#[test]
fn transaction_keeps_its_own_rate_on_mysql_and_mariadb() {
    for version in MySql::available() {
        let server = MySql::start(&version, &[]);
        assert_rates_kept(&env_with_bank(), &server.url());
    }
}

#[test]
fn mix_rates_can_be_swept_and_added_workloads_keep_their_own() {
    let desk = env_with_bank();
    let mixes = "mix = \"slow\"\n[mixes]\nslow = { balance = 1, transfer = \"20/s\" }\n\
                 fast = { balance = 1, transfer = \"60/s\" }\nlog = { sums = 1, note = \"30/s\" }\n";
    desk.write("bank/workload.toml", &BANK.replace("writes = true\n", &format!("writes = true\n{mixes}")));
    let url = format!("sqlite:{}", desk.file("t.db").display());
    let length =
        ["run.time=1s", "run.warmup=100ms", "observe.interval=200ms", "sweep.workload.mix=slow,fast"];
    assert_eq!(desk.dyno(&args("load", &url, &[])).code, 0);
    let sweep = desk.dyno(&args("sweep", &url, &[&length[..], &["sweep.repeats=1"]].concat()));
    assert_eq!(sweep.code, 0, "{sweep:#?}");
    let transfers = |run: &str| {
        let (_, record) = desk.json(&["show", run]);
        (record["plan"]["workload"]["mix"].text().to_owned(), record["ops"]["transfer"]["count"].count())
    };
    let transfer_counts: std::collections::BTreeMap<String, u64> =
        [transfers("last"), transfers("last~1")].into();
    assert!(is_near(transfer_counts["slow"], 20.0), "{transfer_counts:?}");
    assert!(is_near(transfer_counts["fast"], 60.0), "{transfer_counts:?}");
    // For a background workload, its label precedes both.
    let record =
        run(&desk, &url, &[&length[..3], &["workload.beside=bank", "workload.beside_mix=log"]].concat());
    let beside: Vec<&str> = record["beside"].items().iter().map(|own| own["name"].text()).collect();
    assert_eq!(beside, ["bank_log", "bank.transfer", "bank_log.note"]);
    let count = |class: &str| record["ops"][class]["count"].as_u64().unwrap_or(0);
    assert!(is_near(count("transfer"), 20.0), "{:#}", record["ops"]);
    assert!(is_near(count("bank_log.note"), 30.0), "{:#}", record["ops"]);
    assert!(count("bank_log.sums") > 0);
}

#[test]
fn consent_and_check_cover_all_parts_of_a_workload() {
    let desk = env_with_bank();
    let url = "sqlite:t.db";
    assert_eq!(desk.dyno(&args("load", url, &[])).code, 0);
    let setup = BANK.find("[setup]").unwrap()..BANK.find("[draw]").unwrap();
    desk.write("bank/workload.toml", &BANK.replace(&BANK[setup], ""));
    let refused = desk.dyno(&args("run", url, &["run.time=1s"]));
    assert_eq!(refused.code, 2, "{refused:#?}");
    assert!(refused.err.contains("transfer: UPDATE rates_accounts"), "{}", refused.err);
    assert!(refused.err.contains("note: INSERT rates_log"), "{}", refused.err);
    let output = desk.dyno(&["workload", "check", "bank", "--target", url, "--explain"]);
    assert_eq!(output.code, 0, "{output:#?}");
    assert!(output.out.contains("60/s on 2 sessions"), "{}", output.out);
    assert!(output.out.contains("20/s on 1 session"), "{}", output.out);
    assert!(!output.out.contains("no sampled transaction"), "{}", output.out);
    desk.write("bank/workload.toml", &BANK.replace("INSERT INTO rates_log", "INSERT INTO nowhere"));
    let broken = desk.dyno(&args("check", url, &[]));
    assert!(format!("{}{}", broken.out, broken.err).contains("nowhere"), "{broken:#?}");
}
