//! Several concurrent workloads: queries besides writes at a fixed rate, each with its own sessions and
//! figures.

use serde_json::Value;

use crate::common::json::ExpectJson;
use crate::common::{TestEnv, assert_fits_schema, assert_passes, find_check};
use dyno_testbed::{MySql, Postgres};

const BANK: &str = r#"
name = "bank"
writes = true
mix = "readers"

[setup]
sql = """
CREATE TABLE beside_accounts (id INT NOT NULL PRIMARY KEY, balance INT NOT NULL);
INSERT INTO beside_accounts SELECT 10 * a.n + b.n, 1000 FROM
  (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3) a,
  (SELECT 1 AS n UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5) b
"""

[drop]
sql = "DROP TABLE beside_accounts"

[mixes]
readers = { balance = 3, sums = 1 }
writers = { transfer = 1 }

[draw]
from = { uniform = [1, 5] }
to = { expr = "from + 10" }
amount = { uniform = [1, 100] }

# Readers that never rest would keep the writers of SQLite out.
[transaction.balance]
think = "2ms"
sql = "SELECT balance FROM beside_accounts WHERE id = :from"

[transaction.sums]
think = "2ms"
sql = "SELECT SUM(balance) FROM beside_accounts"

[transaction.transfer]
commit = "end"
retries = 20
steps = [
  { sql = "UPDATE beside_accounts SET balance = balance - :amount WHERE id = :from", rows = 1 },
  { sql = "UPDATE beside_accounts SET balance = balance + :amount WHERE id = :to", rows = 1 },
]

[[invariant]]
name = "money"
sql = "SELECT SUM(balance) FROM beside_accounts"
"#;

const LOG: &str = r#"
name = "log"
writes = true

[setup]
sql = "CREATE TABLE beside_log (who INT NOT NULL, at INT NOT NULL, PRIMARY KEY (who, at))"

[drop]
sql = "DROP TABLE beside_log"

[draw]
who = { uniform = [1, 1_000_000_000], per = "session" }
at = { sequence = [1, 1_000_000_000] }

[transaction.note]
think = "10ms"
sql = "INSERT INTO beside_log VALUES (:who, :at)"
"#;

const SETTINGS: [&str; 5] = [
    "workload.folder=bank",
    "workload.beside=bank,log",
    "workload.beside_mix=writers,own",
    "workload.beside_sessions=2,1",
    "workload.beside_rate=100/s,off",
];

fn env_with_workloads() -> TestEnv {
    let desk = TestEnv::new();
    for (folder, text) in [("bank", BANK), ("log", LOG)] {
        std::fs::create_dir_all(desk.file(folder)).unwrap();
        desk.write(&format!("{folder}/workload.toml"), text);
    }
    desk
}

fn args<'a>(command: &'a str, url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let sets = SETTINGS.iter().flat_map(|set| ["--set", set]);
    [command, "--target", url].into_iter().chain(sets).chain(more.iter().copied()).collect()
}

fn assert_runs_together(desk: &TestEnv, url: &str) -> Value {
    let load = desk.dyno(&args("load", url, &[]));
    assert_eq!(load.code, 0, "{load:#?}");
    let run = desk.dyno(&args(
        "run",
        url,
        &["--set", "run.sessions_per_schema=2", "--set", "run.time=2s", "--set", "run.warmup=1s", "--json"],
    ));
    assert!(run.out.starts_with('{'), "{run:#?}");
    let record: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(record["status"], "valid", "{} {run:#?}", record["reasons"]);
    for name in ["operations", "mix", "invariants", "commits_whole", "sessions"] {
        assert_passes(&record, name);
    }
    // Only one of them has a rate. On a busy machine some operations start late, and the detail says so.
    let rate = find_check(&record, "open_loop");
    let words = rate["detail"].text();
    assert!(words.starts_with("bank_writers: 100/s requested, "), "{rate:#}");
    assert_eq!(words.matches(" requested").count(), 1, "{rate:#}");
    let ops = |class: &str| record["ops"][class]["count"].as_u64().unwrap_or(0);
    let (readers, writers, notes) =
        (ops("balance") + ops("sums"), ops("bank_writers.transfer"), ops("log.note"));
    assert!(readers > 0, "{:#}", record["ops"]);
    assert!(writers > 0, "{:#}", record["ops"]);
    assert!(notes > 0, "{:#}", record["ops"]);
    // The figures of the run are those of the first workload; each background workload has its own.
    let share = |own: &Value| (own["share"]["sessions"].as_u64(), own["share"]["ops"]["count"].as_u64());
    assert_eq!(share(&record["workload"]), (Some(2), Some(readers)));
    assert_eq!(share(&record["beside"][0]), (Some(2), Some(writers)));
    assert_eq!(share(&record["beside"][1]), (Some(1), Some(notes)));
    assert_eq!(record["ops"]["all"]["count"], readers + writers + notes);
    assert_eq!(record["metrics"]["ops_per_s"]["value"], record["workload"]["share"]["ops"]["rate_per_s"]);
    assert_eq!(record["beside"][0]["share"]["rate_per_s"], 100.0);
    assert_eq!(record["gate"]["sessions"], 5);
    // Operations due by a rate wait for their turn; others have no such wait.
    let times = |class: &str| {
        let ops = &record["ops"][class];
        (ops["service_us"]["mean"].number(), ops["response_us"]["mean"].number())
    };
    let (service, response) = times("bank_writers.transfer");
    assert!(response > service, "{response} {service}");
    assert_eq!(times("balance").0, times("balance").1);
    let shown = desk.dyno(&["show", record["id"].text()]);
    assert!(shown.out.contains("concurrent workloads"), "{}", shown.out);
    let drop = desk.dyno(&args("drop", url, &["--yes"]));
    assert_eq!(drop.code, 0, "{drop:#?}");
    record
}

#[test]
fn workloads_run_side_by_side_on_sqlite() {
    let desk = env_with_workloads();
    let url = format!("sqlite:{}", desk.file("t.db").display());
    let record = assert_runs_together(&desk, &url);
    // The cost of each was learned separately.
    let learned = |own: &Value| own["expected"].as_array().map_or(0, Vec::len);
    assert_eq!((learned(&record["workload"]), learned(&record["beside"][0])), (2, 1), "{record:#}");
}

#[test]
fn workloads_run_side_by_side_on_postgres() {
    for version in Postgres::newest_or_all() {
        let server = Postgres::start(&version, &[("autovacuum", "off")]);
        assert_runs_together(&env_with_workloads(), &server.url());
    }
}

#[test]
fn workloads_run_side_by_side_on_mysql_and_mariadb() {
    for version in MySql::available() {
        let server = MySql::start(&version, &[]);
        assert_runs_together(&env_with_workloads(), &server.url());
    }
}

/// A schedule drives the first workload; the others keep their own rate, and each phase has the figures of
/// all.
fn assert_phases_followed(desk: &TestEnv, url: &str) {
    let load = desk.dyno(&args("load", url, &[]));
    assert_eq!(load.code, 0, "{load:#?}");
    let more = [
        "--set",
        "workload.phases=ramp 0..200/s 2s, hold 50/s 1s",
        "--set",
        "run.sessions_per_schema=2",
        "--set",
        "run.warmup=500ms",
        "--set",
        "observe.interval=500ms",
        "--json",
    ];
    let run = desk.dyno(&args("run", url, &more));
    assert!(run.out.starts_with('{'), "{run:#?}");
    let record: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(record["status"], "valid", "{} {run:#?}", record["reasons"]);
    assert_fits_schema(&record);
    let phases = record["phases"].items();
    assert_eq!(phases.len(), 2);
    let mut inside = [0; 3];
    for (phase, (requested, seconds)) in phases.iter().zip([(200.0, 2.0), (50.0, 1.0f64)]) {
        let ops = |class: &str| phase["ops"][class]["count"].as_u64().unwrap_or(0);
        let workload_figures = phase["workloads"].items();
        let counts: Vec<u64> = workload_figures.iter().map(|own| own["count"].count()).collect();
        assert_eq!(
            counts,
            [ops("balance") + ops("sums"), ops("bank_writers.transfer"), ops("log.note")],
            "{phase:#}"
        );
        assert_eq!(ops("all"), counts.iter().sum::<u64>());
        // The number due follows from the schedule of the first workload, whatever the others did.
        let due = phase["due"].count();
        assert!((due as f64 - requested).abs() < 5.0 * requested.sqrt(), "{phase:#}");
        assert!(counts[0] <= due, "{phase:#}");
        assert!(counts[0] + phase["behind"].count() + 5 >= due, "{phase:#}");
        // The writers' rate is constant in all phases.
        let writes = 100.0 * seconds;
        assert!((counts[1] as f64 - writes).abs() < 5.0 * writes.sqrt() + 3.0, "{phase:#}");
        assert!(counts[2] > 0, "{phase:#}");
        // Operations due by a schedule wait for their turn; others have no such wait.
        let times = |class: &str| {
            let ops = &phase["ops"][class];
            (ops["service_us"]["mean"].number(), ops["response_us"]["mean"].number())
        };
        assert_eq!(times("log.note").0, times("log.note").1);
        assert!(times("bank_writers.transfer").1 > times("bank_writers.transfer").0, "{phase:#}");
        inside.iter_mut().zip(counts).for_each(|(sum, done)| *sum += done);
    }
    // Each session can have been in one operation at either end of the schedule. If a session reached the begin
    // late, operations that were due before it were done in the window; if the window ended later, they continued.
    let window = &record["window"];
    let edge_s = |edge: usize| window["edge_us_max"][edge].number() / 1e6;
    let over_s = (window["seconds"].number() - 3.0).max(0.0) + edge_s(0) + edge_s(1);
    let more = |whole: u64| 5 + (2.0 * over_s * whole as f64 / 3.0).ceil() as u64;
    let whole = |own: &Value| own["share"]["ops"]["count"].count();
    let wholes = [&record["workload"], &record["beside"][0], &record["beside"][1]].map(whole);
    for (whole, inside) in wholes.into_iter().zip(inside) {
        assert!(inside <= whole, "{inside} of {whole}: {window:#}");
        assert!(whole <= inside + more(whole), "{inside} of {whole}: {window:#}");
    }
    assert!((record["workload"]["share"]["rate_per_s"].number() - 250.0 / 3.0).abs() < 1e-6);
    let rates = find_check(&record, "open_loop");
    let words = rates["detail"].text();
    assert!(words.starts_with("bank: 250 arrivals requested in 2 phases"), "{rates:#}");
    assert!(words.contains("; bank_writers: 100/s requested"), "{rates:#}");
    let shown = desk.dyno(&["show", record["id"].text()]).out;
    assert!(shown.contains("  bank_writers.transfer"), "{shown}");
    assert!(shown.contains("The schedule of bank"), "{shown}");
    let id = record["id"].text();
    assert_eq!(desk.dyno(&["report", id, "--output", "page.html"]).code, 0);
    let page = std::fs::read_to_string(desk.file("page.html")).unwrap();
    assert!(page.contains("requested of bank"));
    assert!(page.contains("The schedule of bank"));
    let csv = desk.dyno(&["report", id, "--format", "csv"]).out;
    let lines: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let at = lines[0].iter().position(|name| *name == "ops_per_s").unwrap();
    let rates: Vec<f64> =
        lines[1..].iter().map(|line| line[line.len() + at - lines[0].len()].parse().unwrap()).collect();
    let rate = |ops: &Value| ops["rate_per_s"].number();
    let led = phases.iter().map(|phase| rate(&phase["workloads"][0]));
    let reported_rates: Vec<f64> =
        [rate(&record["workload"]["share"]["ops"])].into_iter().chain(led).collect();
    assert!(
        rates.iter().zip(&reported_rates).all(|(csv, told)| (csv - told).abs() < 1e-6),
        "{rates:?} {reported_rates:?}"
    );
    assert_eq!(rates.len(), 3, "{csv}");
}

#[test]
fn phases_drive_only_first_workload_on_sqlite() {
    let desk = env_with_workloads();
    let url = format!("sqlite:{}", desk.file("t.db").display());
    assert_phases_followed(&desk, &url);
}

#[test]
fn phases_drive_only_first_workload_on_postgres() {
    for version in Postgres::newest_or_all() {
        let server = Postgres::start(&version, &[("autovacuum", "off")]);
        assert_phases_followed(&env_with_workloads(), &server.url());
    }
}

#[test]
fn rate_of_one_workload_is_a_sweep_axis_for_the_other() {
    let desk = env_with_workloads();
    let url = format!("sqlite:{}", desk.file("t.db").display());
    assert_eq!(desk.dyno(&args("load", &url, &[])).code, 0);
    desk.write(
        "plan.toml",
        &format!(
            "version = 1\n[target]\nurl = {url:?}\n[workload]\nfolder = \"bank\"\nbeside = \"bank\"\n\
             beside_mix = \"writers\"\n[run]\nwarmup = \"0s\"\ntime = \"1s\"\n[observe]\ninterval = \"100ms\"\n\
             [sweep]\nbeside_rate = [\"20/s\", \"60/s\"]\nrepeats = 1\n"
        ),
    );
    let sweep = desk.dyno(&["sweep", "--plan", "plan.toml"]);
    assert_eq!(sweep.code, 0, "{sweep:#?}");
    assert!(sweep.out.contains("beside_rate"), "{}", sweep.out);
    // The table shows the background workload's rate next to the other's throughput.
    assert!(sweep.out.contains("20/s"), "{}", sweep.out);
    assert!(sweep.out.contains("60/s"), "{}", sweep.out);
}

#[test]
fn invalid_combinations_of_workloads_are_refused() {
    let desk = env_with_workloads();
    let error_for = |sets: &[&str]| {
        let sets = sets.iter().flat_map(|set| ["--set", set]);
        let output =
            desk.dyno(&["run", "--target", "sqlite::memory:"].into_iter().chain(sets).collect::<Vec<_>>());
        assert_eq!(output.code, 2, "{output:#?}");
        output.err
    };
    let alone = error_for(&["workload.beside=log"]);
    assert!(alone.contains("workload.beside requires workload.folder"), "{alone}");
    let mix = error_for(&["workload.folder=bank", "workload.mix=wrters"]);
    assert!(mix.contains("unknown mix"), "{mix}");
    assert!(mix.contains("writers"), "{mix}");
    let lengths = error_for(&["workload.folder=bank", "workload.beside=log", "workload.beside_sessions=2,3"]);
    assert!(lengths.contains("2 values for 1 workloads"), "{lengths}");
}
