//! Tests loads of which the database copies the schemas, over Oracle's wire protocol. The model behind it is a
//! test double: no test here shows what an Oracle database does.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dyno_testbed::{ModelOptions, ScriptedAnswer, ScriptedCall, ScriptedValue};
use serde_json::Value;

use crate::common::json::ExpectJson;
use crate::common::{TestEnv, find_check};
use crate::oracle_double::{OracleDouble, ROWS};

/// The keys of a plan with three schemas, two of which are copies.
const COPIES: [&str; 8] = [
    "--set",
    "data.schemas=3",
    "--set",
    "data.scan_scale=100 blocks",
    "--set",
    "data.copy_schemas=true",
    "--set",
    "data.load_parallel=1",
];

/// The number of rows sent to each table, and of copies requested, by the words after `INTO`.
type InsertCounts = Arc<Mutex<BTreeMap<String, usize>>>;

fn count_insert(counts: &InsertCounts, call: ScriptedCall<'_>) {
    let start = ["INSERT INTO ", "INSERT /*+ APPEND */ INTO "]
        .into_iter()
        .find_map(|start| call.sql.strip_prefix(start));
    let name = start.and_then(|rest| rest.split(' ').next()).unwrap_or_default();
    if name.starts_with("dyno_rows_") || name.starts_with("dyno_scan_") {
        let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry(name.to_owned()).or_default() += call.executions.len();
    }
}

/// A model that counts inserts, and answers statements as `taught` says.
fn double(
    taught: impl Fn(&ScriptedCall<'_>) -> Option<ScriptedAnswer> + Send + Sync + 'static,
) -> (OracleDouble, InsertCounts) {
    let counts = InsertCounts::default();
    let counted = Arc::clone(&counts);
    let answer = move |call: ScriptedCall<'_>| {
        count_insert(&counted, call);
        taught(&call)
    };
    let options = ModelOptions { taught: Some(Box::new(answer)), ..ModelOptions::default() };
    (OracleDouble::new(options), counts)
}

/// The expected counts: rows sent to the tables of schema 1, and executions of each copy.
fn assert_counts(counts: &InsertCounts, copies: [(&str, usize); 4]) {
    let sent = [("dyno_rows_1", 200), ("dyno_scan_1", 100)];
    let expected = sent.into_iter().chain(copies).map(|(name, count)| (name.to_owned(), count)).collect();
    assert_eq!(*counts.lock().unwrap(), expected);
}

const EACH_ONCE: [(&str, usize); 4] =
    [("dyno_rows_2", 1), ("dyno_rows_3", 1), ("dyno_scan_2", 1), ("dyno_scan_3", 1)];

/// A run over all three schemas is valid, with reads of each kind and updates.
fn assert_run_valid(double: &OracleDouble) {
    let sets = ["workload.update_pct=30", "workload.scan_pct=5", "run.ops_per_session=50", "run.warmup=0s"];
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
    let (code, record) = double.json(&[&["run"], &ROWS[..], &COPIES, &sets].concat());
    assert_eq!((code, &record["status"]), (0, &Value::from("valid")), "{:#}", record["reasons"]);
    assert_eq!(find_check(&record, "commits_whole")["status"], "pass");
}

#[test]
fn copied_schemas_are_loaded_without_sending_their_rows() {
    let (double, counts) = double(|_| None);
    let (code, load) = double.json(&[&["load"], &ROWS[..], &COPIES].concat());
    assert_eq!((code, &load["rows_written"]), (0, &Value::from(900)), "{load:#}");
    let tables = load["tables"].items();
    let rows: Vec<_> =
        tables.iter().map(|table| (table["schema"].as_u64(), table["rows"].as_u64())).collect();
    let expected = [200, 100].map(|rows| [1, 2, 3].map(|schema| (Some(schema), Some(rows)))).concat();
    assert_eq!(rows, expected);
    assert!(tables.iter().all(|table| table["rows_per_block"] == 1.0), "{load:#}");
    assert_counts(&counts, EACH_ONCE);

    // A second load and a run compare a sample of each table with what the plan describes.
    let again = double.run_dyno(&[&["load"], &ROWS[..], &COPIES].concat());
    assert!(again.code == 0, "{again:#?}");
    assert!(again.err.contains("already"), "{again:#?}");
    assert_run_valid(&double);
    let sets = ["--set", "run.time=1s", "--set", "run.warmup=0s", "--set", "workload.update_pct=50"];
    let proved = double.run_dyno(&[&["prove", "updates"], &ROWS[..], &COPIES, &sets].concat());
    assert!(proved.code == 0, "{proved:#?}");
    assert!(proved.out.contains("none is lost"), "{proved:#?}");
    assert_counts(&counts, EACH_ONCE);
}

#[test]
fn copied_data_is_other_data_than_sent_data() {
    let (double, _) = double(|_| None);
    let sent = [&ROWS[..], &COPIES[..4]].concat();
    assert_eq!(double.run_dyno(&[&["load"], &sent[..]].concat()).code, 0);
    let load = double.run_dyno(&[&["load"], &ROWS[..], &COPIES].concat());
    let words = "the plan asks for 3 schemas of 200 rows and 100 scan rows in blocks of 8192 bytes, 0 % \
                 compressible, seed 42, schemas 2 and above copied from schema 1";
    assert!(load.code != 0, "{load:#?}");
    assert!(load.err.contains(words), "{load:#?}");
    let run = double.run_dyno(&[&["run"], &ROWS[..], &COPIES].concat());
    assert!(run.code == 3, "{run:#?}");
    assert!(run.err.contains("copied schemas 0 instead of 1"), "{run:#?}");
    // With one schema, the key has no effect.
    let one_schema = [&ROWS[..], &["--set", "data.copy_schemas=true"]].concat();
    let replaced = double.run_dyno(&[&["load", "--replace"], &one_schema[..]].concat());
    assert_eq!(replaced.code, 0, "{replaced:#?}");
    let same = double.run_dyno(&[&["load"], &ROWS[..]].concat());
    assert!(same.code == 0, "{same:#?}");
    assert!(same.err.contains("already"), "{same:#?}");
}

/// Whether a call is the copy of `dyno_rows_3`.
fn copies_rows_3(call: &ScriptedCall<'_>) -> bool {
    call.sql.starts_with("INSERT /*+ APPEND */ INTO dyno_rows_3 ")
}

/// Whether a call is the note of `dyno_rows_3`, which follows its copy.
fn notes_rows_3(call: &ScriptedCall<'_>) -> bool {
    let values = [ScriptedValue::Text("rows".to_owned()), ScriptedValue::Int(3)];
    call.sql.starts_with("INSERT INTO dyno_chunks")
        && call.executions.first().is_some_and(|binds| binds.starts_with(&values))
}

#[test]
fn stopped_copy_resumes_with_the_missing_tables() {
    for (is_reached, signal) in [
        (copies_rows_3 as fn(&ScriptedCall<'_>) -> bool, "KILL"),
        (notes_rows_3, "KILL"),
        (copies_rows_3, "INT"),
    ] {
        let (reached, all_reached) = channel();
        let hangs = AtomicBool::new(true);
        let (double, counts) = double(move |call| {
            if !is_reached(call) || !hangs.swap(false, Ordering::SeqCst) {
                return None;
            }
            reached.send(()).unwrap();
            Some(ScriptedAnswer::Hang)
        });
        let load = double.start(&[&["load"], &COPIES[..]].concat());
        all_reached.recv_timeout(Duration::from_secs(60)).unwrap();
        load.signal(signal);
        let stopped = load.wait();
        if signal == "INT" {
            assert!(stopped.code == 130, "{stopped:#?}");
            assert!(stopped.err.contains("load again to resume it"), "{stopped:#?}");
        }
        let sent = [("dyno_rows_1", 200), ("dyno_scan_1", 100), ("dyno_rows_2", 1), ("dyno_rows_3", 1)];
        let sent = sent.into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
        assert_eq!(*counts.lock().unwrap(), sent);
        let run = double.run_dyno(&[&["run"], &ROWS[..], &COPIES].concat());
        assert!(run.code == 3, "{run:#?}");
        assert!(run.err.contains("(500 rows exist)"), "{run:#?}");
        let again = double.run_dyno(&[&["load"], &ROWS[..], &COPIES].concat());
        assert!(again.code == 0, "{again:#?}");
        assert!(again.out.contains("1.000"), "{again:#?}");
        let mut copies = EACH_ONCE;
        copies[1].1 = 2;
        assert_counts(&counts, copies);
        assert_run_valid(&double);
    }
}

#[test]
fn copy_of_too_few_rows_fails_the_load() {
    let (double, _) = double(|call| copies_rows_3(call).then_some(ScriptedAnswer::Changed(199)));
    let load = double.run_dyno(&[&["load"], &ROWS[..], &COPIES].concat());
    let words = "table DYNO_ROWS_3 received 199 rows from DYNO_ROWS_1, expected 200";
    assert!(load.code != 0, "{load:#?}");
    assert!(load.err.contains(words), "{load:#?}");
}

#[test]
fn copy_without_space_for_its_sort_names_the_tablespace() {
    let full = "ORA-01652: unable to extend temp segment by 128 in tablespace TEMP\n";
    let (double, _) = double(move |call| copies_rows_3(call).then_some(ScriptedAnswer::Refused(1_652, full)));
    let load = double.run_dyno(&[&["load"], &ROWS[..], &COPIES].concat());
    for words in
        ["rows cannot be copied to dyno_rows_3", "tablespace TEMP", "tablespace that the message names"]
    {
        assert!(load.code != 0, "{words}: {load:#?}");
        assert!(load.err.contains(words), "{words}: {load:#?}");
    }
}

#[test]
fn copied_schemas_are_refused_before_other_engines_are_touched() {
    let desk = TestEnv::new();
    let load = desk.dyno(&[&["load", "--target", "sqlite:dyno.db"], &ROWS[..], &COPIES].concat());
    assert!(load.code == 2, "{load:#?}");
    assert!(load.err.contains("cannot copy schemas inside the database; Oracle can"), "{load:#?}");
    assert!(load.err.contains("copy_schemas = false"), "{load:#?}");
    assert!(!desk.file("dyno.db").exists());
}
