//! Sweeps over a platform whose limit the kernel sets, and their results for each point.

use std::process::Command;
use std::time::Instant;

use crate::common::Running;
use crate::common::json::ExpectJson;
use crate::common::throttle::Throttle;
use serde_json::Value;

/// Data that fits into no cache.
const DATA: [&str; 6] =
    ["--set", "data.scale=64M", "--set", "data.scan_scale=0 blocks", "--set", "data.block_size=8K"];

/// Runs over that data with rising sessions.
pub(crate) fn sweep<'a>(url: &'a str, workload: &'a str) -> Vec<&'a str> {
    let head = ["sweep", "--target", url, "--json", "--set", "sweep.sessions=1,2,4,8", "--set", workload];
    let rest = ["--set", "run.warmup=1s", "--set", "run.time=3s", "--set", "sweep.order=up"];
    [&head[..], &DATA, &rest].concat()
}

pub(crate) fn load(url: &str) -> Vec<&str> {
    [&["load", "--target", url][..], &DATA].concat()
}

/// `(sessions, measure)` of each point.
pub(crate) fn points(sweep: &Value, measure: &str) -> Vec<(f64, f64)> {
    let point = |point: &Value| {
        let value = point["measured"][measure].as_f64();
        (point["sessions"].number(), value.unwrap_or_else(|| panic!("no {measure} in {point:#}")))
    };
    sweep["points"].items().iter().map(point).collect()
}

/// Allowed difference between two measurements of one window, as a share: each reads its boundaries at its
/// own time.
const SLACK: f64 = 0.08;

/// Lookups of single rows by key.
pub(crate) const LOOKUPS: &str = "workload.lookup_pct=100";

/// A sweep's result, and the reads per second that the throttle passed in each of its windows.
pub(crate) fn run_throttled(throttle: &Throttle, command: Command) -> (Value, Vec<f64>) {
    let mut sweep = Running::spawn(command);
    let (mut began, mut passed) = (None, Vec::new());
    while let Some(line) = sweep.next_line() {
        if line == "window" {
            began = Some((Instant::now(), throttle.passed_reads()));
        } else if let Some((since, before)) = began.take_if(|_| line == "draining") {
            passed.push((throttle.passed_reads() - before) as f64 / since.elapsed().as_secs_f64());
        }
    }
    let output = sweep.wait();
    let value = serde_json::from_str(&output.out).unwrap_or_else(|error| panic!("{error}: {output:#?}"));
    (value, passed)
}

/// Asserts that the record contains the reads that the throttle passed, and that the device read no less.
/// Returns whether each point reached the limit; otherwise others used the processors, and there is neither a
/// knee nor a queue. `of_observer` are the observer's own reads/s at each point, which the record excludes
/// and the throttle includes.
pub(crate) fn assert_reads_agree(
    sweep: &Value,
    measure: &str,
    passed: &[f64],
    of_observer: &[f64],
    limit: f64,
) -> bool {
    // If others use the processors, much of the work happens while counters are read, and rates are left out.
    let busy_with_others =
        |point: &Value| point["measured"]["others_cpu_pct"].as_f64().is_some_and(|pct| pct > 25.0);
    let is_left_out = |point: &Value| point["measured"][measure].is_null() && busy_with_others(point);
    if sweep["points"].items().iter().any(is_left_out) {
        return false;
    }
    let reads = points(sweep, measure);
    assert_eq!(reads.len(), passed.len(), "each point has a window: {sweep:#}");
    for (place, ((sessions, reads), passed)) in reads.iter().zip(passed).enumerate() {
        let observer_reads = of_observer.get(place).copied().unwrap_or(0.0);
        let words = format!(
            "{sessions} sessions: {reads} reads/s and {observer_reads} of the observer, {passed} were let pass"
        );
        assert!(is_near(reads + observer_reads, *passed), "{words}");
        assert!(*passed <= limit * (1.0 + SLACK), "{passed} reads/s, the limit is {limit}");
    }
    // The device has other users as well.
    for ((sessions, reads), passed) in points(sweep, "device_reads_per_s").iter().zip(passed) {
        let words = format!("{sessions} sessions: {reads} reads/s of the device, {passed} were let pass");
        assert!(*reads >= passed * (1.0 - SLACK), "{words}");
    }
    passed.iter().all(|passed| is_near(*passed, limit))
}

/// Counts a limit that this machine was too busy to reach.
pub(crate) fn skip_unreached_limit(scenario: &str, passed: &[f64]) {
    dyno_testbed::skip_unsupported(
        scenario,
        &format!("others keep the machine too busy to reach the limit: {passed:.0?} reads/s"),
    );
}

/// Sessions at the knee by Kneedle, parsed from the sentence for users.
pub(crate) fn knee_sessions(sweep: &Value) -> f64 {
    let mut findings = sweep["findings"].items().iter().map(|finding| finding.text());
    let words = "the knee (Kneedle) lies at ";
    let knee_text = findings.find_map(|finding| Some(finding.split_once(words)?.1));
    let sentence_end = knee_text.unwrap_or_else(|| panic!("no knee in {:#}", sweep["findings"]));
    sentence_end.split_whitespace().next().unwrap().parse().unwrap()
}

fn is_near(value: f64, limit: f64) -> bool {
    (value / limit - 1.0).abs() <= SLACK
}
