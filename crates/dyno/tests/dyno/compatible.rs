//! Servers that announce themselves as another product with the protocol of PostgreSQL or MySQL. They are real
//! ones that say so on request; what else the announced product lacks, they do not show.

use crate::common::json::ExpectJson;
use crate::common::{TestEnv, find_check};
use dyno_testbed::{MyProduct, MySql, Postgres};
use serde_json::Value;

const WORKLOAD: &str = r#"
name = "shop"
writes = true

[table.compatible_items]
rows = 100
primary_key = "id"
[table.compatible_items.columns]
id = { type = "integer", expr = "row" }
sold = { type = "integer", value = 0 }

[draw]
id = { uniform = [1, 100] }

[transaction.sell]
sql = "UPDATE compatible_items SET sold = sold + 1 WHERE id = :id"

[transaction.read]
sql = "SELECT sold FROM compatible_items WHERE id = :id"

[[invariant]]
name = "items"
sql = "SELECT COUNT(*) FROM compatible_items"
"#;

/// Loads and runs the workload; the sessions' own figures are the only ones.
fn assert_runs_by_sql_only(url: &str, product: &str) {
    let desk = TestEnv::new();
    std::fs::create_dir(desk.file("shop")).unwrap();
    std::fs::write(desk.file("shop/workload.toml"), WORKLOAD).unwrap();
    let folder = format!("workload.folder={}", desk.file("shop").display());
    let common = ["--target", url, "--set", &folder];
    let loaded = desk.dyno(&[&["load"][..], &common].concat());
    assert_eq!(loaded.code, 0, "{loaded:#?}");
    assert!(loaded.err.contains(&format!("{product} has no locks that Dyno could use")), "{loaded:#?}");

    let short = ["--json", "--set", "run.warmup=0s", "--set", "run.ops_per_session=50"];
    let ran = desk.dyno(&[&["run"][..], &common, &short].concat());
    let record: Value = serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:#?}"));
    assert_eq!(record["status"], "valid", "{}", record["reasons"]);
    assert_eq!(record["targets"][0]["product"], product, "{}", record["targets"]);
    assert_eq!(find_check(&record, "invariants")["status"], "pass");
    let counters = record["counters"]["portable"].fields();
    assert_eq!(counters.len(), 20, "each is there with its reason");
    for (name, counter) in counters {
        let reason = counter["absent"].as_str().unwrap_or_else(|| panic!("{name}: {counter}"));
        assert!(reason.starts_with(&format!("{product}: ")), "{name}: {reason}");
    }
    // Nothing is judged that was not measured.
    for check in ["commits", "commits_whole", "edges", "rows_updated"] {
        assert_eq!(find_check(&record, check)["status"], "skipped", "{check}");
    }

    let shown = desk.dyno(&[&["check"][..], &common].concat());
    assert!(shown.code == 0, "{shown:#?}");
    assert!(shown.out.contains(&format!("compatibility: {product}: it")), "{shown:#?}");
    let refused = desk.dyno(&["load", "--target", url, "--set", "data.scale=1M"]);
    assert_ne!(refused.code, 0);
    assert!(
        refused.err.contains(&format!("test data of one row per block is not possible: {product}: it")),
        "{refused:#?}"
    );
    assert!(refused.err.contains("dyno init --workload"), "{refused:#?}");
    let dropped = desk.dyno(&[&["drop", "--yes"][..], &common].concat());
    assert_eq!(dropped.code, 0, "{dropped:#?}");
}

#[test]
fn server_that_announces_tidb_is_driven_by_sql_only() {
    // MySQL does not let itself be renamed.
    for version in MySql::available().iter().filter(|version| version.product == MyProduct::MariaDb) {
        let server = MySql::start(version, &[("version", "8.0.11-TiDB-v7.5.1")]);
        assert_runs_by_sql_only(&server.url(), "TiDB");
    }
}

/// Lets `server` call itself something else.
pub(crate) fn announce(server: &Postgres, function: &str, text: &str) {
    server.psql(&format!(
        "SET allow_system_table_mods = on; CREATE OR REPLACE FUNCTION pg_catalog.{function}() RETURNS text
         LANGUAGE sql STABLE AS $$ SELECT '{text}' $$"
    ));
}

#[test]
fn server_that_announces_cockroachdb_is_driven_by_sql_only() {
    let Some(version) = Postgres::available().pop() else { return };
    let server = Postgres::start(&version, &[]);
    announce(&server, "version", "CockroachDB CCL v23.2.4 (x86_64-pc-linux-gnu)");
    assert_runs_by_sql_only(&server.url(), "CockroachDB");
}

#[test]
fn server_that_announces_aurora_lacks_counters_of_its_storage_only() {
    let Some(version) = Postgres::available().pop() else { return };
    let server = Postgres::start(&version, &[]);
    announce(&server, "aurora_version", "16.4.1");
    let (url, desk) = (server.url(), TestEnv::new());
    let small = ["--set", "data.scale=1M", "--set", "workload.update_pct=50"];
    assert_eq!(desk.dyno(&[&["load", "--target", &url][..], &small].concat()).code, 0);
    let short = ["--set", "run.warmup=0s", "--set", "run.ops_per_session=50"];
    let (code, record) = desk.json(&[&["run", "--target", &url][..], &small, &short].concat());
    assert_eq!((code, &record["status"]), (0, &"valid".into()), "{}", record["reasons"]);
    assert_eq!(record["targets"][0]["product"], "Aurora PostgreSQL");
    let counters = &record["counters"]["portable"];
    let reason = counters["redo_bytes"]["absent"].as_str().unwrap_or_default();
    assert!(reason.starts_with("Aurora PostgreSQL: its storage nodes make the log durable"), "{counters:#}");
    assert!(counters["physical_writes"]["absent"].is_string(), "{counters:#}");
    for check in ["commits", "logical_reads", "rows_updated"] {
        assert_ne!(find_check(&record, check)["status"], "fail", "{check}");
    }
    assert_eq!(find_check(&record, "commits_whole")["status"], "pass", "what remains is judged");
}
