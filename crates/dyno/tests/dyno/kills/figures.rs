//! Compares a run's figures with independent readings of the rows and the server before and after it.

use std::time::Duration;

use serde_json::Value;

use super::command::{ROWS, WORK_UNIT};

/// State of the database at one time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DatabaseReading {
    /// Sum of all updates that the loaded rows have had: each adds 1 to its row's version.
    pub(crate) updates: i64,
    /// Number of rows of the table.
    pub(crate) rows: i64,
    /// Counters of the server since its start.
    pub(crate) server_counts: Option<ServerCounts>,
}

/// Counters of the server: PostgreSQL's for the test's table, MariaDB's for all tables.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ServerCounts {
    pub(crate) updated: i64,
    pub(crate) inserted: i64,
    pub(crate) deleted: i64,
    pub(crate) commits: i64,
    /// Number of rows that the server counts for each inserted or deleted row.
    pub(crate) per_row: i64,
}

/// Differences between two readings, and the allowed ones.
struct Comparison {
    misses: Vec<String>,
}

impl Comparison {
    fn expect(&mut self, holds: bool, label: &str, recorded: i64, sign: &str, actual: i64) {
        if !holds {
            self.misses.push(format!("{label}: the record says {recorded}, which is not {sign} {actual}"));
        }
    }

    fn equal(&mut self, label: &str, recorded: i64, actual: i64) {
        self.expect(recorded == actual, label, recorded, "=", actual);
    }

    fn at_most(&mut self, label: &str, recorded: i64, actual: i64) {
        self.expect(recorded <= actual, label, recorded, "≤", actual);
    }
}

/// Compares all work between two readings with its records, to the row. `server` states whether the server,
/// and thus its counters, stayed up between the readings.
pub(crate) fn compare_exact(
    records: &[Value],
    from: &DatabaseReading,
    to: &DatabaseReading,
    server: bool,
) -> Vec<String> {
    let mut comparison = compare_minimum(records, from, to);
    comparison.equal("rows updated", sum(records, "/whole/rows_updated"), to.updates - from.updates);
    if to.rows != ROWS {
        comparison.misses.push(format!("{} rows were loaded, {} are there", ROWS, to.rows));
    }
    if let (Some(before), Some(after), true) = (from.server_counts, to.server_counts, server) {
        let inserted = sum(records, "/whole/rows_inserted");
        let counted = |name: &str, recorded: i64, actual: i64, comparison: &mut Comparison| {
            // Rolled back work is counted by the server but is in no row.
            if records.iter().all(has_no_errors) {
                comparison.equal(name, recorded, actual);
            } else {
                comparison.at_most(name, recorded, actual);
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
        // A run removes its inserted rows at its end, and those left by an earlier run at its start.
        let deleted = (inserted + from.rows - ROWS) * after.per_row;
        counted("rows the server deleted", deleted, after.deleted - before.deleted, &mut comparison);
        let commits = sum(records, "/whole/commits");
        comparison.at_most("commits", commits, after.commits - before.commits);
    }
    comparison.misses
}

/// Compares records with two readings that also include other work: that of a killed run.
pub(crate) fn compare_bounds(records: &[Value], from: &DatabaseReading, to: &DatabaseReading) -> Vec<String> {
    compare_minimum(records, from, to).misses
}

/// Compares the stored series of a killed run with the rows; all its operations are updates.
pub(crate) fn compare_kept_series(
    record: &Value,
    from: &DatabaseReading,
    to: &DatabaseReading,
) -> Vec<String> {
    let points = record["series"]["points"].as_array().cloned().unwrap_or_default();
    let rows = points.iter().filter_map(|point| point["ops"].as_i64()).sum::<i64>() * WORK_UNIT;
    let mut comparison = Comparison { misses: Vec::new() };
    comparison.at_most("rows of the kept series", rows, to.updates - from.updates);
    comparison.misses
}

/// Checks that the windows of all records fit into the command's duration by another clock.
pub(crate) fn check_wall_clock(records: &[Value], took: Duration) -> Option<String> {
    let seconds: f64 = records.iter().filter_map(|record| record["window"]["seconds"].as_f64()).sum();
    let (is_within, took) = (seconds <= took.as_secs_f64(), took.as_secs_f64());
    (!is_within).then(|| format!("windows of {seconds} s in a command that took {took} s"))
}

/// Acknowledged work is in the rows, and each record is consistent.
fn compare_minimum(records: &[Value], from: &DatabaseReading, to: &DatabaseReading) -> Comparison {
    let mut comparison = Comparison { misses: Vec::new() };
    let updated = records.iter().map(|record| number(record, "/window/counted/rows_updated")).sum::<i64>();
    let updated = updated.max(sum(records, "/whole/rows_updated"));
    comparison.at_most("rows updated that are in the rows", updated, to.updates - from.updates);
    records.iter().for_each(|record| check_window(record, &mut comparison));
    comparison
}

/// The window is part of the run, each update and each commit has its rows, and the rate is the count divided
/// by its time.
fn check_window(record: &Value, comparison: &mut Comparison) {
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
fn off_by_one_figure_is_detected() {
    let reading = |updates: i64, of_server: i64| DatabaseReading {
        updates,
        rows: ROWS,
        server_counts: Some(ServerCounts {
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
    let judged = |path: &str, value: i64, to: DatabaseReading| {
        let mut record = record.clone();
        *record.pointer_mut(path).unwrap() = value.into();
        compare_exact(&[record], &reading(100, 500), &to, true)
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
        ("/whole/commits", 10, DatabaseReading { rows: ROWS + 1, ..reading(140, 540) }),
    ];
    for (path, value, to) in one_off {
        assert!(!judged(path, value, to).is_empty(), "{path} = {value} with {to:?} is seen");
    }
    assert!(check_wall_clock(&[record], Duration::from_secs(2)).is_some());
}
