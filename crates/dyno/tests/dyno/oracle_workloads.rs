//! Ready workloads and order entry over Oracle's wire protocol, with their tables on MariaDB in its Oracle mode. No
//! test here shows what an Oracle database does.

use dyno_testbed::{ModelOptions, ScriptedRelease, UserTables};
use serde_json::Value;

use crate::common::find_check;
use crate::common::json::ExpectJson;
use crate::oracle_double::OracleDouble;

/// Few operations, so that a run is short.
const FEW: [&str; 6] =
    ["--set", "run.sessions_per_schema=4", "--set", "run.ops_per_session=40", "--set", "run.warmup=0s"];

/// The procedures of order entry as MariaDB accepts them: the same names, parameters and effects.
const PROCEDURES: [(&str, &str); 5] = [
    ("orders_new_order", include_str!("oracle_workloads/new_order.sql")),
    ("orders_payment", include_str!("oracle_workloads/payment.sql")),
    ("orders_order_status", include_str!("oracle_workloads/order_status.sql")),
    ("orders_delivery", include_str!("oracle_workloads/delivery.sql")),
    ("orders_stock_level", include_str!("oracle_workloads/stock_level.sql")),
];

/// A model with the tables of users; absent if MariaDB is not installed.
fn double(release: ScriptedRelease) -> Option<OracleDouble> {
    let with = |tables: UserTables, (name, text): &(&str, &str)| tables.with_procedure(name, text);
    let user_tables = PROCEDURES.iter().fold(UserTables::start()?, with);
    let user_tables = Some(user_tables);
    let options = ModelOptions { release, user_tables, ..ModelOptions::default() };
    Some(OracleDouble::new(options))
}

fn command(double: &OracleDouble, name: &str, folder: &str, more: &[&str]) {
    let folder = format!("workload.folder={folder}");
    let output = double.run_dyno(&[&[name, "--set", &folder][..], more].concat());
    assert_eq!(output.code, 0, "{name} {folder}: {output:#?}");
}

/// Runs a workload; its invariants must hold.
fn run(double: &OracleDouble, folder: &str, more: &[&str]) -> Value {
    let set = format!("workload.folder={folder}");
    let (code, record) = double.json(&[&["run", "--set", &set][..], &FEW, more].concat());
    assert_eq!((code, &record["status"]), (0, &Value::from("valid")), "{folder}: {:#}", record["reasons"]);
    for name in ["invariants", "errors"] {
        assert_eq!(find_check(&record, name)["status"], "pass", "{folder}: {:#}", find_check(&record, name));
    }
    record
}

#[test]
fn ready_workloads_run_over_the_wire_protocol_of_oracle() {
    let Some(double) = double(ScriptedRelease::R19c) else { return };
    for name in [
        "point-select",
        "oltp-read-write",
        "tpcb",
        "key-value",
        "queue",
        "time-series",
        "json-documents",
        "insert-constant-size",
    ] {
        let folder = format!("@{name}");
        command(&double, "load", &folder, &[]);
        let record = run(&double, &folder, &[]);
        if name != "point-select" {
            let commits = find_check(&record, "commits_whole");
            assert_eq!(commits["status"], "pass", "{folder}: {commits:#}");
        }
        for class in record["classes"].items() {
            let class = class["name"].text();
            assert!(record["ops"][class]["count"].as_u64() > Some(0), "{name}: {class}: {:#}", record["ops"]);
        }
        command(&double, "drop", &folder, &["--yes"]);
    }
}

#[test]
fn bulk_load_over_the_wire_protocol_refuses_tables_without_log() {
    let Some(double) = double(ScriptedRelease::R23ai) else { return };
    command(&double, "load", "@bulkload", &["--set", "workload.scale=1"]);
    let bulk = ["run", "--set", "workload.folder=@bulkload", "--set", "run.warmup=0s"];
    let (code, record) = double.json(&[&bulk[..], &["--set", "workload.mix=plain"]].concat());
    assert_eq!((code, &record["status"]), (0, &Value::from("valid")), "{:#}", record["reasons"]);
    assert_eq!(record["whole"]["rows_inserted"], 90_000, "{:#}", record["whole"]);
    let refused = double.run_dyno(&[&bulk[..], &["--set", "workload.mix=unlogged"]].concat());
    assert!(refused.code != 0, "{refused:#?}");
    assert!(refused.err.contains("writes a log for every table"), "{refused:#?}");
}

#[test]
fn order_entry_runs_by_statements_and_procedures_over_the_wire_protocol_of_oracle() {
    let Some(double) = double(ScriptedRelease::R23ai) else { return };
    command(&double, "load", "@orders", &[]);
    // A procedure does not tell whether it changed rows. Its commits prove something only where commits without a
    // change count. Statements pass with either rule, whatever their requests.
    for (options, counts_empty, verdict) in [
        ("requests=single", false, "pass"),
        ("requests=batched", true, "pass"),
        ("drive=server,home=own", true, "pass"),
        ("drive=server,home=own", false, "skipped"),
    ] {
        double.model.set_counts_empty_commits(counts_empty);
        let options = format!("workload.options={options}");
        let record = run(&double, "@orders", &["--set", &options]);
        let count = |class: &str| record["ops"][class]["count"].count();
        assert!(count("new_order") > 30, "{:#}", record["ops"]);
        assert!(count("payment") > 30, "{:#}", record["ops"]);
        assert!(count("delivery") > 0, "{:#}", record["ops"]);
        let commits = find_check(&record, "commits_whole");
        assert_eq!(commits["status"], verdict, "{options}: {commits:#}");
        assert_eq!(record["targets"][0]["counting"]["empty_commits"], counts_empty, "{options}");
    }
    command(&double, "drop", "@orders", &["--yes"]);
}

#[test]
fn acceptance_proves_every_step_with_tables_of_users() {
    for release in ScriptedRelease::ALL {
        let Some(double) = double(release) else { return };
        let (code, page) = double.json(&["check", "--accept"]);
        for step in page["steps"].items() {
            let expected = if step["name"] == "reports" { "not_applicable" } else { "proved" };
            assert_eq!(step["verdict"], expected, "{release:?}: {step:#}");
        }
        assert_eq!(code, 0, "{page:#}");
    }
}
