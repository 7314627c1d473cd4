//! The figures of a run against what the rows and the server say, as somebody else reads them before and after.

use std::time::Duration;

use serde_json::Value;

use super::command::{ROWS, WORK_UNIT};

/// The database at one moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading {
    /// All updates that the loaded rows have ever had: each adds 1 to its row's version.
    pub(crate) updates: i64,
    /// Rows of the table.
    pub(crate) rows: i64,
    /// What the server has counted since it was started.
    pub(crate) counted: Option<Counted>,
}

/// Counters of the server's own; PostgreSQL's are of the test's table, MariaDB's of all tables.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counted {
    pub(crate) updated: i64,
    pub(crate) inserted: i64,
    pub(crate) deleted: i64,
    pub(crate) commits: i64,
    /// How many rows the server counts for each that is inserted or deleted.
    pub(crate) per_row: i64,
}

/// What two readings differ in, and how they may.
struct Comparison {
    misses: Vec<String>,
}

impl Comparison {
    fn is(&mut self, holds: bool, what: &str, recorded: i64, sign: &str, found: i64) {
        if !holds {
            self.misses.push(format!("{what}: the record says {recorded}, which is not {sign} {found}"));
        }
    }

    fn equal(&mut self, what: &str, recorded: i64, found: i64) {
        self.is(recorded == found, what, recorded, "=", found);
    }

    fn at_most(&mut self, what: &str, recorded: i64, found: i64) {
        self.is(recorded <= found, what, recorded, "≤", found);
    }
}

/// Holds all the work between two readings against the records of it: to the row. `server` is whether the server was up from one
/// reading to the other, and its counters with it.
pub(crate) fn exact(records: &[Value], from: &Reading, to: &Reading, server: bool) -> Vec<String> {
    let mut comparison = at_least(records, from, to);
    comparison.equal("rows updated", sum(records, "/whole/rows_updated"), to.updates - from.updates);
    if to.rows != ROWS {
        comparison.misses.push(format!("{} rows were loaded, {} are there", ROWS, to.rows));
    }
    if let (Some(before), Some(after), true) = (from.counted, to.counted, server) {
        let inserted = sum(records, "/whole/rows_inserted");
        let counted = |name: &str, recorded: i64, found: i64, comparison: &mut Comparison| {
            // What was rolled back is counted by the server and is in no row.
            if records.iter().all(has_no_errors) {
                comparison.equal(name, recorded, found);
            } else {
                comparison.at_most(name, recorded, found);
            }
        };
        let updated = sum(records, "/whole/rows_updated");
        counted("rows the server updated", updated, after.updated - before.updated, &mut comparison);
        counted(
            "rows the server inserted",
            inserted * after.per_row,
            after.inserted - before.inserted,
            &mut comparison,
        );
        // What the run has left is removed at its end, and what one before it has left at its begin.
        let deleted = (inserted + from.rows - ROWS) * after.per_row;
        counted("rows the server deleted", deleted, after.deleted - before.deleted, &mut comparison);
        let commits = sum(records, "/whole/commits");
        comparison.at_most("commits", commits, after.commits - before.commits);
    }
    comparison.misses
}

/// Holds records against two readings between which there was other work too: a run that was killed.
pub(crate) fn bounds(records: &[Value], from: &Reading, to: &Reading) -> Vec<String> {
    at_least(records, from, to).misses
}

/// Holds the series that a killed run has kept against the rows, all of whose operations are updates.
pub(crate) fn kept(record: &Value, from: &Reading, to: &Reading) -> Vec<String> {
    let points = record["series"]["points"].as_array().cloned().unwrap_or_default();
    let rows = points.iter().filter_map(|point| point["ops"].as_i64()).sum::<i64>() * WORK_UNIT;
    let mut comparison = Comparison { misses: Vec::new() };
    comparison.at_most("rows of the kept series", rows, to.updates - from.updates);
    comparison.misses
}

/// The windows of all records lie within the time that the command took by another clock.
pub(crate) fn by_the_clock(records: &[Value], took: Duration) -> Option<String> {
    let seconds: f64 = records.iter().filter_map(|record| record["window"]["seconds"].as_f64()).sum();
    let (is_within, took) = (seconds <= took.as_secs_f64(), took.as_secs_f64());
    (!is_within).then(|| format!("windows of {seconds} s in a command that took {took} s"))
}

/// What was acknowledged is in the rows, and each record agrees with itself.
fn at_least(records: &[Value], from: &Reading, to: &Reading) -> Comparison {
    let mut comparison = Comparison { misses: Vec::new() };
    let updated = records.iter().map(|record| number(record, "/window/counted/rows_updated")).sum::<i64>();
    let updated = updated.max(sum(records, "/whole/rows_updated"));
    comparison.at_most("rows updated that are in the rows", updated, to.updates - from.updates);
    records.iter().for_each(|record| within(record, &mut comparison));
    comparison
}

/// The window is part of the run, each update and each commit has its rows, and the rate is what was counted by its time.
fn within(record: &Value, comparison: &mut Comparison) {
    let number = |path: &str| number(record, path);
    comparison.equal(
        "rows of the window's updates",
        number("/ops/update/rows"),
        number("/ops/update/count") * WORK_UNIT,
    );
    if let Some(all) = record["whole"]["ops"].as_object() {
        let all = all.values().filter_map(Value::as_i64).sum();
        comparison.at_most("operations of the window", number("/ops/all/count"), all);
        let (updated, updates) = (number("/whole/rows_updated"), number("/whole/ops/update"));
        comparison.equal("rows of the updates", updated, updates * WORK_UNIT);
        comparison.at_most("rows updated in the window", number("/window/counted/rows_updated"), updated);
        let writes = updates + number("/whole/ops/insert") + number("/whole/ops/delete");
        comparison.equal("commits of the writes", number("/whole/commits"), writes);
    }
    let figure = |path: &str| record.pointer(path).and_then(Value::as_f64).unwrap_or(f64::NAN);
    let (rate, work_s) = (figure("/metrics/ops_per_s/value"), figure("/window/work_s"));
    let counted =
        figure("/ops/all/count") - record.pointer("/ops/all/before").and_then(Value::as_f64).unwrap_or(0.0);
    let differs = (rate * work_s / counted - 1.0).abs();
    if differs.is_nan() || differs > 1e-6 {
        comparison.misses.push(format!("{rate} operations/s in {work_s} s are not the {counted} counted"));
    }
}

fn has_no_errors(record: &Value) -> bool {
    record["errors"].as_array().is_none_or(Vec::is_empty)
}

fn sum(records: &[Value], path: &str) -> i64 {
    records.iter().map(|record| number(record, path)).sum()
}

fn number(record: &Value, path: &str) -> i64 {
    record.pointer(path).and_then(Value::as_i64).unwrap_or(0)
}

#[test]
fn a_figure_that_is_one_off_is_seen() {
    let reading = |updates: i64, of_server: i64| Reading {
        updates,
        rows: ROWS,
        counted: Some(Counted {
            updated: of_server,
            inserted: 0,
            deleted: 0,
            commits: of_server,
            per_row: 1,
        }),
    };
    let record = serde_json::json!({
        "window": { "work_s": 2.0, "seconds": 2.5, "counted": { "rows_updated": 32 } },
        "ops": { "all": { "count": 8, "before": 0.0 }, "update": { "count": 8, "rows": 32 } },
        "metrics": { "ops_per_s": { "value": 4.0 } },
        "whole": { "rows_updated": 40, "commits": 10, "ops": { "update": 10 } },
    });
    let judged = |path: &str, value: i64, to: Reading| {
        let mut record = record.clone();
        *record.pointer_mut(path).unwrap() = value.into();
        exact(&[record], &reading(100, 500), &to, true)
    };
    assert_eq!(judged("/whole/commits", 10, reading(140, 540)), Vec::<String>::new());
    let one_off = [
        ("/whole/commits", 11, reading(140, 540)),
        ("/whole/rows_updated", 41, reading(140, 540)),
        ("/window/counted/rows_updated", 41, reading(140, 540)),
        ("/ops/all/count", 9, reading(140, 540)),
        ("/ops/update/rows", 33, reading(140, 540)),
        ("/metrics/ops_per_s/value", 5, reading(140, 540)),
        ("/whole/commits", 10, reading(139, 540)),
        ("/whole/commits", 10, reading(141, 540)),
        ("/whole/commits", 10, reading(140, 541)),
        ("/whole/commits", 10, Reading { rows: ROWS + 1, ..reading(140, 540) }),
    ];
    for (path, value, to) in one_off {
        assert!(!judged(path, value, to).is_empty(), "{path} = {value} with {to:?} is seen");
    }
    assert!(by_the_clock(&[record], Duration::from_secs(2)).is_some());
}
