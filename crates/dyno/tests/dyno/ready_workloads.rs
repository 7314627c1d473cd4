//! Ready workloads at a small size, as a user runs them: written, loaded, run, proved and dropped, on each
//! engine.

use crate::common::json::ExpectJson;
use crate::common::{TestEnv, find_check};
use dyno_testbed::{MySql, Postgres};
use dyno_workload::custom::example::EXAMPLES;
use serde_json::Value;

/// Few operations, so that a run is short.
const FEW: [&str; 6] =
    ["--set", "run.sessions_per_schema=4", "--set", "run.ops_per_session=60", "--set", "run.warmup=0s"];

/// A test environment with all of them.
fn env_with_workloads() -> TestEnv {
    let desk = TestEnv::new();
    for name in names() {
        let output = desk.dyno(&["init", "--workload", name]);
        assert_eq!(output.code, 0, "{output:#?}");
    }
    desk
}

/// All workloads except three that other tests cover: the language example (`own_sql`), the load
/// (`bulkload`), and the large one (`orders`).
fn names() -> impl Iterator<Item = &'static str> {
    let excluded = ["shop", "bulkload", "orders"];
    EXAMPLES.iter().map(|example| example.name).filter(move |name| !excluded.contains(name))
}

fn run_command(desk: &TestEnv, command: &str, folder: &str, url: &str, more: &[&str]) -> String {
    let set = format!("workload.folder={folder}");
    let output = desk.dyno(&[&[command, "--target", url, "--set", &set][..], more].concat());
    assert_eq!(output.code, 0, "{command} {folder}: {output:#?}");
    output.out
}

/// Runs it once, and checks what must hold.
fn run(desk: &TestEnv, folder: &str, url: &str, writes: bool) -> Value {
    let out = run_command(desk, "run", folder, url, &[&FEW[..], &["--json"]].concat());
    let record: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(record["status"], "valid", "{folder}: {}", record["reasons"]);
    let invariants = find_check(&record, "invariants");
    assert_eq!(invariants["status"], "pass", "{folder}: {invariants:#}");
    if writes {
        let commits = find_check(&record, "commits_whole");
        assert_eq!(commits["status"], "pass", "{folder}: {commits:#}");
    }
    for class in record["classes"].items() {
        let name = class["name"].text();
        assert!(record["ops"][name]["count"].count() > 0, "{folder}: {name}: {:#}", record["ops"]);
    }
    record
}

/// All of them on one target.
fn assert_all_workloads(desk: &TestEnv, url: &str, mixes: &[&str]) {
    assert_workloads(desk, url, mixes, names());
}

/// These on one target; each is dropped at the end.
fn assert_workloads(desk: &TestEnv, url: &str, mixes: &[&str], names: impl Iterator<Item = &'static str>) {
    for name in names {
        run_command(desk, "load", name, url, &[]);
        if name == "key-value" {
            for mix in mixes {
                let file = desk.file("key-value/workload.toml");
                let text = std::fs::read_to_string(&file).unwrap();
                let line = text.lines().find(|line| line.starts_with("mix = ")).unwrap();
                std::fs::write(&file, text.replace(line, &format!("mix = \"{mix}\""))).unwrap();
                run(desk, name, url, *mix != "c");
            }
        } else {
            run(desk, name, url, name != "point-select");
        }
        run_command(desk, "drop", name, url, &["--yes"]);
    }
}

#[test]
fn built_in_workloads_run_on_sqlite() {
    let desk = env_with_workloads();
    let url = format!("sqlite:{}", desk.file("ready.db").display());
    assert_all_workloads(&desk, &url, &["a", "b", "c", "d", "e", "f"]);
    assert_eq!(tables_left(&desk), "");

    let scaled = ["--set", "workload.scale=2"];
    run_command(&desk, "load", "tpcb", &url, &scaled);
    let count = |table: &str| query_text(&desk, &format!("SELECT COUNT(*) || '' FROM {table}"));
    assert_eq!((count("tpcb_branches"), count("tpcb_accounts")), ("2".to_owned(), "200000".to_owned()));
    run_command(&desk, "run", "tpcb", &url, &[&FEW[..], &scaled].concat());
}

/// Names of tables in the file.
fn tables_left(desk: &TestEnv) -> String {
    query_text(
        desk,
        "SELECT COALESCE(GROUP_CONCAT(name), '') FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'",
    )
}

/// The text returned by a query on the file.
fn query_text(desk: &TestEnv, sql: &str) -> String {
    let connection = rusqlite::Connection::open(desk.file("ready.db")).unwrap();
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Mixes that together include every transaction.
const THREE: [&str; 3] = ["d", "e", "f"];

#[test]
fn built_in_workloads_run_on_postgres() {
    for version in Postgres::newest_or_all() {
        let server = Postgres::start(&version, &[("autovacuum", "off")]);
        assert_all_workloads(&env_with_workloads(), &server.url(), &THREE);
        let left = "SELECT COUNT(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace";
        assert_eq!(server.psql(left), "0");
    }
}

/// Both products share the text of a workload, so each workload runs on one of them, in turn. JSON and skipped
/// locks are implemented differently, so the workloads with these run on both.
#[test]
fn built_in_workloads_run_on_mysql_and_mariadb() {
    for (product, version) in MySql::available().into_iter().enumerate() {
        let server = MySql::start(&version, &[]);
        let is_here =
            |(at, name): &(usize, &str)| ["json-documents", "queue"].contains(name) || at % 2 == product % 2;
        let here = names().enumerate().filter(is_here).map(|(_, name)| name);
        assert_workloads(&env_with_workloads(), &server.url(), &THREE, here);
        let left = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE()";
        assert_eq!(server.sql(left), "0");
    }
}

/// Settings of a small run of `folder`.
fn small_run_args<'a>(folder: &'a str, url: &'a str) -> Vec<&'a str> {
    [&["--target", url, "--set", folder][..], &FEW[2..]].concat()
}

#[test]
fn petal_charts_and_comparisons_accept_tpcb() {
    let Some(version) = Postgres::available().into_iter().next() else { return };
    let server = Postgres::start(&version, &[("autovacuum", "off")]);
    let desk = env_with_workloads();
    run_command(&desk, "load", "tpcb", &server.url(), &[]);
    let url = server.url();
    let args = small_run_args("workload.folder=tpcb", &url);
    let grid = ["--set", "sweep.sessions=1,2,4", "--set", "sweep.repeats=1", "--set", "sweep.pause=0s"];
    let sweep = desk.dyno(&[&["sweep"], &args[..], &grid].concat());
    assert!(sweep.code == 0, "{sweep:#?}");
    assert!(sweep.out.contains("throughput"), "{sweep:#?}");
    let (_, listed) = desk.json(&["list", "--sweep", "last"]);
    let valid = listed.items().iter().filter(|run| run["status"] == "valid").count();
    assert_eq!(valid, 3, "{listed:#}");
    let page = desk.dyno(&["report", "sweep:last", "--format", "md", "-o", "-"]);
    assert!(page.out.contains("## Result of the sweep "), "{page:#?}");
    assert!(page.out.contains("transfer"), "{page:#?}");

    for variant in ["one", "other"] {
        let more = ["--set", "run.sessions_per_schema=2", "--variant", variant];
        let output = desk.dyno(&[&["run"], &args[..], &more].concat());
        assert_eq!(output.code, 0, "{output:#?}");
    }
    let compared = desk.dyno(&["compare", "variant:one", "variant:other"]);
    assert!(compared.out.contains("from one run of each side"), "{compared:#?}");
    assert!(!compared.out.contains("workload.version"), "{compared:#?}");
}

#[test]
fn a_search_finds_the_knee_of_oltp_read_write() {
    let Some(version) = Postgres::available().into_iter().next() else { return };
    let server = Postgres::start(&version, &[("autovacuum", "off")]);
    let desk = env_with_workloads();
    run_command(&desk, "load", "oltp-read-write", &server.url(), &[]);
    let url = server.url();
    let args = small_run_args("workload.folder=oltp-read-write", &url);
    let limit = ["--limit", "p99 <= 10m", "--max", "3", "--confirm", "1"];
    let output = desk.dyno(&[&["search"], &args[..], &limit].concat());
    assert_eq!(output.code, 0, "{output:#?}");
    let (_, json) = desk.json(&["show", "sweep:last"]);
    let line = json["conclusions"][0]["line"].text();
    assert!(line.contains("p99 <= 10m holds up to 3 sessions"), "{line}");
}
