//! Runs whose series is too long for a record: an overview in the record, and every interval stored
//! separately.

use crate::common::json::ExpectJson;
use crate::common::{TestEnv, assert_fits_schema, find_check};
use serde_json::Value;

/// Maximum points of a record's series in this test, instead of hours of seconds.
const POINTS_MAX: (&str, &str) = ("DYNO_SERIES_POINTS_MAX", "16");

/// The fields of the lines of one target.
fn lines_of<'c>(csv: &'c str, target: &str) -> Vec<Vec<&'c str>> {
    let lines = csv.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    lines.filter(|fields| fields[1] == target).collect()
}

fn sum(lines: &[Vec<&str>], column: usize) -> f64 {
    lines.iter().map(|fields| fields[column].parse::<f64>().unwrap()).sum()
}

#[test]
fn long_run_of_two_targets_is_stored_shown_exported_deleted() {
    let desk = TestEnv::new();
    let targets = [
        "--target",
        "sqlite:a.db",
        "--target",
        "sqlite:b.db",
        "--set",
        "data.scale=200 blocks",
        "--set",
        "run.sessions_per_schema=2",
    ];
    let load = desk.dyno(&[&["load"][..], &targets].concat());
    assert_eq!(load.code, 0, "{load:#?}");
    // The shortest run whose series is stored during the run.
    // Each interval has operations, and the processors are left to others.
    let length = ["--set", "run.time=12200ms", "--set", "run.warmup=0s", "--set", "observe.interval=100ms"];
    let rate = ["--set", "workload.rate=500/s"];
    let run = desk.dyno_with(POINTS_MAX, &[&["run"][..], &targets, &length, &rate].concat());
    assert_eq!(run.code, 0, "{run:#?}");
    assert!(!run.err.contains("warning: the full series"), "{run:#?}");

    let (code, record) = desk.json(&["show", "last"]);
    assert_eq!((code, record["status"].as_str()), (0, Some("valid")), "{}", record["reasons"]);
    assert_fits_schema(&record);
    let target_series = |at: usize| &record["targets"][at]["own"]["series"];
    // On a busy machine sessions may cross the end slightly late.
    let intervals = record["series"]["full"]["points"].count();
    assert!((122..=128).contains(&intervals), "{intervals}");
    for series in [&record["series"], target_series(0), target_series(1)] {
        let points = series["points"].items();
        assert!(points.len() <= 16, "{points:#?}");
        assert!(points[..15].iter().all(|point| point["slowest"].is_object()), "{points:#?}");
        assert_eq!(series["full"]["points"], intervals, "{}", series["full"]);
        assert!(series["full"].get("lacks").is_none(), "{}", series["full"]);
        assert_eq!(series["interval_s"].as_f64(), Some(0.8));
    }
    assert_eq!(find_check(&record, "series_sum")["status"], "pass");
    let shown = desk.dyno(&["show", "last"]);
    assert!(shown.out.contains("an overview, each point of 0.800 s"), "{}", shown.out);
    assert!(shown.out.contains(&format!("{intervals} intervals of 0.100 s were measured")), "{}", shown.out);

    let csv = desk.dyno(&["export", "last"]);
    assert_eq!(csv.code, 0, "{csv:#?}");
    let head = csv.out.lines().next().unwrap();
    assert!(head.starts_with("run,target,at_s,seconds,ops"), "{head}");
    assert!(head.contains("commits_per_s"), "{head}");
    let urls = ["sqlite:a.db sqlite:b.db", "sqlite:a.db", "sqlite:b.db"];
    for (url, series) in urls.iter().zip([&record["series"], target_series(0), target_series(1)]) {
        let lines = lines_of(&csv.out, url);
        assert_eq!(lines.len() as u64, intervals, "{url}");
        let points = series["points"].items();
        let column_sum = |name: &str| points.iter().map(|point| point[name].number()).sum::<f64>();
        assert_eq!(sum(&lines, 4), column_sum("ops"), "{url}");
        assert!((sum(&lines, 3) - column_sum("seconds")).abs() < 1e-6, "{url}");
    }
    assert_eq!(sum(&lines_of(&csv.out, urls[0]), 4), record["ops"]["all"]["count"].number());
    let overview = desk.dyno(&["export", "last", "--overview"]);
    assert_eq!(lines_of(&overview.out, urls[0]).len(), record["series"]["points"].items().len());
    let (code, lines) = desk.json(&["export", "last"]);
    assert_eq!((code, lines.as_array().map(Vec::len)), (0, Some(3 * intervals as usize)));

    // Another repository has only the record, and says so.
    let file = desk.file("record.json");
    assert_eq!(desk.dyno(&["report", "last", "-o", file.to_str().unwrap()]).code, 0);
    let other = ["--repository", "other.sqlite3"];
    assert_eq!(desk.dyno(&[&["import", "results", file.to_str().unwrap()][..], &other].concat()).code, 0);
    let refused = desk.dyno(&[&["export", "last"][..], &other].concat());
    assert!(refused.code != 0, "{refused:#?}");
    assert!(refused.err.contains("--overview"), "{refused:#?}");
    let written = desk.dyno(&[&["export", "last", "--overview", "-o", "o.csv"][..], &other].concat());
    assert_eq!(written.code, 0, "{written:#?}");
    assert_eq!(std::fs::read_to_string(desk.file("o.csv")).unwrap(), overview.out);
}

#[test]
fn short_run_records_and_exports_every_interval() {
    let desk = TestEnv::new();
    let run = desk.dyno(&[
        "run",
        "--target",
        "sqlite::memory:",
        "--set",
        "data.scale=100 blocks",
        "--set",
        "run.time=1s",
        "--set",
        "run.warmup=0s",
        "--set",
        "observe.interval=100ms",
    ]);
    assert_eq!(run.code, 0, "{run:#?}");
    let (_, record) = desk.json(&["show", "last"]);
    let points: &Vec<Value> = record["series"]["points"].items();
    assert!(record["series"].get("full").is_none());
    assert!(points.iter().all(|p| p.get("slowest").is_none()));
    let csv = desk.dyno(&["export"]);
    assert_eq!(csv.out.lines().count(), 1 + points.len(), "{}", csv.out);
    let repository = rusqlite::Connection::open(desk.file("runs.sqlite3")).unwrap();
    let left: u64 = repository.query_row("SELECT count(*) FROM chunk", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 0);
}
